// How long a message may be, for whoever sends it.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connectHost } from "../../src/host/socket/remote.ts";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { askUser, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const longest = 2_000_000;

test("a message may have two million characters, and one more is refused with a way out, here and over the socket", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Which colour?"))] }, { text: "Done." }];
  await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(here.path("journal.db")) });
  await sage.say("go");
  await sage.open();
  const run = here.path("journal.db-run");
  await until(() => existsSync(run) && readdirSync(run).length === 1);
  const remote = await connectHost(join(run, readdirSync(run)[0] ?? ""), AbortSignal.timeout(20_000));
  const said = () => sage.facts().filter(({ type }) => type === "user.said").length;

  for (const host of [sage.host, remote]) {
    const before = said();
    const say = (text: string) => host.send({ type: "say", session: sage.session, text, ...lin });
    const refused = await say("字".repeat(longest + 1));
    assert.deepEqual(refused, {
      ok: false,
      code: "input-invalid",
      message: `a message may have ${longest} characters, and this one has ${longest + 1}; put it into a file and name that`,
    });
    assert.equal(said(), before, "nothing of it is kept");
    assert.equal((await say("字".repeat(longest))).ok, true);
    assert.equal(said(), before + 1);
  }
  remote.close();
});
