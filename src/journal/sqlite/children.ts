import type { Fact } from "../../protocol/facts/fact.ts";
import { requestId, withoutEnd } from "../../protocol/key.ts";
import type { Database } from "../database/database.ts";
import { groupLives, spawnerOf, startOf } from "../process.ts";

type Children = {
  note(session: string, key: string, pid: number): void;
  /** Process groups noted under a key that still live. */
  living(session: string, key: string): number[];
  /** The call whose process group still lives and is led by one of these. */
  callOf(processes: readonly number[]): { session: string; key: string } | undefined;
  /** In the transaction of a fact: a call that finished has no children to look for, unless its command runs on in the background. */
  index(fact: Fact): void;
};

/** Process groups of running commands. Should this process be killed, recovery looks for them here. */
export function createChildren({
  prepared,
  all,
  writeUnsynced,
}: Pick<Database, "prepared" | "all" | "writeUnsynced">): Children {
  /** Calls whose children this process has noted: most calls have none, and cost no statement. */
  const noted = new Set<string>();
  return {
    note(session, key, pid) {
      writeUnsynced(() => prepared("INSERT INTO child VALUES(?,?,?,?)").run(session, key, pid, startOf(pid)));
      noted.add(requestId(session, key));
    },
    living: (session, key) =>
      all<{ pid: number; started: string }>("SELECT pid, started FROM child WHERE session=? AND key=?", session, key)
        .filter(({ pid, started }) => groupLives(pid, started))
        .map(({ pid }) => pid),
    callOf(processes) {
      const rows = all<{ session: string; key: string; pid: number; started: string }>("SELECT * FROM child");
      const isIn = (pid: number) => processes.includes(pid) || processes.includes(spawnerOf(pid) ?? 0);
      const found = rows.find(({ pid, started }) => isIn(pid) && groupLives(pid, started));
      return found && { session: found.session, key: found.key };
    },
    index(fact) {
      if (fact.type !== "call.finished") return;
      const key = withoutEnd(fact.key);
      if (!noted.delete(requestId(fact.session, key))) return;
      if (fact.data.background) forgetDead();
      else prepared("DELETE FROM child WHERE session=? AND key=?").run(fact.session, key);
    },
  };

  /** Commands in the background end without a fact of their own. */
  function forgetDead(): void {
    for (const { pid, started } of all<{ pid: number; started: string }>("SELECT pid, started FROM child"))
      if (!groupLives(pid, started)) prepared("DELETE FROM child WHERE pid=? AND started=?").run(pid, started);
  }
}
