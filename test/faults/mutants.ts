// Sage with one mistake in it. The text of a source file is changed while it is loaded, in a copy that only the mutant sees.
import { registerHooks } from "node:module";
import type { Scene } from "./scenes.ts";

export type Mutant = {
  name: string;
  /** Each must be there, once. */
  changes: { file: string; from: string; to: string }[];
  /** The scene that catches it. */
  scene: Scene;
  /** It is caught by waiting in vain, which need not take long. */
  hangs?: true;
};

const facts = "src/journal/sqlite/facts.ts";
const sqlite = "src/journal/sqlite/sqlite.ts";
const line = "src/journal/session/line.ts";
const entries = "src/tools/process/runner-entries.ts";

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
    scene: "calm",
  },
  {
    name: "writes call.started after the effect has begun",
    changes: [
      {
        file: line,
        from: "const written = log.flush(); // on disk before the effect\n",
        to: "const written = undefined;\n",
      },
    ],
    scene: "calm",
  },
  {
    name: "runs an interrupted call again by itself",
    changes: [
      { file: line, from: 'again = found === "again";', to: "again = true;" },
      { file: line, from: "if (found === undefined) {", to: "if (found === null) {" },
      { file: line, from: 'if (found !== "again") return', to: 'if (found !== "again" && found) return' },
    ],
    scene: "afterEffect",
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
    scene: "race",
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
    scene: "signatures",
  },
  {
    name: "lets whoever asked approve",
    changes: [
      { file: "src/input/approve.ts", from: "personName(one) === by))", to: 'personName(one) === ""))' },
      { file: "src/protocol/facts/consent.ts", from: "!except.has(one)", to: 'one !== ""' },
    ],
    scene: "signatures",
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
    scene: "ruleMeanwhile",
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
    scene: "clock",
  },
  {
    name: "takes whoever lived before the wall clock was set for dead",
    changes: [
      {
        file: "src/journal/process.ts",
        from: "return Number(process.hrtime.bigint() / 1_000_000n);",
        to: "return Date.now();",
      },
    ],
    scene: "clock",
  },
  {
    name: "lets a process write that has lost the session",
    changes: [{ file: facts, from: "if (owner.epoch !== epoch)", to: "if (owner.epoch < epoch)" }],
    scene: "fence",
  },
  {
    name: "says recorded without recording",
    changes: [
      {
        file: "src/host/commands/requests/request.ts",
        from: "store.appendAll(batch);",
        to: "batch.map(({ session, fact }) => ({ won: true, fact: { session, seq: 0, ...fact } }) as unknown as Appended);",
      },
    ],
    scene: "calm",
    hangs: true,
  },
  {
    name: "does not extend the hash chain with an answer",
    changes: [
      { file: facts, from: "advance(session, fact.at, next);", to: "advance(session, fact.at, next && head);" },
    ],
    scene: "calm",
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
    scene: "calm",
  },
  {
    name: "lists the newest request first",
    changes: [{ file: facts, from: "LIMIT ?) ORDER BY seq`", to: "LIMIT ?) ORDER BY seq DESC`" }],
    scene: "ruleMeanwhile",
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
        from: 'if (resolution.outcome === "cancelled") durable.stop',
        to: 'if (resolution.by === "") durable.stop',
      },
    ],
    scene: "cancel",
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
    scene: "calm",
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
    scene: "recovering",
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
    scene: "elsewhere",
    hangs: true,
  },
  {
    name: "runs what the person edited away",
    changes: [{ file: "src/agent/call/judge/request.ts", from: "verdict.input ?? call.input", to: "call.input" }],
    scene: "edited",
  },
  {
    name: "lets an owner who was replaced begin a command",
    changes: [
      { file: entries, from: "|| Number(now) > epoch) return", to: ") return" },
      { file: entries, from: "const folder = join(home, String(epoch));", to: "const folder = join(home, now);" },
      { file: entries, from: "if (Number(now) < epoch && ", to: "if (false && " },
      {
        file: entries,
        from: "join(homeOf(session), String(epoch), nameOf(key))",
        to: 'join(homeOf(session), "0", nameOf(key))',
      },
    ],
    scene: "commands",
  },
  {
    name: "begins a command again that was entered before",
    changes: [
      { file: entries, from: 'code === "EEXIST") return "there";', to: 'code === "EEXIST") return { folder };' },
      { file: "src/tools/process/keeper.ts", from: "&& set -C && : >begun && set +C &&", to: "&& : >begun &&" },
    ],
    scene: "commands",
  },
];

const root = new URL("../../", import.meta.url).href;

/** Loads the scenes with this mutant under them. */
export async function loadMutant(mutant: Mutant): Promise<typeof import("./scenes.ts")> {
  const id = String(mutants.indexOf(mutant));
  const missing = new Set(mutant.changes);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const ofMutant = context.parentURL !== undefined && new URL(context.parentURL).searchParams.get("mutant") === id;
      const ours = found.url.startsWith(root) && !found.url.includes("/node_modules/");
      return ofMutant && ours && !found.url.includes("?") ? { ...found, url: `${found.url}?mutant=${id}` } : found;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`?mutant=${id}`)) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array).toString();
      for (const change of mutant.changes) {
        if (url !== `${root}${change.file}?mutant=${id}`) continue;
        const parts = source.split(change.from);
        if (parts.length !== 2)
          throw new Error(`${mutant.name}: ${change.file} should have ${JSON.stringify(change.from)} once`);
        source = parts.join(change.to);
        missing.delete(change);
      }
      return { ...loaded, source };
    },
  });
  try {
    const loaded = (await import(`./scenes.ts?mutant=${id}`)) as typeof import("./scenes.ts");
    for (const { file } of missing) throw new Error(`${mutant.name}: ${file} was not loaded`);
    return loaded;
  } finally {
    hooks.deregister();
  }
}
