import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { reason, SageError } from "../../../src/protocol/reasons/reason.ts";
import { bash } from "../../support/sage.ts";
import { said, team, until } from "./team.ts";

const story = "长".repeat(30_000);

test("a file that cannot be sent: the card promises none, and is not posted again by a restart", async () => {
  await using sage = await team({ script: [{ text: `${story}\n\n[notes](notes.txt)` }, { text: "next" }] });
  const { lin, feishu, cwd } = sage;
  writeFileSync(join(cwd, "notes.txt"), "notes");
  feishu.failNext(/POST .*im\/v1\/files/, { code: 234006, msg: "The file size exceed the max value.", times: 10 });
  lin.say("go");
  const done = await sage.sees(lin.chat, /Done/);
  await sage.surface.settled();
  assert.match(done.text, /could not be sent as a file[^]*Could not be sent: notes\.txt/);
  assert.doesNotMatch(done.text, /answer\.md/);
  const before = said(feishu, lin.chat).length;
  for (let times = 0; times < 2; times++) {
    await sage.restart();
    feishu.clock.advance(2 * 60 * 60_000); // the platform has forgotten by which mark it was sent
    await sage.surface.settled();
    assert.equal(said(feishu, lin.chat).length, before);
  }
  lin.say("again");
  await sage.sees(lin.chat, /next/);
});

test("a file that arrives is named on the card, which comes after it", async () => {
  await using sage = await team({ script: [{ text: story }] });
  const { lin, feishu } = sage;
  lin.say("go");
  await sage.sees(lin.chat, /Done[^]*The full answer is in the file answer\.md/);
  await sage.surface.settled();
  const calls = feishu.world.calls.map(({ route }) => route);
  const uploaded = calls.findIndex((route) => /POST .*im\/v1\/files/.test(route));
  assert.ok(uploaded >= 0);
  assert.ok(calls.slice(uploaded).some((route) => /PUT .*cardkit\/v1\/cards\/[^/]+$|POST .*messages/.test(route)));
});

test("a help card that cannot be sent delays nobody", async () => {
  await using sage = await team({ script: [{ text: "the answer" }], timings: { retryMs: 60_000 } });
  const { lin, feishu } = sage;
  feishu.failNext(/POST .*\/reply/, { status: 500, code: 1500, times: 1_000 });
  lin.say("/help");
  await until(() => feishu.count(/POST .*\/reply/) > 0);
  lin.say("go");
  await sage.sees(lin.chat, /the answer/);
});

test("/stop overtakes a download, and what was said before it is not begun", async () => {
  await using sage = await team({ script: [{ text: "never" }] });
  const { lin, feishu } = sage;
  feishu.delay(/GET .*\/resources\//, 60_000);
  lin.send("file", Buffer.from("x"), "large.bin");
  feishu.clock.advance(1); // within one millisecond nobody can tell which was first
  lin.say("and then this");
  await until(() => feishu.delivery.attempts.length === 2);
  lin.say("/stop");
  await sage.sees(lin.chat, /Stopping/);
  await until(() => said(feishu, lin.chat).filter(({ text }) => /Stopped before it started/.test(text)).length === 2);
  assert.deepEqual(sage.facts("user.said"), []);
  lin.say("now this");
  await sage.sees(lin.chat, /never/);
  assert.deepEqual(
    sage.facts("user.said").map(({ data }) => data.text),
    ["now this"],
  );
});

test("/stop overtakes a long queue: it is carried out before anything that waits in its chat", async () => {
  await using sage = await team({ script: [{ text: "never" }] });
  const { lin, feishu } = sage;
  feishu.delay(/GET .*\/resources\//, 60_000);
  lin.send("file", Buffer.from("x"), "large.bin");
  const waiting = 30;
  for (let n = 1; n <= waiting; n++) {
    feishu.clock.advance(1);
    lin.say(`and then ${n}`);
  }
  await until(() => feishu.delivery.attempts.length === waiting + 1);
  assert.deepEqual(said(feishu, lin.chat), [], "the download holds everything up");
  feishu.clock.advance(1);
  lin.say("/stop");
  await sage.sees(lin.chat, /Stopping/);
  await until(() => said(feishu, lin.chat).filter(({ text }) => /Stopped before it/.test(text)).length === waiting + 1);
  assert.deepEqual(sage.facts("user.said"), [], "nothing that waited was begun");
});

test("a card that the platform fails on each time is said in words, and the task goes on", async () => {
  await using sage = await team({
    script: [{ text: "on it", delayMs: 900, calls: [bash("echo hi > hi.txt")] }, { text: "the end" }],
    timings: { retryMs: 1 },
  });
  const { lin, feishu } = sage;
  lin.say("go");
  await sage.card(lin.chat, "Stop");
  const broken = { status: 500, code: 1500, times: 5 };
  feishu.failNext(/POST .*im\/v1\/messages/, broken);
  const asked = await sage.sees(lin.chat, /The card could not be shown[^]*\/allow/);
  assert.equal(asked.kind, "post");
  const code = /\/allow (#\d+)/.exec(asked.text)?.[1] ?? "";
  lin.say(`/allow ${code}`);
  await sage.sees(lin.chat, /the end/);
});

test("a turn that fails for a known reason says why in the language of its reader", async () => {
  const failing = () => {
    throw new SageError("turn-failed", reason("nobody-said-go-on", { times: 3 }));
  };
  await using sage = await team({ script: [failing], lang: "zh" });
  const { lin } = sage;
  lin.say("开始");
  const card = await sage.sees(lin.chat, /失败/);
  assert.match(card.text, /失败：智能体把同一件事做了 3 次/);
});
