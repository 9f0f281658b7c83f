import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { AutoResponse, ExecutionMode } from "../../src/protocol/host/options.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { allow, askUser, bash, question, sageWith, workspace } from "../support/sage.ts";

const nonInteractive = (autoResponse: AutoResponse): ExecutionMode => ({ type: "nonInteractive", autoResponse });
const modes: [string, ExecutionMode, { permission: RegExp; hard: RegExp; question: RegExp }][] = [
  [
    "default",
    nonInteractive("default"),
    { permission: /nobody can be asked/, hard: /nobody can be asked/, question: /not answered/i },
  ],
  [
    "alwaysAllow",
    nonInteractive("alwaysAllow"),
    { permission: /^ran/, hard: /only a person may allow/, question: /not answered/i },
  ],
  [
    "alwaysDeny",
    nonInteractive("alwaysDeny"),
    { permission: /denies every/, hard: /denies every/, question: /declin/i },
  ],
  [
    "custom",
    nonInteractive((request) =>
      request.kind === "permission"
        ? { type: "granted", requestId: request.id }
        : { type: "answers", requestId: request.id, answers: { "Sure?": { selected: ["Blue"] } } },
    ),
    { permission: /^ran/, hard: /^ran/, question: /Blue/ },
  ],
  [
    "custom that throws",
    nonInteractive(() => assert.fail("broken")),
    { permission: /Not run/, hard: /Not run/, question: /not answered/i },
  ],
];

test("deny rules hold and bypass mode neither answers questions nor passes deny and ask rules", async () => {
  using here = workspace();
  const rules = [
    { behavior: "deny", text: "Bash(curl:*)", source: "user" },
    { behavior: "ask", text: "Bash(git push:*)", source: "user" },
  ] as const;
  const script = [
    { calls: [bash("curl x"), bash("git push"), bash("env echo free"), askUser(question("Sure?"))] },
    { text: "ok" },
  ];
  await using sage = await sageWith({ dir: here.dir, script, rules: [...rules], permissionMode: "bypass" });
  await sage.say("go");
  const open = await sage.open(2);
  assert.deepEqual(
    open.map(({ kind }) => kind),
    ["permission", "question"],
  );
  await sage.answer({ type: "denied", requestId: open[0]?.id ?? "" });
  await sage.answer({ type: "denied", requestId: open[1]?.id ?? "", reason: "not now" });
  await sage.outcome();
  assert.match(sage.result(0, 0), /Not run: .*curl/);
  assert.match(sage.result(0, 2), /free/);
  assert.match(sage.result(0, 3), /not answered/i);
});
for (const [name, mode, expected] of modes) {
  test(`where nobody is asked (${name}) nothing is allowed by absence`, async () => {
    using here = workspace();
    const rules = [{ behavior: "ask", text: "Bash(env echo ran hard)", source: "user" } as const];
    const script = [
      { calls: [bash("env echo ran"), bash("env echo ran hard"), askUser(question("Sure?"))] },
      { text: "ok" },
    ];
    await using sage = await sageWith({ dir: here.dir, script, rules, options: { mode } });
    await sage.say("go");
    assert.equal((await sage.outcome()).status, "success");
    assert.match(sage.result(0, 0), expected.permission);
    assert.match(sage.result(0, 1), expected.hard);
    assert.match(sage.result(0, 2), expected.question);
    assert.deepEqual(sage.store.pending(), []);
    assert.equal(sage.facts().filter(({ type }) => type === "input.resolved").length, 3, "every decision is on record");
  });
}

test("batch: the rest of the step runs, the outcome says that a person is needed, and the same turn goes on later", async () => {
  using here = workspace();
  const script = [
    { calls: [bash("env echo free"), bash("echo asked >> ran"), askUser(question("Sure?"))] },
    { text: "ok" },
  ];
  const journal = here.path("journal.db");
  const rules = [allow("Bash(env echo free)")];
  let ids: string[];
  let session: string;
  {
    await using sage = await sageWith({
      dir: here.dir,
      script,
      rules,
      store: sqliteStore(journal),
      options: { mode: { type: "batch" } },
    });
    await sage.say("go");
    const outcome = await sage.outcome();
    assert.equal(outcome.status, "needs-input");
    ids = outcome.status === "needs-input" ? outcome.requests : [];
    session = sage.session;
    assert.equal(ids.length, 2);
    assert.match(sage.result(0, 0), /free/);
  }
  const store = sqliteStore(journal);
  await using later = await sageWith({ dir: here.dir, script, rules, store });
  assert.deepEqual(
    store.pending(session).map(({ id }) => id),
    ids,
  );
  await later.answer({ type: "granted", requestId: ids[0] ?? "" });
  await later.answer({ type: "answers", requestId: ids[1] ?? "", answers: { "Sure?": { selected: ["Red"] } } });
  assert.equal((await later.host.run(session)).status, "success");
  assert.equal(readFileSync(here.path("ran"), "utf8"), "asked\n");
});

test("a deadline's policy: fail ends the turn, a default goes on, and the model is told which", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("echo x >> ran")] }, { text: "never" }],
    options: { promptTimeout: 20 },
  });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.equal(outcome.status === "error" && outcome.error.code, "timeout");
  assert.match(sage.result(0, 0), /nobody answered within 20 ms/);
  assert.equal(existsSync(here.path("ran")), false);
  assert.deepEqual(sage.store.pending(), []);
});

test("waiting for a person does not count against the execution timeout, working does", async () => {
  using here = workspace();
  await using patient = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }],
    options: { executionTimeout: 150 },
  });
  await patient.say("go");
  const requestId = (await patient.open())[0]?.id ?? "";
  await new Promise((resolve) => setTimeout(resolve, 400));
  await patient.answer({ type: "answers", requestId, answers: { "Sure?": { selected: ["Red"] } } });
  assert.equal((await patient.outcome()).status, "success");

  await using busy = await sageWith({
    dir: here.dir,
    rules: [allow("Bash")],
    script: [{ calls: [bash("sleep 30")] }, { text: "never" }],
    options: { executionTimeout: 100 },
  });
  await busy.say("go");
  const outcome = await busy.outcome();
  assert.equal(outcome.status === "error" && outcome.error.code, "timeout");
});

test("any tool that declares it blocks for a person, not one special name", async () => {
  using here = workspace();
  const deploy: Tool<{ target: string }> = {
    name: "Deploy",
    description: "Deploys.",
    inputSchema: z.object({ target: z.string() }),
    effect: "writes",
    requiresUserInteraction: true,
    checkPermissions: () => ({ behavior: "allow", reason: "I think it is fine" }),
    execute: async ({ target }) => ({ ok: true, text: `deployed to ${target}` }),
  };
  await using sage = await sageWith({
    dir: here.dir,
    tools: [deploy],
    rules: [allow("Deploy")],
    permissionMode: "bypass",
    script: [{ calls: [{ tool: "Deploy", input: { target: "prod" } }] }, { text: "ok" }],
  });
  await sage.say("go");
  const [request] = await sage.open();
  assert.equal(request?.kind === "permission" && request.hard, true);
  await sage.answer({ type: "granted", requestId: request?.id ?? "" });
  await sage.outcome();
  assert.equal(sage.result(0, 0), "deployed to prod");
});

test("a tool that waits may ask in the midst of its work, and is refused where nobody may be asked", async () => {
  using here = workspace();
  const interview: Tool = {
    name: "Interview",
    description: "Asks twice.",
    inputSchema: z.object({}),
    effect: "waits",
    checkPermissions: () => ({ behavior: "allow", reason: "it only asks" }),
    async execute(_input, scope) {
      const name = await scope.requestInput({ kind: "text", prompt: "Your name?" }, "to greet you");
      const mood = await scope.requestInput({ kind: "text", prompt: "How are you?" }, "to be polite");
      const words = [name, mood].map((r) =>
        "response" in r && r.response?.type === "text" ? r.response.text : r.outcome,
      );
      return { ok: true, text: words.join(" is ") };
    },
  };
  const script = [{ calls: [{ tool: "Interview", input: {} }] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, tools: [interview], script });
  await sage.say("go");
  for (const text of ["小林", "fine"])
    await sage.answer({ type: "text", requestId: (await sage.open())[0]?.id ?? "", text });
  await sage.outcome();
  assert.equal(sage.result(0, 0), "小林 is fine");

  await using alone = await sageWith({
    dir: here.dir,
    tools: [interview],
    script,
    options: { mode: nonInteractive("default") },
  });
  await alone.say("go");
  await alone.outcome();
  assert.equal(alone.result(0, 0), "no_surface is no_surface");
});
