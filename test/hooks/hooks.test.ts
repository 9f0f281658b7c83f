import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHooks } from "../../src/hooks/hooks.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { createHost } from "../../src/host/host.ts";
import type { Hook } from "../../src/hooks/hook.ts";
import { allow, askUser, bash, config, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

const hook = (command: string, matcher = "*", timeoutMs = 5_000): Hook => ({ command, matcher, timeoutMs });
const says = (answer: object) => hook(`printf '%s' '${JSON.stringify(answer)}'`);
const event = (dir: string) => ({ session: "s", cwd: dir, tool: "Bash", input: { command: "ls" } });
const never = new AbortController().signal;

test("the event arrives as JSON, the answer is read back, and each hook sees what the one before it left", async () => {
  using here = workspace();
  const hooks = createHooks(
    {
      beforeCall: [
        says({ input: { command: "ls -a" }, context: "first" }),
        hook('cat > seen.json; printf \'{"decision":"ask","reason":"look twice","context":"second"}\''),
        hook("exit 7", "Edit|Write"),
      ],
    },
    process.env,
  );
  assert.deepEqual([hooks.has("beforeCall", "Bash"), hooks.has("afterCall", "Bash")], [true, false]);
  const outcome = await hooks.run("beforeCall", event(here.dir), never);
  assert.deepEqual(outcome, {
    decision: "ask",
    reason: said("look twice"),
    input: { command: "ls -a" },
    context: ["first", "second"],
    problems: [],
  });
  const seen = JSON.parse(readFileSync(here.path("seen.json"), "utf8"));
  assert.deepEqual(seen, {
    moment: "beforeCall",
    session: "s",
    cwd: here.dir,
    tool: "Bash",
    input: { command: "ls -a" },
  });
});

for (const [name, broken, expected] of [
  ["crashes", hook("echo oops >&2; exit 3"), /failed with 3: oops/],
  ["hangs", hook("sleep 60", "*", 50), /did not end within 50 ms/],
  ["prints rubbish", hook("echo allow"), /an invalid answer.*allow/],
  ["prints another shape", says({ decision: "yes" }), /an invalid answer/],
  ["floods", hook("yes"), /more than 1 MB/],
] as const) {
  test(`a hook that ${name} is reported, and the call is asked about even where a rule allows it`, async () => {
    using here = workspace();
    const script = [{ calls: [bash("echo x >> ran")] }, { text: "ok" }];
    await using sage = await sageWith({
      dir: here.dir,
      script,
      rules: [allow("Bash")],
      hooks: { beforeCall: [broken] },
    });
    await sage.say("go");
    const [request] = await sage.open();
    assert.match(sentence(request?.why ?? "", "en"), expected);
    assert.equal(request?.kind === "permission" && request.hard, true);
    await sage.answer({ type: "denied", requestId: request?.id ?? "" });
    await sage.outcome();
    assert.equal(existsSync(here.path("ran")), false);
  });
}

test("a hook may deny, allow an ordinary ask and edit; a deny rule, an ask rule and a question stand above its allow", async () => {
  using here = workspace();
  const decide = hook(`
    case "$(cat)" in
      *"echo one"*) printf '{"decision":"deny","reason":"not on Sundays"}' ;;
      *"echo two"*) printf '{"decision":"allow","input":{"command":"echo edited >> ran"},"context":"mind the gap"}' ;;
      *) printf '{"decision":"allow"}' ;;
    esac`);
  const rules = [
    { behavior: "deny", text: "Bash(curl:*)", source: "user" },
    { behavior: "ask", text: "Bash(git push:*)", source: "user" },
  ] as const;
  const calls = [
    bash("env echo one"),
    bash("env echo two"),
    bash("curl x"),
    bash("git push"),
    askUser(question("Sure?")),
  ];
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls }, { text: "ok" }],
    rules: [...rules],
    hooks: { beforeCall: [decide] },
  });
  await sage.say("go");
  const open = await sage.open(2);
  assert.deepEqual(
    open.map(({ id }) => id.split("/")[3]),
    ["3", "4"],
  );
  for (const { id } of open) await sage.answer({ type: "denied", requestId: id });
  await sage.outcome();
  assert.match(sage.result(0, 0), /not on Sundays/);
  assert.match(sage.result(0, 1), /mind the gap/);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "edited\n");
  assert.match(sage.result(0, 2), /curl/);
});

test("after a call a hook adds to the result, and on a permission request it may answer in the person's stead", async () => {
  using here = workspace();
  const script = [{ calls: [bash("env echo one"), bash("env echo two")] }, { text: "ok" }];
  const hooks = {
    permissionRequest: [hook(`grep -q 'echo one' && printf '{"decision":"allow","reason":"one is fine"}' || true`)],
    afterCall: [hook(`grep -q '"result"' && printf '{"context":"checked afterwards"}'`)],
  };
  await using sage = await sageWith({ dir: here.dir, script, hooks });
  await sage.say("go");
  const open = await sage.open();
  assert.equal(open.length, 1);
  await sage.answer({ type: "granted", requestId: open[0]?.id ?? "" });
  await sage.outcome();
  assert.match(sage.result(0, 0), /one[\s\S]*checked afterwards/);
  assert.match(sage.result(0, 1), /two[\s\S]*checked afterwards/);
});

test("A8: a refused call that comes again unchanged is refused without a prompt, until the person says something", async () => {
  using here = workspace();
  const again = { calls: [bash("rm  -r dist")] };
  await using sage = await sageWith({
    dir: here.dir,
    script: [again, again, { text: "I give up" }, again, { text: "ok" }],
  });
  await sage.say("go");
  await sage.answer({ type: "denied", requestId: (await sage.open())[0]?.id ?? "", reason: "never" });
  assert.equal((await sage.outcome()).text, "I give up");
  assert.match(sage.result(1, 0), /already refused this call/);
  assert.equal(sage.facts().filter(({ type }) => type === "input.requested").length, 1);
  await sage.say("all right, do it");
  assert.equal((await sage.open()).length, 1, "the person spoke: it is asked again");
});

test("A8: five refusals in a row pause the turn", async () => {
  using here = workspace();
  const script = [...Array.from({ length: 5 }, (_, n) => ({ calls: [bash(`rm file${n}`)] })), { text: "let us talk" }];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("go");
  for (let n = 0; n < 5; n++) {
    await sage.answer({ type: "denied", requestId: (await sage.open())[0]?.id ?? "" });
    await until(() => sage.store.pending().length === 0);
  }
  const outcome = await sage.outcome();
  assert.equal(outcome.status, "paused");
  await sage.say("what are you trying to do?");
  assert.equal((await sage.outcome()).text, "let us talk");
});

test("rules a person saves go where they want them, and a rule that cannot be saved is said and holds for the session", async () => {
  using here = workspace();
  writeFileSync(here.path("seen"), "");
  const saved: string[] = [];
  const script = [
    { calls: [bash("env echo a"), bash("env echo b")] },
    { calls: [bash("env echo a"), bash("env echo b")] },
    { text: "ok" },
  ];
  const saveRule = ({ rule, destination }: { rule: string; destination: string }) => {
    if (destination === "user") throw new Error("the disk is full");
    saved.push(`${destination}: ${rule}`);
    return "settings.json";
  };
  await using sage = await sageWith({ dir: here.dir, script, saveRule });
  await sage.say("go");
  const [a, b] = await sage.open(2);
  await sage.answer({
    type: "granted",
    requestId: a?.id ?? "",
    rules: [{ rule: "Bash(env echo a)", behavior: "allow", destination: "local" }],
  });
  await sage.answer({
    type: "granted",
    requestId: b?.id ?? "",
    rules: [{ rule: "Bash(env echo b)", behavior: "allow", destination: "user" }],
  });
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(saved, ["local: Bash(env echo a)"]);
  const added = sage.facts().flatMap((fact) => (fact.type === "rule.added" ? [fact.data] : []));
  assert.deepEqual(
    added.map(({ saved: file, problem }) => [file, problem]),
    [
      ["settings.json", undefined],
      [undefined, said("the disk is full")],
    ],
  );
});

test("hooks are told at once when a session starts, waits for a person, and ends", async () => {
  using here = workspace();
  const note = (moment: string) => [hook(`cat >> ${moment}.json; echo >> ${moment}.json`)];
  const hooks = createHooks(
    { sessionStart: note("start"), waiting: note("waiting"), sessionEnd: note("end") },
    process.env,
  );
  const store = memoryStore();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ok" }];
  const made = { ...config({ dir: here.dir, store, script }), hooks };
  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: here.dir }),
  });
  const opened = await host.send({ type: "open", cwd: here.dir, session: "s" });
  assert.equal(opened.ok, true);
  await host.send({ type: "say", session: "s", text: "go", by: "Lin", surface: "test" });
  const told = async (file: string) => {
    await until(() => existsSync(here.path(file)) && readFileSync(here.path(file), "utf8").endsWith("\n"));
    return JSON.parse(readFileSync(here.path(file), "utf8"));
  };
  assert.deepEqual(await told("waiting.json"), {
    moment: "waiting",
    session: "s",
    cwd: here.dir,
    request: { id: "s/t0/0/0/ask0", kind: "question", why: "Answer questions?" },
    agent: [],
  });
  assert.equal((await told("start.json")).moment, "sessionStart");
  await host.close();
  assert.equal((await told("end.json")).moment, "sessionEnd");
});
