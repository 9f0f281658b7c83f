// A message that is on disk and whose turn has not begun: every way back takes it up.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionSummary } from "../../src/protocol/host/host.ts";
import { bash, Machine } from "../support/cli.ts";
import { killAtCommit } from "../support/kill.ts";

/** Killed right after `user.said` was committed: the session, the message, and no turn. */
async function killed(here: Machine, model: string): Promise<string> {
  for (let nth = 1; nth < 8; nth++) {
    const { code } = await here.sage(["-p", "do it", "--yes", "--model", model], { env: killAtCommit(nth, "after") });
    assert.equal(code, null, "it was killed");
    const listed = JSON.parse((await here.sage(["sessions", "--json"])).out) as SessionSummary[];
    const said = (await here.facts("user.said")).length;
    const begun = (await here.facts("turn.begun")).length;
    if (said > begun) return listed[0]?.id ?? "";
  }
  return assert.fail("no kill fell between the message and its turn");
}

test("killed between the message and its turn, the session is told as open, and -p goes on with it", async () => {
  using here = new Machine();
  const model = here.script({ calls: [bash("echo ran >> ran.txt")] }, { text: "all done" });
  const session = await killed(here, model);
  assert.match((await here.sage(["sessions"])).out, new RegExp(`${session}[^\n]*unfinished, not running`));
  const { code, out, err } = await here.sage(["-p", "--resume", session, "--yes", "--model", model]);
  assert.deepEqual([code, out], [0, "all done\n"], err);
});

test("and so does a terminal that comes back to it", async () => {
  using here = new Machine();
  const model = here.script({ text: "the reply that was owed" });
  const session = await killed(here, model);
  const screen = here.terminal(["--resume", session, "--model", model]);
  await screen.until("the reply that was owed");
});
