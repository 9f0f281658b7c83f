import { existsSync } from "node:fs";
import { sageHome } from "../config/home.ts";
import { ancestry } from "../journal/process.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import { reason } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

/**
 * An agent's commands must not approve, speak, trust or change rules in the person's name, however they were started. A variable says so
 * to those who mean well; a command that clears it is still a child of a call that the journal knows.
 */
export function forPeopleOnly(env: NodeJS.ProcessEnv): void {
  if (env["SAGE_INSIDE"] === undefined && !isInsideCall(env)) return;
  throw errorBecause("usage", reason("for-people-only", {}));
}

function isInsideCall(env: NodeJS.ProcessEnv): boolean {
  const { journal } = sageHome(env);
  if (!existsSync(journal)) return false;
  const store = sqliteStore(journal);
  try {
    return store.callOf(ancestry()) !== undefined;
  } finally {
    store.close();
  }
}
