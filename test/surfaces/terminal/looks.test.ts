// Colours on light and dark terminals, and the line at the foot of the screen.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTheme, learnBackground, themeFor, type Theme } from "../../../src/surfaces/terminal/draw/theme.ts";
import { visibleWidth } from "../../../src/surfaces/terminal/draw/tui.ts";
import { footRow } from "../../../src/surfaces/terminal/status.ts";
import { terminalTexts } from "../../../src/texts/surfaces/terminal.ts";
import { texts } from "../../../src/texts/shared/texts.ts";
import { sageOnScreen } from "../../support/terminal.ts";

/** Backgrounds that terminals come with. */
const backgrounds = { dark: [0x000000, 0x1e1e1e, 0x282c34], light: [0xffffff, 0xf6f8fa, 0xfdf6e3] };
const words = ["accent", "good", "warn", "danger", "added", "removed", "code", "heading", "link", "quote"] as const;

suite("colours", () => {
  for (const background of ["dark", "light"] as const)
    for (const color of ["256", "true"] as const)
      test(`${color} on ${background}: text has a contrast of 4.5 at least, lines of 3`, () => {
        const theme = createTheme({ color, background });
        const ratios = (name: (typeof words)[number] | "border") =>
          backgrounds[background].map((behind) => contrast(colourIn(theme[name]("x")), behind));
        const weak = words.flatMap((name) =>
          ratios(name).flatMap((ratio) => (ratio < 4.5 ? [`${name} ${ratio}`] : [])),
        );
        assert.deepEqual(weak, []);
        assert.ok(Math.min(...ratios("border")) >= 3, ratios("border").join(" "));
      });

  test("the person's choice stands; else the terminal's answer, then the environment", async () => {
    const asks: string[] = [];
    const learn = async (theme: Theme, wanted: "auto" | "light" | "dark" | undefined, level?: number) => {
      const colour = level === undefined ? undefined : { r: level, g: level, b: level };
      await learnBackground(theme, wanted, async () => (asks.push("asked"), colour));
      return theme.background;
    };
    const term = { TERM: "xterm-256color" };
    assert.equal(await learn(themeFor(term, "light"), "light", 0), "light");
    assert.equal(await learn(themeFor({ ...term, NO_COLOR: "1" }), "auto", 255), "dark");
    assert.deepEqual(asks, []);
    assert.equal(await learn(themeFor(term), undefined, 250), "light");
    assert.equal(await learn(themeFor({ ...term, COLORFGBG: "0;15" }), "auto", 20), "dark");
    assert.equal(await learn(themeFor({ ...term, COLORFGBG: "0;15" }), "auto"), "light");
  });

  test("keys typed while the terminal has not answered are not lost", async () => {
    await using at = await sageOnScreen([{ text: "Heard." }], {});
    at.type("hel");
    at.press("\x1b]11;rgb:ffff/ffff/ffff\x07");
    at.enter("lo");
    await at.until("Heard.");
    const said = at.sage.facts().find(({ type }) => type === "user.said");
    assert.equal(said?.type === "user.said" && said.data.text, "hello");
  });
});

suite("the foot", () => {
  const look = (width: number, lang: "en" | "zh" = "en") => ({
    ...{ theme: createTheme({ color: "none", background: "dark" }), t: texts(lang), tt: terminalTexts(lang) },
    ...{ width, now: 0 },
  });
  const info = {
    ...({ session: "abc", model: "anthropic/claude-sonnet-5-5", mode: "plan", title: "" } as const),
    ...{ contextTokens: 50_000, contextWindow: 200_000, usd: 0.25, unpriced: false },
    ...{ folder: "~/code/project", branch: "main" },
  };
  const shown = (width: number, more = {}) => footRow({ ...info, ...more }, look(width)).replace(/\x1b\[\d+m/g, "");

  test("tells mode, context, cost, folder, branch and model, and less where it is narrow", () => {
    assert.match(
      shown(120),
      /^⏸ plan mode \(Shift-Tab\) · 25% of context · \$0\.2500 +~\/code\/project \(main\) · anthropic\/claude-sonnet-5-5 · abc$/,
    );
    assert.match(
      shown(80, { mode: "ask" }),
      /^25% of context · \$0\.2500 +~\/code\/project \(main\) · anthropic\/claude-sonnet-5-5$/,
    );
    assert.match(shown(66, { mode: "ask" }), / project · anthropic\/claude-sonnet-5-5$/);
    for (let width = 20; width < 140; width++)
      assert.ok(visibleWidth(shown(width, { mode: "ask" })) <= Math.max(width, 38), `${width}`);
    assert.match(shown(120, { contextWindow: undefined }), /50,000 tokens/);
    assert.match(footRow(info, look(120, "zh")), /上下文 25%/);
  });

  test("is the person's own where they have one, and steers nothing", async () => {
    let given: unknown;
    await using at = await sageOnScreen([{ text: "Done.", usage: { inputTokens: 900, outputTokens: 100 } }], {
      window: () => 10_000,
      place: () => ({ folder: "~/p", branch: "fix\x1b[2J" }),
      statusLine: (one) => {
        given = one;
        return `mine: ${one.contextTokens} \x1b[2Jx`;
      },
    });
    await at.until("What would you like to do?");
    at.enter("go");
    await at.until("mine: 1000 ‹U+001B›[2Jx");
    assert.deepEqual(given, {
      ...{ session: at.sage.session, model: "scripted", mode: "ask", title: "", contextTokens: 1_000, usd: 0 },
      ...{ unpriced: true, contextWindow: 10_000, folder: "~/p", branch: "fix‹U+001B›[2J" },
    });
  });
});

test("a mode other than ask stands before the person's own foot, even an empty one", async () => {
  let own = "mine";
  await using at = await sageOnScreen([], { statusLine: () => own });
  await at.until("mine");
  assert.doesNotMatch(await at.screen.text(), /Shift-Tab/);
  at.press("\x1b[Z");
  await at.until(/accept edits.* · mine/);
  own = "";
  at.press("\x1b[Z");
  await at.until("plan mode (Shift-Tab)");
});

/** The colour that a painted text sets. */
function colourIn(painted: string): number {
  const exact = /\[38;2;(\d+);(\d+);(\d+)m/.exec(painted)?.slice(1).map(Number);
  if (exact) return ((exact[0] ?? 0) << 16) | ((exact[1] ?? 0) << 8) | (exact[2] ?? 0);
  const number = Number(/\[38;5;(\d+)m/.exec(painted)?.[1]);
  if (number >= 232) return (8 + (number - 232) * 10) * 0x010101;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = number - 16;
  return (level(Math.floor(cube / 36)) << 16) | (level(Math.floor(cube / 6) % 6) << 8) | level(cube % 6);
}

/** As WCAG 2 defines it. */
function contrast(one: number, other: number): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: number): number {
  const linear = (byte: number) => {
    const part = byte / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(colour >> 16) + 0.7152 * linear((colour >> 8) & 255) + 0.0722 * linear(colour & 255);
}
