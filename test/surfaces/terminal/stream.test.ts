import assert from "node:assert/strict";
import { test } from "node:test";
import { noUsage } from "../../../src/protocol/facts/message.ts";
import { attachTerminal } from "../../../src/surfaces/terminal/index.ts";
import { puppet } from "../../support/puppet.ts";
import { createScreen } from "../../support/screen.ts";

const SEEDS = 12;

for (let seed = 0; seed < SEEDS; seed++)
  test(`whatever streams ${seed % 2 ? "while the window changes" : "by"}, nothing of it is lost (seed ${seed})`, async () => {
    const { found, wanted } = await play(seed, { resized: seed % 2 === 1 });
    // A window of another size may show some of it twice; what stays the same shows everything once and in order.
    assert.deepEqual(seed % 2 === 1 ? [...new Set(found)].toSorted() : found, wanted);
  });

/** Turns of random Markdown and calls on a window of random size; every line has a number to be found by. */
async function play(seed: number, { resized }: { resized: boolean }): Promise<{ found: string[]; wanted: string[] }> {
  const random = numbers(seed);
  const upTo = (most: number) => Math.floor(random() * most);
  const wanted: string[] = [];
  const next = () => {
    const number = `n${String(wanted.length).padStart(4, "0")}n`;
    wanted.push(number);
    return number;
  };
  const many = (most: number, line: () => string) => Array.from({ length: 1 + upTo(most) }, line);
  const blocks: (() => string)[] = [
    () => `Paragraph ${next()} ${"word 中文 ".repeat(upTo(30))}\n\n`,
    () => `- ${next()}\n- ${next()} ${"long ".repeat(upTo(30))}\n  - ${next()}\n\n`,
    () => `\`\`\`ts\n${many(40, () => `const ${next()} = 1; // 注释`).join("\n")}\n\`\`\`\n\n`,
    () => `| a | b |\n|---|---|\n${many(5, () => `| ${next()} | x |`).join("\n")}\n\n`,
    () => `> quote ${next()}\n\n`,
    () => `### ${next()}\n`,
    () => `1. ${next()}\n2. ${next()}\n\n`,
    () => `line ${next()}\n`,
  ];
  const screen = createScreen({ cols: 40 + upTo(80), rows: 8 + upTo(40), scrollback: 20_000 });
  const { host, fact, delta } = puppet();
  const leaving = new AbortController();
  const env = { TERM: "xterm", COLORFGBG: "15;0" };
  const given = {
    session: "s",
    lang: "en",
    by: "you",
    header: "Sage",
    model: "x",
    env,
    logDirectory: "/nowhere",
  } as const;
  const { done } = attachTerminal(host, { ...given, device: screen.terminal, signal: leaving.signal });
  const moment = async () => {
    await new Promise((resolve) => setTimeout(resolve, random() < 0.3 ? 45 : 1));
    if (!resized || random() > 0.08) return;
    await screen.rows(); // what is on its way arrives first
    screen.resize(30 + upTo(90), 8 + upTo(40));
  };
  for (let turn = 0; turn < 2; turn++) {
    const step = `t${turn}/0`;
    fact(`said/${turn}`, "user.said", { text: `go ${next()}`, by: "you", surface: "tui" });
    fact(`t${turn}`, "turn.begun", { loop: 1, maxSteps: 1, sawUpTo: 1_000 }); // it has read the message
    const text = many(7, () => blocks[upTo(blocks.length)]?.() ?? "").join("");
    for (const piece of text.match(/[^]{1,60}/gu) ?? []) {
      delta(`${step}/model`, "text", piece);
      await moment();
    }
    const call = { type: "call" as const, id: "1", tool: "Bash", input: { command: `make ${next()}` } };
    const parts = [{ type: "text" as const, text }, call];
    fact(`${step}/model`, "model.replied", { parts, usage: noUsage, finish: "calls", model: "m", sawUpTo: 1 });
    fact(`${step}/0/run0.started`, "call.started", { tool: "Bash", effect: "writes", digest: "" });
    await moment();
    delta(`${step}/0/run0`, "output", "a\nb\nc\n".repeat(5));
    await moment();
    fact(`${step}/0/run0.finished`, "call.finished", { ok: random() < 0.7, text: "x\n".repeat(upTo(10)) });
    const stats = { steps: 1, toolCalls: 1, modelCalls: 1, durationMs: 1 };
    fact(`t${turn}/end`, "turn.ended", { status: "success", text: "", usage: noUsage, stats });
    await moment();
  }
  leaving.abort();
  await done;
  const found = [...(await screen.all()).matchAll(/n\d{4}n/g)].map(([number]) => number);
  screen[Symbol.dispose]();
  return { found, wanted };
}

/** The same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
