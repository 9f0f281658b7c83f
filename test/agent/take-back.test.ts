// B6: a rule of the session that is taken back holds no longer, also for calls of a reply that is running.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { runSlash, type Typist } from "../../src/view/slash/run.ts";
import { joined, slashWords } from "../support/slash.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { sessionRules } from "../../src/protocol/facts/session.ts";
import { bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const rule = "Bash(node -p:*)";
const grant = { behavior: "allow", rule, destination: "session" } as const;
const place = { destination: "session", by: "Lin", surface: "test" } as const;
const give = ({ host, session }: TestSage, added: Pick<Rule, "behavior"> & { rule: string }) =>
  host.send({ type: "addRule", session, ...added, ...place });
const takeBack = ({ host, session }: TestSage, gone: Partial<Pick<Rule, "behavior">> & { rule: string }) =>
  host.send({ type: "removeRule", session, ...gone, ...place });
const requested = (sage: TestSage) => sage.facts().filter(({ type }) => type === "input.requested").length;
const started = (sage: TestSage) => sage.facts().filter(({ type }) => type === "call.started").length;

test("a rule taken back while a call runs does not cover the next call of the same reply", async () => {
  using here = workspace();
  const wait = "node -p 2; until [ -e go ]; do sleep 0.05; done";
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("node -p 1")] }, { calls: [bash(wait), bash("node -p 3")] }, { text: "done" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  await sage.answer({ type: "granted", requestId: first!.id, rules: [grant] });
  await until(() => started(sage) === 2);
  await takeBack(sage, { rule });
  assert.deepEqual(sessionRules(sage.facts()), []);
  writeFileSync(here.path("go"), "");
  const [second] = await sage.open();
  assert.equal(second?.kind === "permission" && second.input["command"], "node -p 3");
  // Given once more, it holds once more: what was taken back before does not take it along.
  await sage.answer({ type: "granted", requestId: second!.id, rules: [grant] });
  assert.equal((await sage.outcome()).text, "done");
  assert.deepEqual(
    sessionRules(sage.facts()).map((one) => one.text),
    [rule],
  );
});

test("a rule taken back leaves the others that were given with it", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("node -p 1")] }, { calls: [bash("node -p 2")] }, { text: "done" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  await sage.answer({ type: "granted", requestId: first!.id, rules: [{ ...grant, rule: "Bash(node -p 1)" }, grant] });
  await until(() => sage.facts().some(({ type }) => type === "turn.ended"));
  assert.equal(requested(sage), 1);
  await takeBack(sage, { rule });
  assert.deepEqual(
    sessionRules(sage.facts()).map((one) => one.text),
    ["Bash(node -p 1)"],
  );
});

test("/permissions remove takes a rule back in the middle of a turn, and says so when there is none", async () => {
  using here = workspace();
  const wait = "node -p 2; until [ -e go ]; do sleep 0.05; done";
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("node -p 1")] }, { calls: [bash(wait)] }, { calls: [bash("node -p 3")] }, { text: "done" }],
  });
  const session = await joined(sage.host, sage.session);
  const typist: Typist<"terminal"> = {
    session,
    sender: { by: "Lin", surface: "tui" },
    offer: { place: "terminal" },
  };
  const permissions = (args: string) =>
    runSlash({ name: "permissions", args }, typist, {
      own: () => "own",
      say: (told) => told(slashWords("en")).join(),
      done: () => "done",
      back: () => "back",
      speak: () => "speak",
      go: () => "go",
    });
  await sage.say("go");
  const [first] = await sage.open();
  await sage.answer({ type: "granted", requestId: first!.id, rules: [grant] });
  await until(() => started(sage) === 2);
  assert.match(await permissions("remove Bash(make:*)"), /Bash\(make:\*\)/);
  assert.equal(await permissions(`remove ${rule}`), "done");
  assert.match(await permissions(`remove ${rule}`), /node -p/, "it is gone");
  writeFileSync(here.path("go"), "");
  const [second] = await sage.open();
  assert.equal(second?.kind === "permission" && second.input["command"], "node -p 3");
  await sage.answer({ type: "denied", requestId: second!.id });
  await sage.outcome();
  const [removed] = sage.facts().flatMap((fact) => (fact.type === "rule.removed" ? [fact.data] : []));
  assert.deepEqual([removed?.rule, removed?.surface], [rule, "tui"]);
});

test("a deny that is given while a turn runs holds from its next call on", async () => {
  using here = workspace();
  const wait = "node -p 2; until [ -e go ]; do sleep 0.05; done";
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("node -p 1")] }, { calls: [bash(wait), bash("node -p 3")] }, { text: "done" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  await sage.answer({ type: "granted", requestId: first!.id, rules: [grant] });
  await until(() => started(sage) === 2);
  await give(sage, { rule: "Bash(node -p 3)", behavior: "deny" });
  writeFileSync(here.path("go"), "");
  assert.equal((await sage.outcome()).text, "done");
  assert.deepEqual([requested(sage), started(sage)], [1, 2]);
});

test("a removal means its own place and behaviour: the same text that is denied in the session stays denied", async () => {
  using here = workspace();
  const dropRule = () => here.path("settings.json");
  const script = [{ calls: [bash("node -p 1")] }, { calls: [bash("touch x")] }, { text: "done" }];
  await using sage = await sageWith({ dir: here.dir, script, dropRule });
  const text = "Bash(touch:*)";
  const rules = () => sessionRules(sage.facts()).map((one) => `${one.behavior} ${one.text}`);
  await give(sage, { rule: text, behavior: "deny" });
  await give(sage, { rule: text, behavior: "allow" });
  await takeBack(sage, { rule: text, behavior: "allow" });
  assert.deepEqual(rules(), [`deny ${text}`]);
  await sage.say("go");
  const [first] = await sage.open();
  const removeRules = [{ rule: text, destination: "user" }] as const;
  await sage.answer({ type: "granted", requestId: first!.id, removeRules: [...removeRules] });
  assert.equal((await sage.outcome()).text, "done");
  assert.deepEqual(rules(), [`deny ${text}`]);
  assert.equal(started(sage), 1, "touch did not run");
  // Without a place and a behaviour, as it is typed and as earlier versions wrote it: whatever the session says of it.
  await takeBack(sage, { rule: text });
  assert.deepEqual(rules(), []);
});
