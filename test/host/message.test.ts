// How long a message may be, and what is read for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAgent } from "../../src/host/assembly/agent.ts";
import { assembleEach } from "../../src/host/assembly/assemble.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { scripted } from "../../src/models/scripted.ts";
import { askUser, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

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
    message: refused.ok ? "" : refused.message,
    reason: { code: "message-too-long", args: { limit: longest, length: longest + 1 } },
  });
  assert.equal(said(), 1, "nothing of it is kept");
  assert.equal((await say("字".repeat(longest))).ok, true);
  assert.equal(said(), 2);
});

test("settings are read once for a message and the turn that it begins, and again for the next", async () => {
  using here = workspace();
  const model = async () => scripted([{ text: "one" }, { text: "two" }]);
  const shared = { rules: [], permissionMode: "default" as const, env: {}, output: here.path("output") };
  let [reads, ended] = [0, 0];
  const runOf = () => {
    reads++;
    return { agent: createAgent({ ...shared, model }), options: {} };
  };
  const host = assembleEach(memoryStore(), runOf, { turnEnded: () => void ended++ });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  for (const times of [1, 2]) {
    await host.send({ type: "say", session: "s", text: "go", ...lin });
    await until(() => ended === times, "the turn to end");
    assert.equal(reads, times);
  }
  await host.close();
});
