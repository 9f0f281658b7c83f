// Another Sage process on the same journal. argv: <journal> [looks]. Each line on stdin is [id, verb, ...arguments]; each is answered by a line with that id.
import { createInterface } from "node:readline";
import { respond } from "../../src/input/respond.ts";
import { openSession, type SessionLog } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { wordsOf } from "../support/worded.ts";

const [path = "", how = ""] = process.argv.slice(2);
const options = { looks: how === "looks" };
let store: LocalStore | undefined;
let log: SessionLog | undefined;

const verbs: Record<string, (...values: never[]) => unknown> = {
  ready: () => {},
  open: () => void (store = sqliteStore(path, options)),
  hold: (session: string) => void (log = openSession(journal(), session)),
  add: (key: string, text: string) => {
    log?.commits.add(key, "call.unknown", { reason: inWords(text) });
    log?.flush();
  },
  wait: (id: string) => log?.wait(id),
  respond: (response: Parameters<typeof respond>[1], by: string) =>
    respond(journal(), response, { by, surface: "peer" }),
  /** Many messages, each in a commit of its own, with room for others in between. */
  chatter: async (session: string, count: number) => {
    for (let n = 0; n < count; n++) {
      journal().append(session, {
        key: `said/${n}`,
        type: "user.said",
        at: n,
        data: { text: `${n}`, by: "peer", surface: "peer" },
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
};

function journal(): LocalStore {
  return (store ??= sqliteStore(path, options));
}

for await (const line of createInterface({ input: process.stdin })) {
  const [id, verb, ...values] = JSON.parse(line) as [number, string, ...never[]];
  void Promise.resolve()
    .then(() => (verbs[verb] ?? (journal()[verb as keyof LocalStore] as (...values: never[]) => unknown))(...values))
    .then(
      (value) => reply({ id, value }),
      (error: unknown) =>
        reply({ id, error: wordsOf(error), code: error instanceof SageError ? error.code : undefined }),
    );
}
store?.close();

function reply(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
