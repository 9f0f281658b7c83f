import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { allow, question, workspace } from "../support/sage.ts";
import {
  bashCall,
  commandOf,
  finished,
  guestSage,
  guestsIn,
  no,
  yes,
  type GuestOptions,
  type GuestSage,
} from "../support/guests/guest-sage.ts";
import { until } from "../support/until.ts";

const run = (dir: string, script: GuestOptions["script"], more: Partial<GuestOptions> = {}) =>
  guestSage({ dir, script, ...more });

test("a guest's call waits for a person with nothing held, and goes on where it was, once", async () => {
  using place = workspace();
  await using sage = await run(place.dir, [
    { text: "I will run it.", calls: [bashCall("echo a >> made.txt", { run_in_background: false })] },
    { text: "All done." },
  ]);
  await sage.say("make a file");
  const [request] = await sage.open();
  assert.deepEqual(
    [request?.kind, request?.agent, request?.kind === "permission" && request.input],
    ["permission", ["claude"], { command: "echo a >> made.txt", run_in_background: false }],
  );
  await until(() => sage.facts("guest.parked").length === 1, "the guest was not left");
  assert.deepEqual(sage.ran(), []);
  await sage.answer(yes(request));
  const outcome = await sage.outcome();
  assert.deepEqual([outcome.status, outcome.text], ["success", "All done."]);
  assert.deepEqual(sage.ran(), ["echo a >> made.txt"]);
  assert.deepEqual(sage.heard(), ["make a file"]);
  const happened = sage.facts().filter(({ type }) => type !== "state.changed" && type !== "user.said");
  assert.deepEqual(
    happened.map(({ type, key }) => `${type} ${key}`),
    [
      "session.opened session",
      "turn.begun t0",
      "guest.joined t0/joined0",
      "model.replied t0/0/model",
      "model.replied t0/1/model",
      "calls.judged t0/1/0/judged0",
      "input.requested t0/1/0/permit0",
      "guest.parked t0/parked0",
      "input.resolved t0/1/0/permit0.resolved",
      "calls.judged t0/1/0/judged2",
      "call.started t0/1/0/run0.started",
      "call.finished t0/1/0/run0.finished",
      "model.replied t0/2/model",
      "answer.delivered t0/1/0/permit0.delivered",
      "turn.ended t0.ended",
    ],
  );
  const [receipt] = receiptsOf(sage.facts(), () => undefined);
  assert.deepEqual(
    [receipt?.tool, receipt?.decision, receipt?.asked[0]?.resolution?.by, receipt?.standing],
    ["Bash", "allowed", "Lin", "done"],
  );
  assert.deepEqual(receipt?.files, [place.path("made.txt")]);
});

test("Sage's rules allow and refuse a guest's calls at once; the next turn goes on in the same conversation", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [{ calls: [bashCall("sleep 0")] }, { calls: [bashCall("rm made")] }, { text: "So be it." }],
    { rules: [allow("Bash(sleep *)"), { behavior: "deny", text: "Bash(rm *)", source: "user" }] },
  );
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(sage.ran(), ["sleep 0"]);
  assert.deepEqual(
    sage.facts("call.finished").map(({ data }) => data.end),
    ["done", "refused-by-rule"],
  );
  await sage.say("and now?");
  await sage.outcome();
  const joined = sage.facts("guest.joined").map(({ data }) => data.session);
  assert.deepEqual([joined.length, joined[0]], [2, joined[1]]);
  assert.deepEqual(sage.heard(), ["go", "and now?"]);
});

test("a refusal with a reason is told to the guest; the same call again is refused without asking; five in a row pause", async () => {
  using place = workspace();
  const calls = [1, 2, 3, 4, 5, 6].map((n) => ({
    calls: [bashCall(`touch ${n}`), ...(n === 2 ? [bashCall("touch 1")] : [])],
  }));
  await using sage = await run(place.dir, [...calls, { text: "I give up." }]);
  await sage.say("go");
  for (const n of [1, 2, 3, 4]) {
    const [request] = await sage.open();
    assert.equal(commandOf(request), `touch ${n}`);
    await sage.answer(no(request, `not ${n}`));
    await until(() => finished(sage).some(([, text]) => text?.includes(`not ${n}`)), "it was not told");
  }
  const outcome = await sage.outcome();
  assert.deepEqual([outcome.status, sage.ran()], ["paused", []]);
  assert.match(finished(sage)[0]?.[1] ?? "", /not 1/);
  const told = JSON.parse(
    readFileSync(`${place.dir}/${readdirSync(place.dir).find((name) => name.startsWith("session-"))}`, "utf8"),
  );
  assert.match(told.results["0.0"].text, /Their reason: "not 1"/);
  assert.match(told.results["1.1"].text, /refused/);
});

test("of several calls of a reply the first that asks is kept, a later one that a rule allows does not overtake it", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [{ calls: [bashCall("touch first"), bashCall("sleep 0"), bashCall("touch third")] }, { text: "ok" }],
    { rules: [allow("Bash(sleep *)")] },
  );
  await sage.say("go");
  const [first] = await sage.open();
  assert.equal(commandOf(first), "touch first");
  await until(() => sage.facts("guest.parked").length === 1, "the guest was not left");
  assert.deepEqual([sage.store.pending(sage.session).length, sage.ran()], [1, []]);
  await sage.answer(yes(first));
  const third = await until(
    () => sage.store.pending(sage.session).find((request) => commandOf(request) === "touch third"),
    "the third call was not made again",
  );
  await sage.answer(yes(third));
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(sage.ran(), ["touch first", "sleep 0", "touch third"]);
});

test("in a subagent a prompt is held and not deferred, and says whose it is; with a command in the background, too", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [
      { calls: [{ name: "Task", input: { prompt: "x" }, sub: [bashCall("touch inner")] }] },
      { calls: [bashCall("sleep 60", { run_in_background: true })] },
      { calls: [bashCall("touch outer")] },
      { text: "ok" },
    ],
    { rules: [allow("Bash(sleep *)")] },
  );
  await sage.say("go");
  const [inner] = await sage.open();
  assert.deepEqual([inner?.agent, commandOf(inner)], [["claude", "helper"], "touch inner"]);
  await sage.answer(yes(inner));
  const outer = await until(
    () => sage.store.pending(sage.session).find((request) => commandOf(request) === "touch outer"),
    "the outer call was not asked about",
  );
  await sage.answer(yes(outer));
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual([sage.ran(), sage.facts("guest.parked")], [["touch inner", "touch outer"], []]);
});

test("two different calls under one id are two requests", async () => {
  using place = workspace();
  await using sage = await run(place.dir, [
    { calls: [{ ...bashCall("touch one"), id: "call_1" }] },
    { calls: [{ ...bashCall("touch two"), id: "call_1" }] },
    { text: "ok" },
  ]);
  await sage.say("go");
  const [one] = await sage.open();
  await sage.answer(yes(one));
  const two = await until(() => sage.store.pending(sage.session).find(({ id }) => id !== one?.id), "nothing was asked");
  assert.deepEqual([commandOf(one), commandOf(two), one?.digest === two.digest], ["touch one", "touch two", false]);
  await sage.answer(no(two));
  await sage.outcome();
  assert.deepEqual(sage.ran(), ["touch one"]);
});

test("an edited input is judged as it will run: a rule still refuses it, otherwise it runs in the place of the other", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [{ calls: [bashCall("touch one")] }, { calls: [bashCall("touch two")] }, { text: "ok" }],
    { rules: [{ behavior: "deny", text: "Bash(rm *)", source: "user" }] },
  );
  await sage.say("go");
  const [one] = await sage.open();
  await sage.answer(yes(one, { input: { command: "touch other" } }));
  const two = await until(() => sage.store.pending(sage.session).find(({ id }) => id !== one?.id), "nothing was asked");
  await sage.answer(yes(two, { input: { command: "rm -r ." } }));
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(sage.ran(), ["touch other"]);
  assert.deepEqual(
    sage.facts("call.finished").map(({ data }) => data.end),
    ["done", "refused-by-rule"],
  );
});

test("a question is answered by a person; the guest reads it as its own tool's result; its own ask rules ask a person, too", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [
      { calls: [{ name: "AskUserQuestion", input: { questions: [question("哪个颜色？")] } }] },
      { calls: [bashCall("sleep 0")] },
      { text: "ok" },
    ],
    { rules: [allow("Bash(sleep *)")], ownRules: { Bash: "ask" } },
  );
  await sage.say("go");
  const [asked] = await sage.open();
  assert.equal(asked?.kind, "question");
  await sage.answer({ type: "answers", requestId: asked.id, answers: { "哪个颜色？": { selected: ["Blue"] } } });
  const own = await until(
    () => sage.store.pending(sage.session).find(({ kind }) => kind === "permission"),
    "nothing was asked",
  );
  assert.deepEqual([own.why.code, commandOf(own)], ["guest-asks", "sleep 0"]);
  await sage.answer(yes(own));
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(sage.ran(), ["sleep 0"]);
  const state = JSON.parse(
    readFileSync(`${place.dir}/session-${sage.facts("guest.joined")[0]?.data.session}.json`, "utf8"),
  );
  assert.match(state.results["0.0"].text, /哪个颜色？.*Blue/);
});

test("interrupted while a person is asked, the turn ends, and the call that was kept is refused in the next one", async () => {
  using place = workspace();
  await using sage = await run(place.dir, [{ calls: [bashCall("touch one")] }, { text: "ok" }]);
  await sage.say("go");
  const [request] = await sage.open();
  await until(() => sage.facts("guest.parked").length === 1, "the guest was not left");
  await sage.host.send({ type: "interrupt", session: sage.session, by: "Lin", surface: "test" });
  assert.equal((await sage.outcome()).status, "cancelled");
  assert.equal(sage.store.resolution(request!.id)?.outcome, "cancelled");
  await sage.say("something else");
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual([sage.ran(), sage.heard()], [[], ["go", "something else"]]);
});

test("in a run that asks nobody the turn stays open, and goes on with the answer; an automatic yes needs nobody", async () => {
  using place = workspace();
  const script = [{ calls: [bashCall("touch one")] }, { text: "ok" }];
  await using sage = await run(place.dir, script, { options: { mode: { type: "batch" } } });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "needs-input");
  const [request] = await sage.open();
  await sage.answer(yes(request));
  assert.equal((await sage.host.run(sage.session)).status, "success");
  assert.deepEqual(sage.ran(), ["touch one"]);
  using other = workspace();
  const mode = { type: "nonInteractive", autoResponse: "alwaysAllow" } as const;
  await using auto = await run(other.dir, script, { options: { mode } });
  await auto.say("go");
  assert.equal((await auto.outcome()).status, "success");
  assert.deepEqual([auto.ran(), auto.facts("guest.parked")], [["touch one"], []]);
});

test("a session that waits with a guest sleeps, and an answer wakes it; what was said meanwhile is told", async () => {
  using place = workspace();
  await using sage = await run(place.dir, [{ calls: [bashCall("touch one")] }, { text: "ok" }], { sleepAfterMs: 20 });
  await sage.say("go");
  const [request] = await sage.open();
  await until(
    () => sage.facts("state.changed").some(({ data }) => data.to.state === "paused") || asleep(sage),
    "it did not sleep",
  );
  await sage.host.send({ type: "say", session: sage.session, text: "and be quick", by: "Lin", surface: "test" });
  await sage.answer(yes(request));
  await until(() => sage.facts("turn.ended").length > 0, "the turn did not end");
  assert.deepEqual(sage.ran(), ["touch one"]);
  await until(() => sage.heard().includes("and be quick"), "the message was not told");
});

test("a guest that fails or cannot be started is an error in its own words; secrets are taken out of what it says", async () => {
  using place = workspace();
  const env = { ...process.env, MY_TOKEN: "very-secret-token" };
  await using sage = await run(place.dir, [{ text: "it is very-secret-token" }], { env });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.equal(outcome.text, "it is [secret: MY_TOKEN]");
  const { claudeDriver } = await import("../../src/guest/claude/claude.ts");
  const driver = claudeDriver({ name: "claude", command: "no-such-agent", args: [] });
  using other = workspace();
  await using broken = await run(other.dir, [{ text: "x" }], { driver });
  await broken.say("go");
  const failed = await broken.outcome();
  assert.deepEqual(
    [failed.status, failed.status === "error" && failed.error.reason?.code],
    ["error", "guest-not-started"],
  );
});

function asleep(sage: GuestSage): boolean {
  return (
    guestsIn(sage.facts("session.opened")[0]?.data.cwd ?? "").length === 0 && sage.facts("guest.parked").length > 0
  );
}
