// How long a message may be, for whoever sends it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { askUser, question, sageWith, workspace } from "../support/sage.ts";

const lin = { by: "Lin", surface: "test" };
const longest = 2_000_000;

test("a message may have two million characters, and one more is refused with a way out", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Which colour?"))] }, { text: "Done." }];
  await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(here.path("journal.db")) });
  await sage.say("go");
  await sage.open();
  const said = () => sage.facts().filter(({ type }) => type === "user.said").length;

  const say = (text: string) => sage.host.send({ type: "say", session: sage.session, text, ...lin });
  const refused = await say("字".repeat(longest + 1));
  assert.deepEqual(refused, {
    ok: false,
    code: "input-invalid",
    message: `a message may have ${longest} characters, and this one has ${longest + 1}; put it into a file and name that`,
    reason: { code: "message-too-long", args: { limit: longest, length: longest + 1 } },
  });
  assert.equal(said(), 1, "nothing of it is kept");
  assert.equal((await say("字".repeat(longest))).ok, true);
  assert.equal(said(), 2);
});
