// kill -9 at every commit of a turn that another agent runs: of Sage, of the agent, of both. A sample by default; all with `npm run test:faults`.
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { stopCodex } from "../../src/guest/codex/server.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { callsOf } from "../../src/protocol/facts/message.ts";
import { stepOfKey } from "../../src/protocol/key.ts";
import { fakeClaude, guestsIn } from "../support/guests/guest-sage.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { historyIn } from "./witness.ts";
import { dice, seed, thorough } from "./rounds.ts";

const bash = (mark: string) => ({ name: "Bash", input: { command: `echo ${mark} >> witness` } });
const script = [
  { text: "Two of them.", calls: [bash("one"), bash("two")] },
  { calls: [{ name: "Task", input: { prompt: "x" }, sub: [bash("below")] }] },
  { text: "All done." },
];
const marks = ["one", "two", "below"];
/** A little more than a turn takes: how facts come together in a commit depends on the moment. */
const COMMITS = thorough ? 36 : 32;

/** `all`: of both, and the agent's conversation is lost with them. */
type Fault = { who: "sage" | "both" | "all"; at: number; side: "before" | "after" } | { who: "agent"; at: number };

const all: Fault[] = Array.from({ length: COMMITS }, (_, n) => n + 1).flatMap((at) => [
  ...(["sage", "both"] as const).flatMap((who) => (["before", "after"] as const).map((side) => ({ who, at, side }))),
  { who: "agent", at },
  { who: "all", at, side: "after" },
]);
const roll = dice(seed);
const faults = thorough
  ? all
  : (["sage", "agent", roll.pick(["both", "all"])] as const).map((who) =>
      roll.pick(all.filter((one) => one.who === who)),
    );

for (const fault of faults)
  test(
    `kill -9 of ${fault.who} at ${fault.at}${"side" in fault ? ` (${fault.side})` : ""}`,
    { timeout: 60_000 },
    async () => {
      using here = workspace();
      writeFileSync(here.path("script.json"), JSON.stringify(script));
      const env =
        fault.who === "agent" ? { FAKE_KILL: String(fault.at), LOST: "rerun" } : killAtCommit(fault.at, fault.side);
      let ended = await run(here.dir, env);
      if (fault.who === "both" || fault.who === "all") endGuests(here.dir);
      if (fault.who === "all") forget(here.dir);
      for (let lives = 0; ended.code !== 0; lives++) {
        assert.ok(lives < 3, `it comes to an end:\n${ended.err}`);
        ended = await run(here.dir, {});
      }
      assert.match(ended.out, /"status":"success"/);
      const history = historyIn(here.dir, counting);
      assert.equal(show(check(history)), "");
      const facts = history.journal.get("s") ?? [];
      const granted = facts.filter((fact) => fact.type === "input.resolved" && fact.data.outcome === "answered").length;
      assert.ok(history.events.length <= granted, "a command ran that nobody allowed");
      const ran = history.events.flatMap((event) => (event.type === "executed" ? [event.mark] : []));
      // With Sage alive the whole of it is done; an agent that Sage left alone may have refused the rest by itself.
      if (fault.who === "agent") assert.deepEqual(new Set(ran), new Set(marks));
      assert.deepEqual([history.listed, guestsIn(here.dir)], [[], []]);
    },
  );

const command = (mark: string) => `echo ${mark} >> witness`;
const others = {
  // Its app-server outlives Sage, and so do its prompts.
  codex: {
    commits: thorough ? 20 : 14,
    calls: (mark: string) => ({ id: `call_${mark}`, command: command(mark) }),
    end: (dir: string) => stopCodex(`${dir}/guests`),
  },
  acp: {
    commits: thorough ? 26 : 14,
    calls: (mark: string) => ({ id: `call_${mark}`, input: { command: command(mark) } }),
    end: async () => 0,
  },
};

for (const [name, { commits, calls, end }] of Object.entries(others)) {
  const cases = Array.from({ length: commits }, (_, n) => n + 1).flatMap((at) =>
    (["before", "after"] as const).map((side) => ({ at, side })),
  );
  for (const { at, side } of thorough ? cases : [roll.pick(cases)])
    test(`kill -9 of Sage with ${name} at ${at} (${side})`, { timeout: 60_000 }, async () => {
      using here = workspace();
      const steps = ["one", "two"].map((mark) => ({ calls: [calls(mark)] }));
      writeFileSync(here.path("script.json"), JSON.stringify([...steps, { text: "All done." }]));
      const guest = fileURLToPath(new URL(`../support/guests/fake-${name}.mjs`, import.meta.url));
      const env = { GUEST: guest, FAKE_SCRIPT: here.path("script.json"), FAKE_STATE: here.path("threads") };
      try {
        const first = await run(here.dir, { ...env, ...killAtCommit(at, side) });
        const ended = first.code === 0 ? first : await run(here.dir, env);
        assert.match(ended.out, /"status":"success"/, ended.err);
        const history = historyIn(here.dir, counting);
        assert.equal(show(check(history)), "");
        const ran = history.events.flatMap((event) => (event.type === "executed" ? [event.mark] : []));
        assert.deepEqual([ran.length, history.listed], [new Set(ran).size, []]);
      } finally {
        await end(here.dir);
      }
    });
}

function endGuests(dir: string): void {
  for (const group of guestsIn(dir))
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // it ended while we looked
    }
}

function forget(dir: string): void {
  for (const name of readdirSync(dir)) if (name.startsWith("session-")) rmSync(`${dir}/${name}`);
}

function run(dir: string, env: Record<string, string>) {
  const guest = { GUEST: fakeClaude, FAKE_DIR: dir, ANSWER: "self" };
  return startRunner([dir, "s"], { env: { ...guest, ...env }, cwd: dir }).ended;
}

/** A call that was made again under another id is the one that counts; the one before it never started. */
const counting = (all: readonly Fact[]) =>
  all.filter((fact) => fact.type !== "model.replied" || callsOf(fact.data).length === 0 || isStarted(fact, all));

function isStarted({ key }: Fact, facts: readonly Fact[]): boolean {
  const step = `${stepOfKey(key) ?? key}/`;
  return facts.some((fact) => fact.type === "call.started" && fact.key.startsWith(step));
}
