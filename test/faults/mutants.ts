// Sage with one mistake in it, and the test that finds it out. `npm run test:mutants` plays them all: the text of a source file is
// changed while it is loaded, by a process that runs the test and nothing else.
import { guardMutants } from "./guards.ts";
import type { Scene } from "./scenes.ts";

/** `from` must be in the file, once. */
export type Change = { file: string; from: string; to: string };
/** A test file, and enough of the name of the test. */
export type KilledBy = { file: string; test: string };

export type Mutant = {
  name: string;
  changes: Change[];
  killedBy: KilledBy;
  /** It is caught by waiting in vain, which need not take long. */
  hangs?: true;
};

const facts = "src/journal/sqlite/facts.ts";
const sqlite = "src/journal/sqlite/sqlite.ts";
const line = "src/journal/session/line.ts";
const entries = "src/tools/process/runner-entries.ts";

const inScene = (scene: Scene): KilledBy => ({ file: "test/faults/scenes.test.ts", test: `scene ${scene}:` });

export const mutants: Mutant[] = [
  {
    name: "wakes before the commit",
    changes: [
      {
        file: sqlite,
        from: "mend: indexes.mend, hub });",
        to: "mend: indexes.mend, hub, write: (fn) => database.write(() => { const done = fn(); if (Array.isArray(done)) hub.tell(done as Fact[]); return done; }) });",
      },
    ],
    killedBy: inScene("calm"),
  },
  {
    name: "writes call.started after the effect has begun",
    changes: [
      {
        file: line,
        from: "const written = log.commits.flush(); // on disk before the effect\n",
        to: "const written = undefined;\n",
      },
    ],
    killedBy: inScene("calm"),
  },
  {
    name: "runs an interrupted call again by itself",
    changes: [
      { file: line, from: 'again = found === "again";', to: "again = true;" },
      { file: line, from: "if (found === undefined) {", to: "if (found === null) {" },
      { file: line, from: 'if (found !== "again") return', to: 'if (found !== "again" && found) return' },
    ],
    killedBy: inScene("afterEffect"),
  },
  {
    name: "takes a second answer",
    changes: [
      {
        file: "src/input/respond.ts",
        from: "if (found.resolution) return",
        to: "if (found.resolution?.by === '') return",
      },
      {
        file: facts,
        from: "if (had) return { won: false, fact: had };",
        to: "if (had) return { won: true, fact: { ...had, data: inbound.data } as Fact };",
      },
    ],
    killedBy: inScene("race"),
  },
  {
    name: "grants with half of two people",
    changes: [
      {
        file: "src/protocol/facts/consent.ts",
        from: ".length >= consent.approvals;",
        to: ".length >= consent.approvals - 1;",
      },
    ],
    killedBy: inScene("signatures"),
  },
  {
    name: "lets whoever asked approve",
    changes: [
      { file: "src/input/approve.ts", from: "personName(person) === by))", to: 'personName(person) === ""))' },
      { file: "src/protocol/facts/consent.ts", from: "!except.has(person)", to: 'person !== ""' },
    ],
    killedBy: inScene("signatures"),
  },
  {
    name: "judges again on replay",
    changes: [
      {
        file: line,
        from: "    if (earlier) return earlier.data;\n    if (this.stopped) throw this.stopped;",
        to: '    if (earlier && type === "calls.judged") return work(new Scope(this.#log, key));\n    if (earlier) return earlier.data;\n    if (this.stopped) throw this.stopped;',
      },
    ],
    killedBy: inScene("ruleMeanwhile"),
  },
  {
    name: "measures deadlines on the wall clock while it lives",
    changes: [
      { file: "src/input/deadlines.ts", from: "?? bootNow() + remaining", to: "?? Date.now() + remaining" },
      {
        file: "src/input/deadlines.ts",
        from: "Math.max(0, due - bootNow())",
        to: "Math.min(1_000, Math.max(0, due - Date.now()))",
      },
      { file: "src/input/deadlines.ts", from: "const now = bootNow();", to: "const now = Date.now();" },
    ],
    killedBy: inScene("clock"),
  },
  {
    name: "takes whoever lived before the wall clock was set for dead",
    changes: [
      {
        file: "src/processes/identity.ts",
        from: "return Number(process.hrtime.bigint() / 1_000_000n);",
        to: "return Date.now();",
      },
    ],
    killedBy: inScene("clock"),
  },
  {
    name: "lets a process write that has lost the session",
    changes: [{ file: facts, from: "if (owner.epoch !== epoch)", to: "if (owner.epoch < epoch)" }],
    killedBy: inScene("fence"),
  },
  {
    name: "says recorded without recording",
    changes: [
      {
        file: "src/host/commands.ts",
        from: "store.appendAll(batch);",
        to: "batch.map(({ session, fact }) => ({ won: true, fact: { session, seq: 0, ...fact } }) as unknown as Appended);",
      },
    ],
    killedBy: inScene("calm"),
    hangs: true,
  },
  {
    name: "does not extend the hash chain with an answer",
    changes: [
      { file: facts, from: "advance(session, fact.at, next);", to: "advance(session, fact.at, next && head);" },
    ],
    killedBy: inScene("calm"),
  },
  {
    name: "leaves an answered request in the list",
    changes: [
      {
        file: "src/journal/database/indexes.ts",
        from: "DELETE FROM ask WHERE session=? AND key=?",
        to: "DELETE FROM ask WHERE session=? AND key=? AND 0",
      },
    ],
    killedBy: inScene("calm"),
  },
  {
    name: "lists the newest request first",
    changes: [{ file: facts, from: "LIMIT ?) ORDER BY seq`", to: "LIMIT ?) ORDER BY seq DESC`" }],
    killedBy: inScene("ruleMeanwhile"),
  },
  {
    name: "runs a call whose request was cancelled",
    changes: [
      {
        file: "src/agent/call/judge/call-state.ts",
        from: 'if (!grant) return { at: "over"',
        to: 'if (!grant && resolution.outcome === "cancelled")\n    return { at: "allowed", number, verdict, approval: { by: "person" }, waited: false, run: 0 };\n  if (!grant) return { at: "over"',
      },
      {
        file: "src/agent/call/judge/request.ts",
        from: 'if (resolution.outcome === "cancelled" && resolution.reason.code !== "read-now")\n    durable.stop',
        to: 'if (resolution.by === "") durable.stop',
      },
    ],
    killedBy: inScene("cancel"),
  },
  {
    name: "forgets a result when a turn is folded",
    changes: [
      {
        file: "src/agent/turn/projection.ts",
        from: "results[place.call] = fact.data;",
        to: 'results[place.call] = { ...fact.data, text: "" };',
      },
    ],
    killedBy: inScene("calm"),
  },
  {
    name: "writes something anew at each recovery",
    changes: [
      {
        file: "src/agent/turn/turn.ts",
        from: '  lifecycle.transition({ state: "executing", phase: "preparingContext" });\n',
        to: '  lifecycle.transition({ state: "executing", phase: "preparingContext" });\n  log.add(`again/${log.epoch}`, "call.unknown", { reason: "" });\n',
      },
    ],
    killedBy: inScene("recovering"),
    hangs: true,
  },
  {
    name: "does not hear what other processes write",
    changes: [
      {
        file: "src/journal/sqlite/lease.ts",
        from: "      news = readUpTo(newestSeq(all));\n",
        to: "      news = [];\n      last = newestSeq(all);\n",
      },
    ],
    killedBy: inScene("elsewhere"),
    hangs: true,
  },
  {
    name: "runs what the person edited away",
    changes: [
      { file: "src/agent/call/judge/decision-input.ts", from: "verdict.input ?? call.input", to: "call.input" },
    ],
    killedBy: inScene("edited"),
  },
  {
    name: "lets an owner who was replaced begin a command",
    changes: [
      { file: entries, from: "|| Number(now) > epoch) return", to: ") return" },
      { file: entries, from: "const folder = join(home, String(epoch));", to: "const folder = join(home, now);" },
      { file: entries, from: "if (Number(now) < epoch && ", to: "if (false && " },
      {
        file: entries,
        from: "join(homeOf(session), String(epoch), entryName(key))",
        to: 'join(homeOf(session), "0", entryName(key))',
      },
    ],
    killedBy: inScene("commands"),
  },
  {
    name: "begins a command again that was entered before",
    changes: [
      { file: entries, from: 'code === "EEXIST") return "there";', to: 'code === "EEXIST") return { folder };' },
      { file: "src/tools/process/keeper.ts", from: "&& set -C && : >begun && set +C &&", to: "&& : >begun &&" },
    ],
    killedBy: inScene("commands"),
  },
  ...guardMutants,
];
