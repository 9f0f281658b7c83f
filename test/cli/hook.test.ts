import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { serveHook } from "../../src/cli/connect/hook/serve.ts";
import type { HookAgent } from "../../src/cli/connect/hook/event.ts";
import { begin, offeredChoices } from "../../src/surfaces/terminal/panels/permission-state.ts";
import { choicesFor } from "../../src/surfaces/web/page/state/input.ts";
import { apply, copyOf, withHook, withoutHook } from "../../src/cli/connect/hook/install.ts";
import { respond } from "../../src/input/respond.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Resolution } from "../../src/protocol/facts/request.ts";
import { resolvedKey, splitRequestId } from "../../src/protocol/key.ts";
import { until } from "../support/until.ts";

const root = mkdtempSync(join(tmpdir(), "sage-hook-"));
const cwd = join(root, "project");
mkdirSync(cwd);
const env = { ...process.env, SAGE_HOME: join(root, "home") };
mkdirSync(env.SAGE_HOME);
const store = sqliteStore(join(env.SAGE_HOME, "journal.db"));
after(() => {
  store.close();
  rmSync(root, { recursive: true, force: true });
});

let conversations = 0;
/** A conversation of the person's own agent, whose hooks run here. */
function terminal(agent: HookAgent = "claude", codexWaitsMs?: number) {
  const session_id = `c${conversations++}`;
  const call = (hook: string, command = "touch x") => ({
    ...{ session_id, cwd, hook_event_name: hook, tool_name: "Bash" },
    tool_input: { command, description: "make a file" },
  });
  return {
    call,
    /** Starts a hook with an event. `orphan` and `stop` are what the agent does to it. */
    hook(event: unknown) {
      const stop = new AbortController();
      const around = { orphan: false, written: "" };
      const done = serveHook(agent, {
        env,
        input: Readable.from([JSON.stringify(event)]),
        stopped: stop.signal,
        isOrphan: () => around.orphan,
        write: (text) => void (around.written += text),
        ...(codexWaitsMs !== undefined && { codexWaitsMs }),
      });
      return {
        done,
        stop: () => stop.abort(),
        orphan: () => void (around.orphan = true),
        written: () => around.written,
      };
    },
    pending: () => store.pending().filter(({ session }) => session.startsWith("@") && session.includes(agent)),
  };
}

async function opened(terminalOf: ReturnType<typeof terminal>, count = 1) {
  await until(() => terminalOf.pending().length === count);
  return terminalOf.pending();
}

async function answer(id: string, response: object): Promise<Resolution> {
  const given = { requestId: id, ...response } as InputResponse;
  return (await respond(store, given, { by: "Mei", surface: "feishu" })).resolution;
}
const decision = (written: string): unknown =>
  written === ""
    ? undefined
    : (JSON.parse(written) as { hookSpecificOutput: { decision: unknown } }).hookSpecificOutput.decision;
const endOf = (id: string) => {
  const { outcome, by, surface, ...rest } = store.resolution(id) ?? assert.fail("it is open");
  return [outcome, by, surface, "reason" in rest ? rest.reason?.code : undefined];
};
const me = userInfo().username;

test("a remark beside a yes reaches no hook: it is refused, no surface offers it, and a bare yes goes through", async () => {
  const claude = terminal();
  const hook = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  assert.ok(request?.kind === "permission");
  const remark = answer(request.id, { type: "granted", comment: "only today" });
  await assert.rejects(remark, { message: "outside-no-comment" });
  assert.equal(offeredChoices(request, { ...begin(request), more: true }).includes("comment"), false);
  const { main, more } = choicesFor(request, 1);
  assert.equal([...main, ...more].includes("comment"), false);
  await answer(request.id, { type: "granted" });
  await hook.done;
  assert.deepEqual(decision(hook.written()), { behavior: "allow" });
});

test("your settings for silence hold for its prompts: nobody answered, so it is refused; broken settings keep nobody from being asked", async () => {
  const settings = join(env.SAGE_HOME, "settings.json");
  const claude = terminal();
  writeFileSync(settings, '{ "silence": ');
  const first = claude.hook(claude.call("PermissionRequest"));
  const [waiting] = await opened(claude);
  assert.equal(waiting?.deadline, undefined);
  await answer(waiting?.id ?? "", { type: "granted" });
  await first.done;
  writeFileSync(settings, JSON.stringify({ silence: { after: "1s" } }));
  const second = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  rmSync(settings);
  assert.equal(request?.deadline?.timeoutMs, 1_000);
  await second.done;
  assert.deepEqual(decision(second.written()), { behavior: "deny", message: "Nobody answered in time." });
});

test("where a yes takes proof, none of this account counts, not even one in the journal; broken settings want it, too", async () => {
  const settings = join(env.SAGE_HOME, "settings.json");
  for (const text of [JSON.stringify({ signed: ["hard"] }), '{ "signed": [']) {
    const claude = terminal();
    writeFileSync(settings, text);
    const hook = claude.hook(claude.call("PermissionRequest"));
    const [request] = await opened(claude);
    rmSync(settings);
    const requestId = request?.id ?? "";
    const response = { type: "granted", requestId } as const;
    await assert.rejects(answer(requestId, response), { code: "not-permitted" });
    const { session, key } = splitRequestId(requestId);
    const data: Resolution = { requestId, by: me, surface: "cli", at: 1, outcome: "answered", response };
    store.append(session, { key: resolvedKey(key), type: "input.resolved", at: 1, data });
    await hook.done;
    assert.equal(hook.written(), "", "the agent asks in its own terminal");
  }
});

test("a yes through Sage is the hook's decision, attributed to who gave it", async () => {
  const claude = terminal();
  const hook = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  assert.deepEqual(request?.agent, ["claude"]);
  assert.equal(request?.kind === "permission" && request.description, "make a file");
  await answer(request?.id ?? "", { type: "granted" });
  await hook.done;
  assert.deepEqual(decision(hook.written()), { behavior: "allow" });
  assert.deepEqual(endOf(request?.id ?? ""), ["answered", "Mei", "feishu", undefined]);
});

test("a no is told with who said it and why; one that stops the turn interrupts it", async () => {
  const claude = terminal();
  for (const [response, told] of [
    [
      { type: "denied", reason: "用 b" },
      { behavior: "deny", message: 'Mei said no, in these words: "用 b"' },
    ],
    [{ type: "cancelled" }, { behavior: "deny", message: "Mei said no.", interrupt: true }],
  ] as const) {
    const hook = claude.hook(claude.call("PermissionRequest"));
    const [request] = await opened(claude);
    await answer(request?.id ?? "", response);
    await hook.done;
    assert.deepEqual(decision(hook.written()), told);
  }
});

test("a yes in the agent's own terminal ends the request once the call has run, and the hook has no opinion", async () => {
  const claude = terminal();
  const hook = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  await claude.hook(claude.call("PostToolUse", "touch something else")).done;
  assert.equal(store.resolution(request?.id ?? ""), undefined);
  await claude.hook(claude.call("PostToolUse")).done;
  await hook.done;
  assert.equal(hook.written(), "");
  assert.deepEqual(endOf(request?.id ?? ""), ["superseded", me, "claude", "answered-there"]);
});

test("a no in the agent's own terminal ends the hook and the request; an answer after that is told who won", async () => {
  const claude = terminal();
  const hook = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  hook.stop();
  await hook.done;
  assert.equal(hook.written(), "");
  assert.deepEqual(endOf(request?.id ?? ""), ["superseded", me, "claude", "answered-there"]);
  assert.equal((await answer(request?.id ?? "", { type: "granted" })).surface, "claude");
});

test("the end of the agent, of its turn and of its session end what it asked", async () => {
  const claude = terminal();
  const first = claude.hook(claude.call("PermissionRequest"));
  const [one] = await opened(claude);
  first.orphan();
  await first.done;
  assert.deepEqual(endOf(one?.id ?? ""), ["cancelled", me, "claude", "outside-gone"]);
  const second = claude.hook(claude.call("PermissionRequest"));
  const [two] = await opened(claude);
  await claude.hook({ ...claude.call("Stop"), tool_name: undefined }).done;
  await second.done;
  assert.deepEqual(endOf(two?.id ?? ""), ["cancelled", me, "claude", "outside-gone"]);
});

test("Codex waits a while for an answer, and then shows its own dialog", async () => {
  const codex = terminal("codex", 50);
  const hook = codex.hook(codex.call("PermissionRequest"));
  const [request] = await opened(codex);
  await hook.done;
  assert.equal(hook.written(), "");
  assert.deepEqual(endOf(request?.id ?? ""), ["cancelled", me, "codex", "outside-gone"]);
});

test("two hooks at once ask two things, also when they are alike; one that ran ends one", async () => {
  const claude = terminal();
  const hooks = [claude.hook(claude.call("PermissionRequest")), claude.hook(claude.call("PermissionRequest"))];
  const [one, two] = await opened(claude, 2);
  assert.equal(one?.session, two?.session);
  await claude.hook(claude.call("PostToolUse")).done;
  assert.equal(claude.pending().length, 1);
  await answer(claude.pending()[0]?.id ?? "", { type: "granted" });
  await Promise.all(hooks.map(({ done }) => done));
  assert.deepEqual(hooks.map(({ written }) => decision(written())).filter(Boolean), [{ behavior: "allow" }]);
});

test("questions are answered with their answers in the input", async () => {
  const claude = terminal();
  const question = {
    question: "Which?",
    header: "Store",
    options: [{ label: "A", description: "" }],
    multiSelect: true,
  };
  const asked = {
    ...claude.call("PermissionRequest"),
    tool_name: "AskUserQuestion",
    tool_input: { questions: [question] },
  };
  const hook = claude.hook(asked);
  const [request] = await opened(claude);
  assert.equal(request?.kind, "question");
  await answer(request?.id ?? "", { type: "answers", answers: { "Which?": { selected: ["A"], other: "和 B" } } });
  await hook.done;
  assert.deepEqual(decision(hook.written()), {
    behavior: "allow",
    updatedInput: { questions: [question], answers: { "Which?": "A, 和 B" } },
  });
});

test("a journal that is busy is waited for, also longer than SQLite waits", async () => {
  const claude = terminal();
  const other = new DatabaseSync(join(env.SAGE_HOME, "journal.db"));
  other.exec("BEGIN IMMEDIATE");
  setTimeout(() => (other.exec("COMMIT"), other.close()), 50); // fires once the hook lets go of this thread
  const hook = claude.hook(claude.call("PermissionRequest"));
  const [request] = await opened(claude);
  await answer(request?.id ?? "", { type: "granted" });
  await hook.done;
  assert.deepEqual(decision(hook.written()), { behavior: "allow" });
});

test("whatever is no event of ours, and an agent that Sage runs itself, ask nobody", async () => {
  const claude = terminal();
  for (const event of [
    "no json",
    {},
    { ...claude.call("PermissionRequest"), cwd: "relative" },
    claude.call("PreToolUse"),
  ])
    await claude.hook(event).done;
  let written = "";
  await serveHook("claude", {
    env: { ...env, SAGE_GUEST: "1" },
    input: Readable.from([JSON.stringify(claude.call("PermissionRequest"))]),
    stopped: new AbortController().signal,
    isOrphan: () => false,
    write: (text) => void (written += text),
  });
  assert.deepEqual([claude.pending(), written], [[], ""]);
});

test("the command itself: a signal of the agent ends it without a word, and an answer is written", async () => {
  const claude = terminal();
  const start = () => {
    const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [main, "hook", "claude"], { env, cwd, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(claude.call("PermissionRequest")));
    let written = "";
    child.stdout.on("data", (chunk) => (written += String(chunk)));
    return { child, closed: once(child, "close"), written: () => written };
  };
  const [refused, allowed] = [start(), start()];
  const [one] = await opened(claude, 2);
  refused.child.kill("SIGTERM");
  assert.deepEqual(await refused.closed, [0, null]);
  assert.equal(refused.written(), "");
  const [left] = claude.pending();
  assert.ok(one && left);
  await answer(left.id, { type: "granted" });
  assert.deepEqual(await allowed.closed, [0, null]);
  assert.deepEqual(decision(allowed.written()), { behavior: "allow" });
});

const lock = join(root, "lock.db");

test("the hook is added beside others, kept once, and taken out again to the last byte", () => {
  const path = join(root, "settings.json");
  const mine = { matcher: "Bash", hooks: [{ type: "command", command: "my-own hook claude" }] };
  const text = `{\n\t"model": "opus",\n\t"hooks": { "PermissionRequest": [${JSON.stringify(mine)}] }\n}`;
  writeFileSync(path, text, { mode: 0o640 });
  apply(withHook("claude", path, "sage"), { lock, keep: true });
  const first = readFileSync(path, "utf8");
  const { hooks } = JSON.parse(first) as { hooks: Record<string, { hooks: { command: string }[] }[]> };
  assert.deepEqual(Object.keys(hooks), [
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
  ]);
  assert.deepEqual(
    hooks["PermissionRequest"]?.map((group) => group.hooks[0]?.command),
    ["my-own hook claude", "exec sage hook claude"],
  );
  assert.equal(readFileSync(copyOf(path), "utf8"), text);
  assert.equal(withHook("claude", path, "sage").after, first);
  apply(withoutHook("claude", path), { lock, keep: false });
  assert.equal(readFileSync(path, "utf8"), text);
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.equal(existsSync(copyOf(path)), false);
});

test("a change that the person made meanwhile stays when the hook is taken out", () => {
  const path = join(root, "other.json");
  writeFileSync(path, '{\n  "model": "opus"\n}\n');
  apply(withHook("claude", path, "sage"), { lock, keep: true });
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, "utf8")) as object), model: "haiku" }));
  apply(withoutHook("claude", path), { lock, keep: false });
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { model: "haiku" });
  assert.equal(existsSync(copyOf(path)), false);
});

test("a file that Sage made is gone again; one that is a link stays one; one that is no settings is left alone", () => {
  const folder = mkdtempSync(join(root, "codex-"));
  const path = join(folder, "hooks.json");
  apply(withHook("codex", path, "sage"), { lock, keep: true });
  assert.deepEqual(Object.keys((JSON.parse(readFileSync(path, "utf8")) as { hooks: object }).hooks), [
    "PermissionRequest",
  ]);
  apply(withoutHook("codex", path), { lock, keep: false });
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(join(folder, "real.json"), "{}");
  symlinkSync(join(folder, "real.json"), path);
  writeFileSync(join(folder, "bad.json"), "// not JSON");
  assert.throws(() => withHook("codex", join(folder, "bad.json"), "sage"));
  assert.ok(lstatSync(path).isSymbolicLink());
});
