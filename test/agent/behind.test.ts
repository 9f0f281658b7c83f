// A4: a call that stands behind one that waits for a person has waited for that person too.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { ruleRemovedKey } from "../../src/protocol/key.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";

const write = (path: string) => ({ tool: "Write", input: { file_path: path, content: "new\n" } });
const lin = { by: "Lin", surface: "test" };

test("a write behind a refused call does not go through a link that was swapped in meanwhile", async () => {
  using here = workspace();
  using elsewhere = workspace();
  mkdirSync(here.path("lib"));
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Edit(./lib/**)")],
    script: [{ calls: [bash("touch ok"), write("lib/b.txt")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  renameSync(here.path("lib"), here.path("lib.was"));
  symlinkSync(elsewhere.dir, here.path("lib"));
  await sage.answer({ type: "denied", requestId: first?.id ?? "" });
  const [second] = await sage.open();
  assert.equal(second?.kind === "permission" && second.tool, "Write");
  assert.equal(existsSync(elsewhere.path("b.txt")), false);
  await sage.answer({ type: "denied", requestId: second?.id ?? "" });
  await sage.outcome();
});

test("a read-only command behind a refused call does not read where a link leads now", async () => {
  using here = workspace();
  using elsewhere = workspace();
  writeFileSync(elsewhere.path("b.txt"), "secret\n");
  mkdirSync(here.path("lib"));
  writeFileSync(here.path("lib/b.txt"), "mine\n");
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("touch ok"), bash("cat lib/b.txt")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  renameSync(here.path("lib"), here.path("lib.was"));
  symlinkSync(elsewhere.dir, here.path("lib"));
  await sage.answer({ type: "denied", requestId: first?.id ?? "" });
  const [second] = await sage.open();
  await sage.answer({ type: "denied", requestId: second?.id ?? "" });
  await sage.outcome();
  assert.doesNotMatch(sage.result(0, 1), /secret/);
});

test("a mode that was left, and a rule that was taken back, while the call before it waited, allow nothing", async () => {
  for (const how of ["mode", "rule"] as const) {
    using here = workspace();
    await using sage = await sageWith({
      dir: here.dir,
      script: [
        { calls: [bash("touch ok"), write("b.txt")] },
        { calls: [bash("touch more"), write("c.txt")] },
        { text: "ok" },
      ],
    });
    const { session } = sage;
    if (how === "mode") await sage.host.send({ type: "chooseMode", session, mode: "acceptEdits", ...lin });
    await sage.say("go");
    if (how === "rule") {
      const [, asked] = await sage.open(2);
      const rules = [{ rule: "Edit(./**)", behavior: "allow", destination: "session" }] as const;
      await sage.answer({ type: "granted", requestId: asked?.id ?? "", rules: [...rules] });
    }
    const [first] = await sage.open();
    await sage.answer({ type: "denied", requestId: first?.id ?? "" });
    const [again] = await sage.open();
    assert.equal(again?.kind === "permission" && again.tool, "Bash");
    if (how === "mode") await sage.host.send({ type: "chooseMode", session, mode: "ask", ...lin });
    else
      await sage.store.append(session, {
        ...{ key: ruleRemovedKey("x"), type: "rule.removed", at: Date.now() },
        data: { rule: "Edit(./**)", ...lin },
      });
    await sage.answer({ type: "denied", requestId: again?.id ?? "" });
    const [last] = await sage.open();
    assert.equal(last?.kind === "permission" && last.tool, "Write", how);
    assert.equal(existsSync(here.path("c.txt")), false, how);
    await sage.answer({ type: "denied", requestId: last?.id ?? "" });
    await sage.outcome();
  }
});
