// Guests that are killed, left or lost their conversation: what they may do again, and what a person is asked about once more.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { respond } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { resolvedKey, splitRequestId } from "../../src/protocol/key.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { allow, workspace } from "../support/sage.ts";
import { bashCall, commandOf, guestSage, guestsIn, no, yes, type GuestOptions } from "../support/guests/guest-sage.ts";
import { until } from "../support/until.ts";

const run = (dir: string, script: GuestOptions["script"], more: Partial<GuestOptions> = {}) =>
  guestSage({ dir, script, ...more });

test("a guest that is killed while it holds a prompt is resumed with the answer in words, and the yes counts once", async () => {
  using place = workspace();
  await using sage = await run(
    place.dir,
    [{ calls: [bashCall("echo a >> made.txt")] }, { calls: [bashCall("echo a >> made.txt")] }, { text: "ok" }],
    { guestVersion: "2.0.1" }, // too old to defer: it holds what it asks
  );
  await sage.say("go");
  const [request] = await sage.open();
  const [group] = await until(() => {
    const living = guestsIn(place.dir);
    return living.length > 0 && living;
  }, "no guest runs");
  const told: (string | undefined)[] = [];
  sage.store.hub.subscribe(sage.session, { fact() {}, delta: ({ reason }) => void told.push(reason?.code) });
  process.kill(-group!, "SIGKILL");
  // An answer before Sage has noticed goes to nobody: the call would count as started, and its end as unknown.
  await until(() => told.includes("guest-carried"), "nobody was told that the guest is gone");
  await sage.answer(yes(request));
  // The second step makes the same call once more: that is another call, and asks.
  const second = await until(
    () => sage.store.pending(sage.session).find(({ id }) => id !== request?.id),
    "nothing was asked",
  );
  assert.deepEqual(sage.ran(), ["echo a >> made.txt"]);
  await sage.answer(yes(second));
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(sage.ran().length, 2);
  assert.match(sage.heard()[1] ?? "", /stopped in the midst.*\n- May Bash run.*\n {2}The person allowed it/s);
  const allowed = sage.facts("calls.judged").filter(({ data }) => data.verdicts[0]?.reason.code === "approved-earlier");
  assert.equal(allowed.length, 1);
  assert.equal(sage.facts("input.requested").length, 2);
});

test("a yes that carried a guest over one death is no yes after the next", async () => {
  using place = workspace();
  const commands = ["echo a >> made.txt", "echo b >> made.txt", "echo a >> made.txt"];
  const script = [...commands.map((command) => ({ calls: [bashCall(command)] })), { text: "ok" }];
  await using sage = await run(place.dir, script, { guestVersion: "2.0.1" });
  let carried = 0;
  sage.store.hub.subscribe(sage.session, {
    fact() {},
    delta: ({ reason }) => void (reason?.code === "guest-carried" && carried++),
  });
  const waiting = (command: string | undefined) =>
    until(
      () => sage.store.pending(sage.session).find((one) => commandOf(one) === command),
      `${command} is not asked about`,
    );
  await sage.say("go");
  for (const [n, command] of commands.slice(0, 2).entries()) {
    const request = await waiting(command);
    for (const group of guestsIn(place.dir)) process.kill(-group, "SIGKILL");
    await until(() => carried > n, "nobody was told that the guest is gone");
    await sage.answer(yes(request));
  }
  await until(() => sage.facts("input.requested", "turn.ended").length > 2, "neither asked nor ended");
  const asked = sage.facts("input.requested").map(({ data }) => commandOf(data));
  assert.deepEqual([asked, sage.ran()], [commands, commands.slice(0, 2)]);
  await sage.answer(no(await waiting(commands[2])));
  assert.equal((await sage.outcome()).status, "success");
});

test("a yes of one person, where two have to give it, carries no guest over its death", async () => {
  using place = workspace();
  const script = [{ calls: [bashCall("echo a >> made.txt")] }, { text: "ok" }];
  const two: Rule = { behavior: "ask", text: "Bash(echo:*)", source: "user", consent: { approvals: 2 } };
  await using sage = await run(place.dir, script, { guestVersion: "2.0.1", rules: [two] });
  let carried = false;
  sage.store.hub.subscribe(sage.session, {
    fact() {},
    delta: ({ reason }) => void (carried ||= reason?.code === "guest-carried"),
  });
  await sage.say("go");
  const [request] = await sage.open();
  for (const group of guestsIn(place.dir)) process.kill(-group, "SIGKILL");
  await until(() => carried, "nobody was told that the guest is gone");
  // As a version of Sage that knew of no consent writes it.
  const { key } = splitRequestId(request!.id);
  const data = { requestId: request!.id, by: "Wang", surface: "old", at: Date.now(), outcome: "answered" } as const;
  await sage.store.append(sage.session, {
    ...{ key: resolvedKey(key), type: "input.resolved", at: data.at },
    data: { ...data, response: yes(request) },
  });
  await until(() => sage.facts("input.requested", "turn.ended").length > 1, "neither asked nor ended");
  assert.deepEqual([sage.facts("input.requested").length, sage.ran()], [2, []]);
  await sage.answer(no(sage.store.pending(sage.session)[0]));
  assert.equal((await sage.outcome()).status, "success");
});

test("left while it is about to keep a call, a guest keeps it: answered while nobody runs, it goes on without a word, once", async () => {
  using place = workspace();
  const script = [
    { calls: [bashCall("echo a >> made.txt")] },
    { calls: [bashCall("echo a >> made.txt")] },
    { text: "ok" },
  ];
  const env = { ...process.env, FAKE_DEFER_MS: "150" };
  const more = { store: memoryStore(), session: "one", env };
  const first = await run(place.dir, script, more);
  await first.say("go");
  const [request] = await first.open();
  await first[Symbol.asyncDispose]();
  assert.deepEqual([first.facts("guest.parked"), guestsIn(place.dir)], [[], []]);
  await respond(more.store, yes(request), { by: "Lin", surface: "test" });
  await using sage = await run(place.dir, script, more);
  const outcome = sage.outcome();
  await until(
    () => sage.facts("input.requested").length > 1 || sage.facts("turn.ended").length > 0,
    "it does not go on",
  );
  assert.deepEqual([sage.ran(), sage.heard()], [["echo a >> made.txt"], ["go"]]);
  // The same call a second time is another call.
  await sage.answer(no(sage.store.pending("one")[0]));
  assert.equal((await outcome).status, "success");
});

test("a call that may have run already is asked about again, and says so, whatever rules allow", async () => {
  using place = workspace();
  // Cut off in the midst of the command, the agent forgets its subagent, which then makes the same call again.
  const cut = bashCall("echo ran >> witness; test -e once || { touch once; kill -9 $PPID; }");
  const helper = { name: "Task", input: { prompt: "x" }, sub: [cut] };
  const store = memoryStore();
  const script = [{ calls: [helper] }, { text: "All done." }];
  const allowed = { store, session: "s", rules: [allow("Bash")] };
  const witness = () => readFileSync(place.path("witness"), "utf8");
  {
    await using sage = await run(place.dir, script, allowed);
    await sage.say("delegate it");
    const [request] = await sage.open();
    assert.deepEqual(
      request?.kind === "permission" && [request.why, request.hard, request.suggestions, request.agent],
      [reason("guest-may-have-run", { agent: "claude", before: "unknown" }), true, [], ["claude", "helper"]],
    );
    assert.equal(witness(), "ran\n");
    assert.match(sage.heard().at(-1) ?? "", /It was started, and its end was not heard of/);
  }
  // Another process has the same request open. A turn later it is asked anew; the yes is for one run.
  await using sage = await run(place.dir, script, allowed);
  const going = sage.outcome();
  const [again, ...others] = await sage.open();
  assert.deepEqual([again?.why.code, others], ["guest-may-have-run", []]);
  await sage.answer({ type: "cancelled", requestId: again?.id ?? "" });
  assert.equal((await going).status, "cancelled");
  await sage.say("go on");
  const [later] = await sage.open();
  assert.deepEqual([later?.id === again?.id, later?.why.code], [false, "guest-may-have-run"]);
  await sage.answer(yes(later));
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(witness(), "ran\nran\n");
  assert.equal(sage.facts("call.unknown").length, 1);
});

test("an agent that lost its conversation is told what it did; when it does so again, a person is asked", async () => {
  using place = workspace();
  const calls = [bashCall("echo one >> witness"), { name: "Deploy", input: { to: "staging" } }];
  const script = [...calls.map((call) => ({ calls: [call] })), { text: "All done." }];
  const options = { store: memoryStore(), session: "s", rules: [allow("Bash")] };
  {
    await using sage = await run(place.dir, script, options);
    await sage.say("both");
    await sage.open();
    await until(() => sage.facts("guest.parked").length === 1, "the guest was not left");
  }
  for (const name of readdirSync(place.dir)) if (name.startsWith("session-")) rmSync(place.path(name));
  await using sage = await run(place.dir, script, options);
  const going = sage.outcome();
  const [deploy] = await sage.open();
  await sage.answer(yes(deploy));
  const one = await until(
    () => sage.store.pending("s").find((request) => request.id !== deploy?.id),
    "nobody is asked",
  );
  assert.deepEqual(
    [commandOf(one), one.why],
    ["echo one >> witness", reason("guest-may-have-run", { agent: "claude", before: "forgotten" })],
  );
  assert.match(
    sage.heard().at(-1) ?? "",
    /done: Bash echo one[^]*ran\. Do not make them again[^]*The person allowed it[^]*both$/,
  );
  await sage.answer(no(one));
  assert.equal((await going).status, "success");
  assert.equal(readFileSync(place.path("witness"), "utf8"), "one\n");
});

test("no standing order lets a call run that may have run already", async () => {
  using place = workspace();
  const cut = bashCall("echo ran >> witness; kill -9 $PPID");
  const helper = { name: "Task", input: { prompt: "x" }, sub: [cut] };
  const mode = { type: "nonInteractive", autoResponse: "alwaysAllow" } as const;
  await using sage = await run(place.dir, [{ calls: [helper] }, { text: "All done." }], { options: { mode } });
  await sage.say("delegate it");
  assert.equal((await sage.outcome()).status, "success");
  const asked = sage.facts("input.requested").map(({ data }) => data.why.code);
  const answers = sage.facts("input.resolved").map(({ data }) => "response" in data && data.response?.type);
  assert.deepEqual([asked.slice(1), answers], [["guest-may-have-run"], ["granted", "denied"]]);
  assert.equal(readFileSync(place.path("witness"), "utf8"), "ran\n");
});
