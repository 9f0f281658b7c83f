import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { acpDriver } from "../../src/guest/acp/acp.ts";
import type { GuestStart } from "../../src/guest/driver.ts";
import { no, played, yes } from "../support/guests/listen.ts";

const fake = new URL("../support/guests/fake-acp.mjs", import.meta.url).pathname;

type Step = { text?: string; calls?: object[] };

function agent(context: TestContext, script: Step[], how: object = {}, mode?: string) {
  const dir = mkdtempSync(join(tmpdir(), "sage-acp-"));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const env = {
    ...process.env,
    FAKE_SCRIPT: join(dir, "script.json"),
    FAKE_STATE: join(dir, "state"),
    FAKE_ACP: JSON.stringify(how),
  };
  writeFileSync(env.FAKE_SCRIPT, JSON.stringify(script));
  const driver = acpDriver({
    name: "fake",
    command: process.execPath,
    args: [fake],
    ...(mode !== undefined && { mode }),
  });
  const pids: number[] = [];
  return {
    dir,
    pids,
    made: (name: string) => existsSync(join(dir, name)),
    state(session: string) {
      return JSON.parse(readFileSync(join(env.FAKE_STATE, `${session}.json`), "utf8")) as {
        heard: string[];
        results: { ok: boolean; text: string }[];
      };
    },
    sessions: () => readdirSync(env.FAKE_STATE),
    async start(resume?: string) {
      const options: GuestStart = { cwd: dir, env, spawned: (pid) => pids.push(pid), signal: context.signal };
      const guest = await driver.start({ ...options, ...(resume !== undefined && { resume }) });
      context.after(() => guest.close());
      return guest;
    },
  };
}

const touch = (name: string) => ({ id: `call_${name}`, input: { command: `touch ${name}` } });

test("tokens are told also where the last reply has no words, and dollars of the conversation where it counts them", async (context) => {
  const { start } = agent(context, [{}], { cost: 0.25 });
  const guest = await start();
  await guest.say("go");
  const usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 };
  assert.deepEqual(await played(guest, () => yes), [
    { type: "said", parts: [], usage, model: "fake", agent: [] },
    { type: "ended", how: "done", spent: { usd: 0.25 } },
  ]);
});

test("a command is asked about as Bash, runs after a yes, and its result and the last words are told", async (context) => {
  const { start, made, pids } = agent(context, [{ text: "I make it.", calls: [touch("a")] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("make a");
  const call = { type: "call", id: "call_a", tool: "Bash", input: { command: "touch a" } };
  assert.deepEqual(await played(guest, () => yes), [
    { type: "said", parts: [{ type: "text", text: "I make it." }], model: "fake", agent: [] },
    { type: "asks", ask: { id: "0", call, judged: [{ tool: "Bash", input: { command: "touch a" } }], agent: [] } },
    { type: "result", call: "call_a", ok: true, text: "ran" },
    {
      type: "said",
      parts: [{ type: "text", text: "Done." }],
      usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 },
      model: "fake",
      agent: [],
    },
    { type: "ended", how: "done" },
  ]);
  assert.ok(made("a"));
  assert.equal(pids.length, 1);
  assert.deepEqual([guest.version, guest.goesOn], ["4.2", false]);
});

test("a command of which only the title is known is shown, and no rule decides on it", async (context) => {
  const { start } = agent(context, [{ calls: [touch("a")] }, { text: "Done." }], { titleOnly: true });
  const guest = await start();
  await guest.say("make a");
  const asks = (await played(guest, () => yes)).flatMap((event) => (event.type === "asks" ? [event.ask] : []));
  assert.deepEqual(
    asks.map(({ call, judged }) => [call.tool, call.input, judged]),
    [["execute", { title: "touch a" }, []]],
  );
});

test("another kind of call is asked about under the agent's own name, whatever the rules", async (context) => {
  const call = { id: "c", kind: "fetch", input: { url: "https://example.com" } };
  const { start } = agent(context, [{ calls: [call] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("fetch it");
  const asks = (await played(guest, () => yes)).flatMap((event) => (event.type === "asks" ? [event.ask] : []));
  assert.deepEqual(
    asks.map(({ call: { tool, input }, judged }) => [tool, input, judged]),
    [["fetch", { url: "https://example.com" }, []]],
  );
});

test("an agent whose turn ends with the refusal is told why with the next prompt", async (context) => {
  const { start, made, state } = agent(context, [{ calls: [touch("a")] }, { text: "I see." }], { endsOnNo: true });
  const guest = await start();
  await guest.say("make a");
  const heard = await played(guest, () => no("The person said no."));
  assert.deepEqual(state(guest.session).heard, ["make a", "The person said no."]);
  assert.deepEqual(heard.at(-1), { type: "ended", how: "done" });
  assert.equal(made("a"), false);
});

test("an agent that goes on after a refusal hears a reason afterwards, and nothing where there was none", async (context) => {
  const script = [{ calls: [touch("a")] }, { text: "I see." }];
  const bare = agent(context, script);
  const guest = await bare.start();
  await guest.say("make a");
  await played(guest, () => no());
  assert.deepEqual(bare.state(guest.session).heard, ["make a"]);
  const told = agent(context, script);
  const other = await told.start();
  await other.say("make a");
  await played(other, () => no("The person said no: use b.", "use b"));
  assert.deepEqual(told.state(other.session).heard, ["make a", "The person said no: use b."]);
});

test("killed while it asks it does not ask again; what it tells of the past when it is loaded is dropped", async (context) => {
  const { start, pids, made, state } = agent(context, [{ calls: [touch("a")] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("make a");
  const heard = await played(guest, () => {
    process.kill(-(pids[0] ?? 0), "SIGKILL");
    return "nothing";
  });
  assert.deepEqual(heard.at(-1), { type: "ended", how: "died", words: "it ended with SIGKILL" });
  const again = await start(guest.session);
  assert.equal(again.session, guest.session);
  await again.say("go on");
  assert.deepEqual(
    (await played(again, () => yes)).map((event) => (event.type === "said" ? event.parts : event.type)),
    [[{ type: "text", text: "Done." }], "ended"],
  );
  assert.deepEqual(state(again.session).heard, ["make a", "go on"]);
  assert.equal(made("a"), false);
});

test("a session that was never saved begins anew, under another name", async (context) => {
  const { start, pids } = agent(context, [{ calls: [touch("a")] }], { forgets: true });
  const guest = await start();
  await guest.say("make a");
  await played(guest, () => {
    process.kill(-(pids[0] ?? 0), "SIGKILL");
    return "nothing";
  });
  assert.notEqual((await start(guest.session)).session, guest.session);
});

test("an agent that starts in a mode without questions is put into the one that asks, also when it is loaded", async (context) => {
  const { start } = agent(context, [{ calls: [touch("a")] }, { calls: [touch("b")] }, { text: "Done." }], {
    firstMode: "auto",
  });
  const guest = await start();
  await guest.say("make a");
  let asked = 0;
  await played(guest, () => (asked++ === 0 ? yes : "interrupt"));
  const again = await start(guest.session);
  await again.say("make b");
  await played(again, () => yes);
  assert.equal(asked, 2);
});

test("an agent that cannot be put into the mode of the settings does not run", async (context) => {
  const { start } = agent(context, [{ text: "Done." }], {}, "strict");
  await assert.rejects(start(), /no mode strict/);
});

test("an interrupt cancels what is asked and ends the turn", async (context) => {
  const { start, made } = agent(context, [{ calls: [touch("a")] }]);
  const guest = await start();
  await guest.say("make a");
  assert.deepEqual((await played(guest, () => "interrupt")).at(-1), { type: "ended", how: "interrupted" });
  assert.equal(made("a"), false);
});

test("words that come while it works are its next prompt", async (context) => {
  const { start, state } = agent(context, [{ calls: [touch("a")] }, { text: "One." }, { text: "Two." }]);
  const guest = await start();
  await guest.say("make a");
  const said: Promise<void>[] = [];
  await played(guest, () => {
    said.push(guest.say("and 也说中文"));
    return yes;
  });
  await Promise.all(said);
  assert.deepEqual(state(guest.session).heard, ["make a", "and 也说中文"]);
});

test("questions that come as a permission are answered by their number, own words included", async (context) => {
  const questions = [
    {
      question: "Which?",
      header: "Store",
      multiSelect: true,
      options: [{ label: "A", description: "" }, { label: "B" }],
    },
    { question: "Why?", header: "Reason", options: [] },
  ];
  const { start, state } = agent(context, [{ calls: [{ id: "q", questions }] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("ask me");
  const heard = await played(guest, () => ({
    type: "answers",
    answers: { "Which?": { selected: ["A", "B"] }, "Why?": { selected: [], other: "因为" } },
  }));
  assert.deepEqual(JSON.parse(state(guest.session).results[0]?.text ?? ""), { 0: "A, B", 1: "因为" });
  assert.equal(heard.find((event) => event.type === "asks")?.ask.questions?.length, 2);
});

const form = {
  message: "Which database?",
  requestedSchema: {
    type: "object",
    properties: {
      store: { type: "string", title: "Database", oneOf: [{ const: "lite", title: "SQLite" }, { const: "pg" }] },
      store_custom: { type: "string", title: "Other" },
      port: { type: "integer", title: "Port" },
    },
  },
};

test("a form is asked as questions; own words beside a choice go into the field that is there for them", async (context) => {
  const { start, state } = agent(context, [{ calls: [{ id: "f", form }] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("ask me");
  await played(guest, ({ questions }) => {
    assert.deepEqual(
      questions?.map(({ question }) => question),
      ["Database", "Port"],
    );
    return {
      type: "answers",
      answers: { Database: { selected: ["SQLite"], other: "for now" }, Port: { selected: [], other: "80" } },
    };
  });
  const { text } = state(guest.session).results[0] ?? { text: "" };
  assert.deepEqual(JSON.parse(text), { store: "lite", port: 80, store_custom: "for now" });
});

test("a form that asks for a secret is declined, and nobody is asked", async (context) => {
  const secret = { message: "Log in", requestedSchema: { properties: { password: { type: "string" } } } };
  const { start, state } = agent(context, [{ calls: [{ id: "f", form: secret }] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("ask me");
  const heard = await played(guest, () => yes);
  assert.equal(
    heard.some(({ type }) => type === "asks"),
    false,
  );
  assert.deepEqual(
    state(guest.session).results.map(({ ok }) => ok),
    [false],
  );
});

test("a program that is not there, or says nothing of the protocol, is an error in its own words", async (context) => {
  const options: GuestStart = { cwd: tmpdir(), env: process.env, spawned: () => {}, signal: context.signal };
  const missing = acpDriver({ name: "gone", command: "/nonexistent/agent", args: [] });
  await assert.rejects(missing.start(options), /ENOENT/);
  const failing = acpDriver({ name: "sh", command: "sh", args: ["-c", "echo please log in >&2; exit 3"] });
  await assert.rejects(failing.start(options), /please log in/);
});
