// Every entry of the SDK is one shape: a promise of the outcome that can be iterated, interrupted and cancelled.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { memoryStore, SageAgentSDK, scripted, type Run, type RunEvent } from "../../src/sdk/index.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const allowing = { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } } as const;

async function collect<E>(run: AsyncIterable<E>): Promise<E[]> {
  const events: E[] = [];
  for await (const event of run) events.push(event);
  return events;
}

const factsOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "fact" ? [event.fact.type] : []));

test("a run is iterated for facts and deltas, as often as one likes, and awaited for its outcome", async () => {
  using here = workspace();
  const model = scripted([{ text: "let me see", calls: [bash("echo 你好")] }, { text: "done" }, { text: "again" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const run = sage.run("go", allowing);
  const [first, second] = await Promise.all([collect(run), collect(run)]);
  assert.deepEqual(first, second);
  const outcome = await run;
  assert.equal(outcome.session, run.session);
  const said = first.flatMap((event) =>
    event.type === "delta" && event.delta.kind === "text" ? event.delta.text : [],
  );
  assert.equal(said.join(""), "let me seedone");
  assert.deepEqual(
    factsOf(first).filter((type) => type !== "state.changed"),
    [
      "session.opened",
      "user.said",
      "turn.begun",
      "model.replied",
      "calls.judged",
      "call.started",
      "call.finished",
      "model.replied",
      "turn.ended",
    ],
  );
  assert.deepEqual(factsOf(await collect(run)), factsOf(first), "afterwards the facts are still there");
  const next = sage.runWithOptions("more", { session: run.session });
  assert.deepEqual(factsOf(await collect(next))[0], "user.said", "a later run tells its own facts only");
  assert.equal((await next).text, "again");
  await sage.close();
});

test("a signal cancels the turn, also while it waits for a person; one that was aborted before begins nothing", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "never" }];
  const store = memoryStore();
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir, store });
  const stopping = new AbortController();
  const { handle, result } = sage.executeWithChannel("go", { signal: stopping.signal });
  await handle.nextRequest();
  stopping.abort();
  assert.equal((await result).status, "cancelled");
  assert.deepEqual(store.pending(), []);
  const busy = new AbortController();
  const running = sage.run("sleep", { signal: busy.signal });
  busy.abort();
  assert.equal((await running).status, "cancelled");
  const count = store.sessions().length;
  await assert.rejects(async () => sage.run("go", { signal: AbortSignal.abort(new Error("too late")) }), /too late/);
  assert.equal(store.sessions().length, count);
  await sage.close();
});

test("interrupt pauses a run and resume goes on with the same turn; cancel ends it", async () => {
  using here = workspace();
  const script = [{ calls: [bash("echo begun >> ran; sleep 60")] }, { text: "heard" }];
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const begun = () => until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  const run = sage.run("go", allowing);
  await begun();
  assert.equal(await run.interrupt(), "pause", "though nobody watches: the caller will go on");
  assert.equal((await run).status, "paused");
  const resumed = await sage.resume(run.session, allowing);
  assert.deepEqual([resumed.status, resumed.text], ["success", "heard"]);
  assert.equal(await run.interrupt(), "nothing");

  const other = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const second = other.run("go", allowing);
  await until(() => readFileSync(here.path("ran"), "utf8") === "begun\nbegun\n");
  assert.equal(await second.interrupt({ cancel: true, by: "Lin" }), "cancel");
  const outcome = await second;
  assert.deepEqual(outcome.status === "cancelled" && outcome.reason, { code: "stopped-by", args: { by: "Lin" } });
  await Promise.all([sage.close(), other.close()]);
});

test("runs of one instance share a host and not their settings", async () => {
  using here = workspace();
  const asks = [{ calls: [bash("env echo hello")] }, { text: "done" }];
  const both = { id: "m", reply: perSession(asks) };
  const sage = new SageAgentSDK({ model: both, workingDirectory: here.dir });
  const runs: Run[] = [];
  for (let n = 0; n < 20; n++) runs.push(sage.run(`${n}`, n % 2 === 0 ? allowing : {}));
  const outcomes = await Promise.all(runs);
  assert.deepEqual(
    outcomes.map(({ toolHistory }) => toolHistory[0]?.result.ok),
    outcomes.map((_, n) => n % 2 === 0),
  );
  assert.equal(new Set(outcomes.map(({ session }) => session)).size, 20);
  await sage.close();
});

/** The same script for every session. */
function perSession(script: Parameters<typeof scripted>[0]): ReturnType<typeof scripted>["reply"] {
  return (request, scope) => {
    const step = request.messages.filter(({ role }) => role === "assistant").length;
    return scripted(Array.isArray(script) ? script.slice(step) : script).reply(request, scope);
  };
}

test("a session behind a channel sleeps while it waits, and is answered as if it had not", async () => {
  using here = workspace();
  const store = memoryStore();
  const waiting = new Set<string>();
  const { wait } = store.hub;
  store.hub.wait = (id, wake) => {
    waiting.add(id);
    const stop = wait(id, wake);
    return () => (waiting.delete(id), stop());
  };
  const model = scripted([{ calls: [askUser(question("Which?"))] }, { calls: [bash("env echo x")] }, { text: "done" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir, store, sleepAfterMs: 5 });
  const { handle, result } = sage.executeWithChannel("go");
  const first = await handle.nextRequest();
  await until(() => waiting.size === 0);
  await handle.respond({ type: "answers", requestId: first?.id ?? "", answers: { "Which?": "Blue" } });
  const second = await handle.nextRequest();
  assert.equal(second?.kind, "permission");
  await until(() => waiting.size === 0);
  assert.equal(handle.pending().length, 1);
  await handle.respond({ type: "granted", requestId: second?.id ?? "" });
  const outcome = await result;
  assert.deepEqual([outcome.text, outcome.toolHistory.length], ["done", 2]);
  await sage.close();
});

test("a conversation that is closed between two turns is over", async () => {
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted([{ text: "hello" }]), workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("hi", { conversation: true });
  assert.equal((await handle.nextRequest())?.kind, "text");
  handle.close();
  assert.equal((await result).text, "hello");
  await sage.close();
});

test("runTurn is iterated too, and ends with the question it returns with", async () => {
  using here = workspace();
  const model = scripted([{ calls: [askUser(question("Which?"))] }, { text: "blue" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const agent = await sage.openTurns();
  const turn = agent.runTurn("paint");
  const events = await collect(turn);
  assert.equal(events.at(-1)?.type, "question_pending");
  assert.equal((await turn).needsInput, true);
  await agent.answerQuestion("Blue");
  const rest = await collect(agent.runTurn(""));
  const seen = [...events, ...rest].flatMap((event) => (event.type === "fact" ? [event.fact.seq] : []));
  assert.deepEqual(
    seen,
    [...new Set(seen)].toSorted((a, b) => a - b),
    "every fact once and in order",
  );
  assert.equal(rest.at(-1)?.type === "fact", true);
  await sage.close();
});

test("an iterated run that cannot begin throws in the loop, and nobody else hears of it", async () => {
  const sage = new SageAgentSDK({ workingDirectory: "/no/such/folder" });
  const run = sage.run("hi");
  await assert.rejects(collect(run), { code: "config-invalid" });
  await sage.close();
});

test("compact makes room in an idle session, and refuses with the reason", async () => {
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted([{ text: "hello" }]), workingDirectory: here.dir });
  const { session } = await sage.run("hi");
  await assert.rejects(sage.compact(session), /too short to compact/);
  await assert.rejects(sage.compact("nobody"), { code: "session-unknown" });
  await sage.close();
});

test("answers come back as data beside the words, in short form from everywhere; silence has a default answer", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Which?"))] }, { calls: [bash("env echo x")] }, { text: "done" }];
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go", {
    promptTimeout: 60_000,
    timeoutPolicy: { default: { type: "denied", requestId: "", reason: "nobody was there" } },
  });
  const request = await handle.nextRequest();
  assert.equal(typeof request?.deadline?.policy, "object");
  await handle.respond({ type: "answers", requestId: request?.id ?? "", answers: { "Which?": "Blue" } });
  const permit = await handle.nextRequest();
  await handle.respond({ type: "denied", requestId: permit?.id ?? "" });
  const { toolHistory } = await result;
  assert.deepEqual(toolHistory[0]?.result.answers, { "Which?": { selected: ["Blue"] } });
  await sage.close();

  const late = new SageAgentSDK({ model: scripted(script.slice(1)), workingDirectory: here.dir });
  const silent = late.executeWithChannel("go", {
    promptTimeout: 20,
    timeoutPolicy: { default: { type: "denied", requestId: "", reason: "nobody was there" } },
  });
  const outcome = await silent.result;
  assert.deepEqual([outcome.text, outcome.toolHistory[0]?.result.ok], ["done", false]);
  await late.close();
});
