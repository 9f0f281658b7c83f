// Rules are added, taken back and replaced with an answer: through a channel's handle, and through the host.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { memoryStore, SageAgentSDK, scripted, type InputResponse } from "../../src/sdk/index.ts";
import { type RuleGrant } from "../../src/sdk/entries/requests.ts";
import { loadConfig } from "../../src/config/config.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const push = () => ({ calls: [bash("env echo push")] });
const session = (rule: string, behavior: RuleGrant["behavior"]): RuleGrant => ({
  rule,
  behavior,
  destination: "session",
});

test("an answer takes back a rule of the session: the next call is asked about again", async () => {
  using here = workspace();
  const store = memoryStore();
  const script = [push(), push(), { calls: [bash("env echo other")] }, push(), { text: "done" }];
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir, store });
  const { handle, result } = sage.executeWithChannel("go");
  const answer = async (more: Partial<InputResponse & { type: "granted" }>) => {
    const request = await handle.nextRequest();
    assert.ok(request?.kind === "permission");
    await handle.respond({ type: "granted", requestId: request.id, ...more });
    return request.input["command"];
  };
  const rule = "Bash(env echo push)";
  assert.equal(await answer({ rules: [session(rule, "allow")] }), "env echo push");
  const taken = { removeRules: [{ rule, destination: "session" as const }] };
  assert.equal(await answer(taken), "env echo other", "the second push was allowed by the rule");
  assert.equal(await answer({}), "env echo push", "and the third is asked about");
  const outcome = await result;
  assert.equal(outcome.status, "success");
  const kept = store.load(outcome.session).flatMap(({ type, data }) => (type === "rule.removed" ? [data] : []));
  assert.deepEqual(kept, [{ rule, destination: "session", by: "handle", surface: "channel", was: "allow" }]);
  await sage.close();
});

test("an answer replaces a rule, also by the same words with another meaning; one that is not there is told", async () => {
  using here = workspace();
  const script = [push(), push(), { calls: [bash("env echo other")] }, push(), { text: "done" }];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  const rule = "Bash(env echo push)";
  const respond = async (more: Partial<InputResponse & { type: "granted" }>) => {
    const [request] = await sage.open();
    await sage.answer({ type: "granted", requestId: request?.id ?? "", ...more });
  };
  await respond({ rules: [session(rule, "allow")] });
  await respond({
    removeRules: [
      { rule, destination: "session" },
      { rule: "Bash(none)", destination: "session" },
      { rule: "Bash(none)", destination: "user" },
    ],
    rules: [session(rule, "deny")],
  });
  await sage.outcome();
  assert.match(sage.result(3, 0), /Not run/);
  const problems = sage.facts().flatMap(({ type, data }) => (type === "rule.removed" ? [data.problem?.code] : []));
  assert.deepEqual(problems, [undefined, "rule-not-there", "rule-not-there"]);
});

test("a rule of a settings file is taken out of the file, and means nothing from the next call on", async () => {
  using here = workspace();
  using away = workspace();
  const home = sageHome({ SAGE_HOME: away.dir });
  const rule = "Bash(env echo push)";
  const settings = { permissions: { allow: [rule], deny: ["Bash(rm:*)"] } };
  writeFileSync(home.settings, JSON.stringify(settings));
  const { rules, saveRule, dropRule } = loadConfig(home, here.dir, {});
  const script = [push(), { calls: [bash("env echo other")] }, push(), { text: "done" }];
  await using sage = await sageWith({ dir: here.dir, script, rules, saveRule, dropRule });
  await sage.say("go");
  const [request] = await sage.open();
  assert.deepEqual(request?.kind === "permission" && request.input["command"], "env echo other");
  await sage.answer({
    type: "granted",
    requestId: request?.id ?? "",
    removeRules: [{ rule, destination: "user" }],
    rules: [{ rule: "Bash(env echo other)", behavior: "allow", destination: "user" }],
  });
  const [again] = await sage.open();
  assert.deepEqual(again?.kind === "permission" && again.input["command"], "env echo push");
  assert.deepEqual(JSON.parse(readFileSync(home.settings, "utf8")), {
    permissions: { allow: ["Bash(env echo other)"], deny: ["Bash(rm:*)"] },
  });
  await sage.answer({ type: "denied", requestId: again?.id ?? "" });
  await sage.outcome();
});

test("killed after a rule went out of its file and before that was recorded, the next process finds it gone and says no more", async () => {
  using here = workspace();
  const store = memoryStore();
  const script = [push(), { text: "done" }];
  const first = await sageWith({ dir: here.dir, script, store });
  await first.say("go");
  const [request] = await first.open();
  await first[Symbol.asyncDispose]();
  // As it left things: the answer is on disk, the rule is in no file, and nobody has written that it was taken back.
  await using sage = await sageWith({ dir: here.dir, script, store, dropRule: () => undefined });
  const removeRules = [{ rule: "Bash(env echo other)", destination: "user" as const }];
  await sage.answer({ type: "granted", requestId: request?.id ?? "", removeRules });
  assert.equal((await sage.host.run(first.session)).text, "done");
  const removed = store.load(first.session).flatMap(({ type, data }) => (type === "rule.removed" ? [data] : []));
  assert.deepEqual(removed, [{ ...removeRules[0], by: "Lin", surface: "test" }]);
});

/** Three changes, each with the rules that stand before, what the answer says, and which of the calls a, b and c are asked about. */
const changes = {
  add: { before: {}, rules: ["Bash(just b)", "allow"], asks: ["a", "c"], calls: ["a", "b", "c"] },
  remove: {
    before: { allow: ["Bash(just b)"] },
    gone: ["Bash(just b)", "allow"],
    asks: ["a", "b"],
    calls: ["b", "a", "b"],
  },
  modify: {
    before: { allow: ["Bash(just:*)"], ask: ["Bash(just:*)"] },
    gone: ["Bash(just:*)", "ask"],
    rules: ["Bash(just c)", "ask"],
    asks: ["a", "c"],
    calls: ["a", "b", "c"],
  },
} as const;

for (const destination of ["session", "local", "project", "user"] as const)
  for (const [name, change] of Object.entries(changes))
    for (const settings of ["rules", true] as const)
      test(`${name} × ${destination}, settings ${settings}: what is asked next is another`, async () => {
        using here = workspace();
        const [home, cwd] = [here.path("home"), here.path("project")];
        mkdirSync(home, { mode: 0o700 });
        mkdirSync(cwd);
        execFileSync("git", ["init", "-q", cwd]);
        const env = { SAGE_HOME: home, HOME: here.dir, PATH: process.env["PATH"] };
        const config = loadConfig(sageHome(env), cwd, env);
        const store = memoryStore();
        const model = scripted([
          { text: "first" },
          ...change.calls.map((call) => ({ calls: [bash(`just ${call}`)] })),
          { text: "done" },
        ]);
        await using sage = new SageAgentSDK({ model, store, env, settings, workingDirectory: cwd });
        const { session } = await sage.run("hello");
        for (const [behavior, rules] of Object.entries(change.before))
          for (const rule of rules) {
            const grant = { rule, behavior: behavior as RuleGrant["behavior"], destination };
            if (destination !== "session") config.saveRule(grant);
            else assert.ok((await sage.host.send({ type: "addRule", session, ...grant, by: "Lin", surface: "t" })).ok);
          }
        const { handle, result } = sage.executeWithChannel("go", { session });
        const asked: string[] = [];
        for (let first = true; ; first = false) {
          const request = await handle.nextRequest();
          if (request?.kind !== "permission") break;
          asked.push(String(request.input["command"]).slice(5));
          const given = "rules" in change && {
            rules: [{ rule: change.rules[0], behavior: change.rules[1], destination }],
          };
          const gone = "gone" in change && {
            removeRules: [{ rule: change.gone[0], behavior: change.gone[1], destination }],
          };
          await handle.respond({ type: "granted", requestId: request.id, ...(first && { ...given, ...gone }) });
        }
        assert.equal((await result).status, "success");
        assert.deepEqual(asked, change.asks);
        const problems = store
          .load(session)
          .flatMap(({ data }) => ("problem" in data && data.problem ? [data.problem] : []));
        assert.deepEqual(problems, []);
      });
