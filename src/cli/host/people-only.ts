import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";
import { sageHome } from "../../config/home/home.ts";
import { ancestry } from "../../processes/identity.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { workerFile } from "./join-engine.ts";

/**
 * An agent's commands must not approve, speak, trust or change rules in the person's name, however they were started. A variable says so
 * to those who mean well; a command that clears it is still a child of a call that the journal knows.
 */
export function requirePerson(env: NodeJS.ProcessEnv): void {
  if (env["SAGE_INSIDE"] === undefined && !isBelowGuest(env) && !isInsideCall(env)) return;
  throw new SageError("usage", reason("for-people-only", {}));
}

/**
 * Was one of the processes above this one started as a guest of this home? A guest may have a server of its own that stands under no
 * session. Elsewhere than on Linux a process does not tell.
 */
function isBelowGuest(env: NodeJS.ProcessEnv): boolean {
  if (process.platform !== "linux") return false;
  const mark = `SAGE_INSIDE=${sageHome(env).dir}`;
  return ancestry().some((pid) => {
    // It has gone, or is somebody else's.
    return attempt(() => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark)) ?? false;
  });
}

/** A worker notes what it runs in a file of its own: the journal is elsewhere. */
function isInsideCall(env: NodeJS.ProcessEnv): boolean {
  const home = sageHome(env);
  return [home.journal, workerFile(home)].some((file) => {
    if (!existsSync(file)) return false;
    const store = sqliteStore(file);
    try {
      return store.callOf(ancestry()) !== undefined;
    } finally {
      store.close();
    }
  });
}
