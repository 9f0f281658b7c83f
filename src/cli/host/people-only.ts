import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";
import { sageHome } from "../../config/home/home.ts";
import { ancestry } from "../../processes/identity.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { workerFile } from "./join-engine.ts";

/** No command of an agent acts in the person's name. A variable tells; where it was cleared, the journal knows the parent process. */
export function requirePerson(env: NodeJS.ProcessEnv): void {
  if (env["SAGE_INSIDE"] === undefined && !isBelowGuest(env) && !isInsideCall(env)) return;
  throw new SageError("usage", reason("for-people-only", {}));
}

/** A guest may run a server that belongs to no session. Only Linux shows the environment of the processes above this one. */
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
