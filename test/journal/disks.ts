import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { fact, folder, opened } from "./journals.ts";
import { wordsOf } from "../support/worded.ts";

export const unknown = (key: string, why = "") => fact(key, "call.unknown", { reason: inWords(why) });
export const blue: InputResponse = {
  type: "answers",
  requestId: "s/t0/0/0/ask0",
  answers: { "Which colour?": { selected: ["Blue"] } },
};

export type Here = ReturnType<typeof folder> & {
  readonly store: LocalStore;
  readonly journal: string;
  raw(sql: string): unknown[];
  /** Something happens to the files while nobody has them open. */
  meanwhile<T>(act: () => T): T;
};

/** A journal on disk with one session. */
export function disk(here = folder()): Here {
  const journal = here.path("journal.db");
  let store = sqliteStore(journal);
  store.create("s", opened);
  return {
    ...here,
    journal,
    get store() {
      return store;
    },
    raw(sql) {
      const db = new DatabaseSync(journal, { timeout: 2_000 });
      try {
        return db.prepare(sql).all();
      } finally {
        db.close();
      }
    },
    meanwhile(act) {
      store.close();
      const value = act();
      store = sqliteStore(journal);
      return value;
    },
    [Symbol.dispose]() {
      store.close();
      here[Symbol.dispose]();
    },
  };
}

export function problem(fn: () => unknown): { code: string; message: string } {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof SageError, `a SageError was expected, and ${String(error)} came`);
    return { code: error.code, message: wordsOf(error) };
  }
  return assert.fail("nothing was refused");
}

export function disposable(store: LocalStore): LocalStore & Disposable {
  return { ...store, [Symbol.dispose]: () => store.close() };
}
