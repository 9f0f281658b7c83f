import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Awaitable, LocalStore, Store } from "../../src/journal/store/store.ts";
import { createDatabase, hasPostgres, openReplica } from "../support/postgres.ts";
import type { Fact, FactData, FactType } from "../../src/protocol/facts/fact.ts";
import type { InputRequest, Question, Resolution } from "../../src/protocol/facts/request.ts";
import { requestId } from "../../src/protocol/key.ts";
import { said as inWords, messageOf } from "../../src/protocol/reasons/reason.ts";

export type Journal = Disposable & {
  readonly store: LocalStore;
  /** Sees only what is durable: a second connection where there is one. */
  readonly other: LocalStore;
  /** As after the process has ended and another one has begun. */
  restart(): LocalStore;
};

/** A folder that is gone when the test is. */
export function folder(): { dir: string; path(name: string): string } & Disposable {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-journal-")));
  return {
    dir,
    path: (name) => join(dir, name),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The same on a store that may lie elsewhere. */
export type Engine = AsyncDisposable & {
  readonly store: Store;
  /** Sees only what is durable; `settled` is awaited before it is looked at. */
  readonly other: Store;
  claim(session: string): Awaitable<number>;
  settled(): Promise<void>;
  restart(): Awaitable<Store>;
};

export const engines: { name: string; local: boolean; open(): Awaitable<Engine> }[] = [
  { name: "memory", local: true, open: () => asEngine(inMemory()) },
  { name: "sqlite", local: true, open: () => asEngine(onDisk()) },
  ...(hasPostgres ? [{ name: "postgres", local: false, open: onPostgres }] : []),
];

function asEngine(journal: Journal): Engine {
  return {
    get store() {
      return journal.store;
    },
    get other() {
      return journal.other;
    },
    claim: (session) => journal.store.claim(session),
    settled: async () => {},
    restart: () => journal.restart(),
    [Symbol.asyncDispose]: async () => journal[Symbol.dispose](),
  };
}

async function onPostgres(): Promise<Engine> {
  const database = await createDatabase();
  let here = await openReplica(database.url, "here");
  const there = await openReplica(database.url, "there");
  await here.replica.store.create("s", opened);
  await here.replica.look("s");
  await there.replica.look("s");
  return {
    get store() {
      return here.replica.store;
    },
    other: there.replica.store,
    async claim(session) {
      await here.replica.take(session);
      return here.replica.store.claim(session);
    },
    settled: () => there.replica.caughtUp(),
    async restart() {
      await here.close();
      here = await openReplica(database.url, "again");
      await here.replica.look("s");
      return here.replica.store;
    },
    async [Symbol.asyncDispose]() {
      await here.close();
      await there.close();
      await database.drop();
    },
  };
}

export const journals: { name: string; open(): Journal }[] = [
  { name: "memory", open: inMemory },
  { name: "sqlite", open: onDisk },
];

function inMemory(): Journal {
  const store = memoryStore();
  store.create("s", opened);
  return { store, other: store, restart: () => store, [Symbol.dispose]: () => {} };
}

function onDisk(): Journal {
  const here = folder();
  const path = here.path("journal.db");
  let store = sqliteStore(path);
  let other: LocalStore | undefined;
  store.create("s", opened);
  return {
    get store() {
      return store;
    },
    get other() {
      return (other ??= sqliteStore(path));
    },
    restart() {
      store.close();
      return (store = sqliteStore(path));
    },
    [Symbol.dispose]() {
      other?.close();
      store.close();
      here[Symbol.dispose]();
    },
  };
}

export const opened: FactData["session.opened"] = { cwd: "/w", version: "test" };

export function fact<T extends FactType>(key: string, type: T, data: FactData[T], session = "s"): Fact {
  return { session, seq: 0, key, type, at: 1_000, data } as Fact;
}

export const said = (key: string, text: string) =>
  ({ key, type: "user.said", at: 2_000, data: { text, by: "Lin", surface: "test" } }) as const;

export const question = (text: string, labels = ["Red", "Blue"], multiSelect = false): Question => ({
  question: text,
  header: "Choice",
  options: labels.map((label) => ({ label, description: `take ${label}` })),
  multiSelect,
});

export function asked(key: string, session = "s", questions: Question[] = [question("Which colour?")]): Fact {
  return fact(key, "input.requested", requestFor(key, session, questions), session);
}

export function requestFor(
  key: string,
  session = "s",
  questions: Question[] = [question("Which colour?")],
): InputRequest & { kind: "question" } {
  const frame = {
    id: requestId(session, key),
    session,
    at: 1_000,
    source: "tool",
    agent: [],
    why: inWords(""),
    digest: "",
  } as const;
  return { ...frame, kind: "question", questions };
}

export function answer(id: string, label = "Red", by = "Lin"): Resolution {
  const answers = { "Which colour?": { selected: [label] } };
  return {
    requestId: id,
    by,
    surface: "test",
    at: 3_000,
    outcome: "answered",
    response: { type: "answers", requestId: id, answers },
  };
}

export function resolved(key: string, resolution: Resolution) {
  return { key: `${key}.resolved`, type: "input.resolved", at: resolution.at, data: resolution } as const;
}

/** A fact that was read back may parse itself late; compared is what it says. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export const keys = (facts: readonly Fact[]): string[] => facts.map(({ key }) => key);

/** State of a promise by now: its value, its error's message, or "waits". */
export async function state(promise: Promise<unknown>): Promise<unknown> {
  const turn = () => new Promise<"waits">((resolve) => setImmediate(resolve, "waits"));
  await turn();
  return Promise.race([promise.catch((error: unknown) => `refused: ${messageOf(error)}`), turn()]);
}
