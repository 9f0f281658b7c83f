import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { openLines } from "../../src/cli/open/print/request-lines.ts";
import { page } from "../../src/cli/record/page/page.ts";
import { receiptLines } from "../../src/cli/answer/receipt-lines.ts";
import { createRefusals } from "../../src/cli/open/print/refusals.ts";
import type { CallEnd, ToolInput } from "../../src/protocol/facts/call.ts";
import type { Fact, FactData } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Verdict } from "../../src/protocol/facts/permission.ts";
import type { PermissionRequest, Resolution } from "../../src/protocol/facts/request.ts";
import {
  callKey,
  doneKey,
  finishedKey,
  requestId,
  resolvedKey,
  saidKey,
  startedKey,
  turnEndedKey,
  turnKey,
} from "../../src/protocol/key.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { finishedCard } from "../../src/surfaces/feishu/cards/progress.ts";
import { speechesFrom } from "../../src/surfaces/feishu/cards/speech.ts";
import { createView as createChat } from "../../src/surfaces/feishu/session/view.ts";
import { createView as createLines } from "../../src/surfaces/plain/view.ts";
import { createTheme } from "../../src/surfaces/terminal/draw/theme.ts";
import { createScroll } from "../../src/surfaces/terminal/screen/scroll.ts";
import { rowsOf } from "../../src/surfaces/terminal/view.ts";
import { cliTexts } from "../../src/texts/commands/cli.ts";
import type { Lang } from "../../src/texts/language.ts";
import { terminalTexts } from "../../src/texts/surfaces/terminal.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { whyTexts } from "../../src/texts/commands/why.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { folded } from "../support/fold.ts";
import { createSession } from "../../src/view/session.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";

/**
 * Facts of one call, drawn by every surface. Each must use the same word for how the call stands, show the input that ran,
 * and say who changed it. A surface that folds facts by itself, or keeps a word of its own, fails here.
 */
const session = "s1";
const call = callKey(`${turnKey(0)}/0`, 0);
const permit = `${call}/permit0`;
const run = `${call}/run0`;
const SENT = "make sent";
const RAN = "make ran";

type Scene = {
  name: string;
  facts: Fact[];
  end: CallEnd;
  /** The name that stands beside "Input changed". */
  changedBy?: "Ada" | "hook";
};

const verdict = (behavior: Verdict["behavior"], more: Partial<Verdict> = {}): Verdict => ({
  ...{ behavior, reason: said(""), effect: "writes", digest: "d" },
  ...more,
});
const request = (input: ToolInput): PermissionRequest => ({
  ...{ kind: "permission", id: requestId(session, permit), session, at: 4, source: "approval", agent: [] },
  ...{ why: said(""), digest: "d", tool: "Bash", input, suggestions: [], hard: false },
});
const frame = { requestId: requestId(session, permit), by: "Ada", surface: "tui", at: 5 };
const granted = (input?: ToolInput): Resolution => ({
  ...{ ...frame, outcome: "answered" },
  response: { type: "granted", requestId: frame.requestId, ...(input && { input }) },
});
const denied: Resolution = {
  ...{ ...frame, outcome: "answered" },
  response: { type: "denied", requestId: frame.requestId, reason: "use the other one" },
};

/** A whole turn around what happened to its one call. */
function turn(...happened: [type: keyof FactData, key: string, data: unknown][]): Fact[] {
  const reply = {
    ...{ parts: [{ type: "call", id: "c0", tool: "Bash", input: { command: SENT } }], usage: noUsage },
    ...{ finish: "tool-calls", model: "m", sawUpTo: 2 },
  };
  const stats = { steps: 1, toolCalls: 1, durationMs: 1, retries: 0 };
  const all: [string, string, unknown][] = [
    ["session.opened", "session", { cwd: "/work", version: "0" }],
    ["user.said", saidKey("m1"), { text: "go", by: "Ada", surface: "tui" }],
    ["turn.begun", turnKey(0), { loop: 1, maxSteps: 9, sawUpTo: 2 }],
    ["model.replied", `${turnKey(0)}/0/model`, reply],
    ...happened,
    ["turn.ended", turnEndedKey(turnKey(0)), { status: "success", text: "", usage: noUsage, stats }],
  ];
  return all.map(([type, key, data], n) => ({ session, seq: n + 1, key, type, at: n + 1, data }) as Fact);
}

const judged = (one: Verdict): [keyof FactData, string, unknown] => [
  "calls.judged",
  `${turnKey(0)}/0/judged`,
  { verdicts: [one] },
];
const asked = (end: Resolution, input: ToolInput = { command: SENT }): [keyof FactData, string, unknown][] => [
  ["input.requested", permit, request(input)],
  ["input.resolved", resolvedKey(permit), end],
];
const started: [keyof FactData, string, unknown] = [
  "call.started",
  startedKey(run),
  { tool: "Bash", effect: "writes", digest: "d" },
];
const ended = (end: CallEnd, more: object = {}): [keyof FactData, string, unknown] => {
  const ran = end === "done" || end === "failed" || end === "stopped";
  return ["call.finished", ran ? finishedKey(run) : doneKey(call), { ok: end === "done", text: "…", end, ...more }];
};
const edit = { command: RAN };
const hooked = verdict("allow", { input: edit });

const scenes: Scene[] = [
  { name: "done", end: "done", facts: turn(judged(verdict("allow")), started, ended("done")) },
  { name: "failed", end: "failed", facts: turn(judged(verdict("allow")), started, ended("failed")) },
  { name: "stopped", end: "stopped", facts: turn(judged(verdict("allow")), started, ended("stopped")) },
  {
    name: "a process died while it ran",
    end: "unknown",
    facts: turn(
      judged(verdict("allow")),
      started,
      ["call.unknown", `${call}/lost`, { reason: said("…") }],
      ended("unknown"),
    ),
  },
  {
    name: "denied by a rule",
    end: "refused-by-rule",
    facts: turn(judged(verdict("deny", { rule: "Bash(make *)", source: "user" })), ended("refused-by-rule")),
  },
  {
    name: "refused by a person with a remark",
    end: "refused-by-person",
    facts: turn(judged(verdict("ask")), ...asked(denied), ended("refused-by-person")),
  },
  { name: "not run in a fork", end: "not-run", facts: turn(judged(verdict("allow")), ended("not-run")) },
  {
    name: "edited by a person, then done",
    end: "done",
    changedBy: "Ada",
    facts: turn(judged(verdict("ask")), ...asked(granted(edit)), started, ended("done")),
  },
  {
    name: "edited by a person, then denied by a rule",
    end: "refused-by-rule",
    changedBy: "Ada",
    facts: turn(
      judged(verdict("ask")),
      ...asked(granted(edit)),
      ["calls.judged", `${call}/judged1`, { verdicts: [verdict("deny", { rule: "Bash(make ran)", source: "user" })] }],
      ended("refused-by-rule"),
    ),
  },
  {
    name: "edited by a hook, then failed",
    end: "failed",
    changedBy: "hook",
    facts: turn(judged(hooked), started, ended("failed")),
  },
  {
    name: "edited by a hook, then refused by a person",
    end: "refused-by-person",
    changedBy: "hook",
    facts: turn(judged({ ...hooked, behavior: "ask" }), ...asked(denied, edit), ended("refused-by-person")),
  },
];

type Surface = {
  name: string;
  draw(facts: readonly Fact[], lang: Lang): string;
  /** It speaks of calls with these ends alone. */
  only?: readonly CallEnd[];
};

const styleIn = (lang: Lang) => ({ t: texts(lang), paint: createPaint(false), width: 200 });

const surfaces: Surface[] = [
  {
    name: "terminal",
    draw(facts, lang) {
      const t = texts(lang);
      const scroll = createScroll({ t });
      facts.forEach(folded(scroll.show).fact);
      const theme = createTheme({ color: "none", background: "dark" });
      const look = { theme, t, tt: terminalTexts(lang), me: { by: "Bo", surface: "tui" }, width: 200, now: 100 };
      const entries = [...scroll.take(), ...scroll.live()];
      return entries.flatMap((entry) => rowsOf(entry, { ...look, unfolded: false, loaded() {} })).join("\n");
    },
  },
  {
    name: "lines",
    draw(facts, lang) {
      const view = createLines(styleIn(lang), { by: "Bo", surface: "plain" });
      const pieces = facts.flatMap(folded(view.draw).fact);
      const text = pieces.flatMap((piece) => ("stream" in piece ? [piece.stream] : piece.lines)).join("\n");
      return text.slice(text.lastIndexOf("●")); // a line that was printed stays: a changed call is printed again
    },
  },
  {
    name: "-p",
    only: ["refused-by-rule", "refused-by-person", "not-run"],
    draw(facts, lang) {
      const lines: string[] = [];
      facts.forEach(folded(createRefusals((line) => lines.push(line), cliTexts(lang), texts(lang))).fact);
      return lines.join("\n");
    },
  },
  {
    name: "Feishu card",
    draw(facts, lang) {
      const [speech] = speechesFrom(lang);
      const session = createSession("s", { changed: (change) => view.changed(change), keep: "turn" });
      const view = createChat(session, () => speech.words);
      for (const fact of facts) session.hear({ type: "fact", fact });
      const finish = () => ({ title: "", template: "grey" as const, notes: [] });
      return JSON.stringify(finishedCard(view.progress(), { in: finish }, [speech]).card);
    },
  },
  {
    name: "HTML export",
    draw(facts, lang) {
      const html = page({ title: "", session, cwd: "/work", facts, version: "0", removed: 0, lang });
      return html.slice(html.indexOf("<main>"), html.indexOf("</main>")).replaceAll(/<[^>]*>/g, " ");
    },
  },
  {
    name: "why",
    draw: (facts, lang) =>
      receiptsOf(facts, () => "settings.json")
        .flatMap((one) => receiptLines(one, { style: styleIn(lang), w: whyTexts(lang), whole: true }))
        .join("\n"),
  },
];

const ends: readonly CallEnd[] = ["failed", "stopped", "unknown", "refused-by-rule", "refused-by-person", "not-run"];

suite("one story", () => {
  for (const scene of scenes)
    for (const { name, draw, only } of surfaces)
      for (const lang of ["en", "zh"] as const) {
        const says = only === undefined || only.includes(scene.end);
        test(`${scene.name}: ${name}, ${lang}`, () => {
          const t = texts(lang);
          const drawn = draw(scene.facts, lang);
          if (!says) return assert.equal(drawn, "");
          const found = ends.filter((end) => drawn.includes(t.standing[end]));
          assert.deepEqual(found, scene.end === "done" ? [] : [scene.end], drawn);
          const ran = scene.changedBy === undefined ? SENT : RAN;
          assert.ok(drawn.includes(ran), drawn);
          assert.equal(drawn.includes(SENT), scene.changedBy === undefined, drawn);
          const marked = { hook: t.inputChanged(t.byHook), Ada: "Ada" };
          if (scene.changedBy) assert.ok(drawn.includes(marked[scene.changedBy]), drawn);
          const mark = t.inputChanged("|").split("|")[0] ?? "";
          assert.equal(drawn.includes(mark), scene.changedBy !== undefined, drawn);
        });
      }

  test("the scenes are what they say they are", () => {
    for (const { name, facts, end } of scenes) {
      const item = transcriptOf(facts).find((one) => one.type === "call");
      assert.equal(item?.type === "call" && item.standing, end, name);
    }
  });

  test("a call that waits is asked with the input that would run, in the inbox as elsewhere", () => {
    const facts = turn(judged({ ...hooked, behavior: "ask" }), ["input.requested", permit, request(edit)]).slice(0, -1);
    const inbox = openLines(request(edit), styleIn("en"), { lang: "en" }).join("\n");
    // Lines print the call before anybody is asked, and then the request itself, as the inbox does.
    const others = surfaces.filter(({ name, only }) => name !== "lines" && !only);
    for (const drawn of [inbox, ...others.map(({ draw }) => draw(facts, "en"))]) {
      assert.ok(drawn.includes(RAN), drawn);
      assert.ok(!drawn.includes(SENT), drawn);
    }
  });
});
