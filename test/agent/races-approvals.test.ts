// Approvals, hooks and rules while what they were about changes.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { loadConfig } from "../../src/config/config.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { projectTrust, trust } from "../../src/config/trust/trust.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { hostOn } from "./hosts.ts";
import { worded, wordsOf } from "../support/worded.ts";

test("what a hook asked about is not answered by an unrelated 'always'", async () => {
  using here = workspace();
  const hooks = {
    beforeCall: [
      {
        matcher: "*",
        timeoutMs: 5_000,
        command: `grep -q pushed && printf '{"decision":"ask","reason":"look twice"}' || true`,
      },
    ],
  };
  await using sage = await sageWith({
    dir: here.dir,
    hooks,
    rules: [allow("Bash(touch pushed)"), allow("Edit(./pushed)")],
    script: [{ calls: [bash("env echo hi"), bash("touch pushed")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first, second] = await sage.open(2);
  await sage.answer({
    type: "granted",
    requestId: first?.id ?? "",
    rules: [{ rule: "Bash(env echo hi)", behavior: "allow", destination: "session" }],
  });
  await until(() => sage.result(0, 0) !== "");
  assert.deepEqual(
    sage.store.pending().map(({ id }) => id),
    [second?.id],
  );
  await sage.answer({ type: "denied", requestId: second?.id ?? "" });
  await sage.outcome();
  assert.equal(existsSync(here.path("pushed")), false);
});

test("a permission hook judges what would run, and an allow does not outlive a later edit", async () => {
  using here = workspace();
  const say = (answer: object, when: string) => ({
    matcher: "*",
    timeoutMs: 5_000,
    command: `grep -q '${when}' && printf '%s' '${JSON.stringify(answer)}' || true`,
  });
  const edit = say({ input: { command: "touch evil" } }, '"command":"ls"');
  const hooks = {
    beforeCall: [say({ decision: "allow" }, '"command":"ls"'), edit],
    permissionRequest: [say({ decision: "allow" }, '"command":"ls"')],
  };
  await using sage = await sageWith({ dir: here.dir, hooks, script: [{ calls: [bash("ls")] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  assert.equal(request?.kind === "permission" && request.input["command"], "touch evil");
  await sage.answer({ type: "denied", requestId: request?.id ?? "" });
  await sage.outcome();
  assert.equal(existsSync(here.path("evil")), false);
});

test("saving a rule does not trust what came into the project's settings meanwhile", () => {
  using here = workspace();
  const home = sageHome({ SAGE_HOME: here.path("home") });
  const project = here.path("project");
  mkdirSync(join(project, ".sage"), { recursive: true });
  const file = join(project, ".sage/settings.json");
  writeFileSync(file, '{"permissions":{"allow":["Bash(ls)"]}}');
  trust(home.trust, projectTrust(home.trust, project));
  const { saveRule } = loadConfig(home, project, {});
  saveRule({ rule: "Bash(npm test)", behavior: "allow", destination: "local" });
  assert.equal(projectTrust(home.trust, project).state, "trusted");
  writeFileSync(file, '{"permissions":{"allow":["Bash"]},"hooks":{"sessionStart":[{"command":"evil"}]}}');
  assert.throws(
    () => saveRule({ rule: "Bash(make)", behavior: "allow", destination: "local" }),
    worded(/changed since/),
  );
  assert.equal(projectTrust(home.trust, project).state, "changed");
});

test("a turn whose tool is gone waits for it instead of being destroyed", async () => {
  using here = workspace();
  const deploy: Tool = {
    name: "Deploy",
    description: "Deploys.",
    inputSchema: z.object({}),
    effect: "writes",
    execute: async () => ({ ok: true, text: "deployed" }),
  };
  const script = [{ calls: [{ tool: "Deploy", input: {} }] }, { text: "ok" }];
  const journal = here.path("journal.db");
  let session: string;
  {
    await using sage = await sageWith({
      dir: here.dir,
      script,
      tools: [deploy],
      store: sqliteStore(journal),
      options: { mode: { type: "batch" } },
    });
    await sage.say("go");
    await sage.outcome();
    session = sage.session;
    await sage.answer({ type: "granted", requestId: `${session}/t0/0/0/permit0` });
  }
  const without = hostOn(sqliteStore(journal), here.dir, script);
  const paused = await without.run(session);
  assert.match(paused.status === "paused" ? sentence(paused.reason, "en") : paused.status, /needs the tool Deploy/);
  await without.close();
  const withIt = hostOn(sqliteStore(journal), here.dir, script, { tools: [deploy] });
  assert.equal((await withIt.run(session)).status, "success");
  await withIt.close();
});

test("A5: an approval for one file is not used for another", async () => {
  using here = workspace();
  for (const name of ["a.txt", "c.txt"]) writeFileSync(here.path(name), "one\n");
  symlinkSync(here.path("a.txt"), here.path("link"));
  const read = (name: string) => ({ tool: "Read", input: { file_path: here.path(name) } });
  const edit = { tool: "Edit", input: { file_path: here.path("link"), old_string: "one", new_string: "two" } };
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [read("a.txt"), read("c.txt")] }, { calls: [edit] }, { text: "ok" }],
  });
  await sage.say("go");
  const [request] = await sage.open();
  unlinkSync(here.path("link"));
  symlinkSync(here.path("c.txt"), here.path("link"));
  await sage.answer({ type: "granted", requestId: request?.id ?? "" });
  const [again] = await sage.open();
  assert.match(
    sentence(again?.why ?? "", "en"),
    /changed since it was judged: \S+link pointed to \S+a\.txt and now points to \S+c\.txt/,
  );
  await sage.answer({ type: "denied", requestId: again?.id ?? "" });
  await sage.outcome();
  assert.equal(readFileSync(here.path("c.txt"), "utf8"), "one\n");
});

test("an edit that does not fit its tool is refused while the request is open", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("env echo x")] }, { text: "ok" }] });
  await sage.say("go");
  const requestId = (await sage.open())[0]?.id ?? "";
  const reply = await sage.answer({ type: "granted", requestId, input: { comand: "ls" } });
  assert.match(reply.ok ? "" : wordsOf(reply), /the input of Bash is invalid/);
  assert.equal(sage.store.pending().length, 1);
  await sage.answer({ type: "granted", requestId });
  await sage.outcome();
});

test("a hook that leaves something running behind does not hold the turn", async () => {
  using here = workspace();
  const hooks = {
    beforeCall: [{ matcher: "*", timeoutMs: 4_000, command: `(sleep 30 &) ; printf '{"decision":"allow"}'` }],
  };
  await using sage = await sageWith({
    dir: here.dir,
    hooks,
    script: [{ calls: [bash("env echo x")] }, { text: "ok" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
});
