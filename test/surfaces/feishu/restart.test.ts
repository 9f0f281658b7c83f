import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import { deleteSession } from "../../../src/archive/sessions.ts";
import { bash } from "../../support/sage.ts";
import { ask, said, team, until } from "./team.ts";

const mark = bash("echo ran >> ran.txt");

test("a restart in the middle of a question: the same request, the same card, the same turn", async () => {
  await using sage = await team({
    lang: "zh",
    script: [{ calls: [mark] }, { calls: [ask("名字？")] }, { text: "好了" }],
  });
  const { lin, feishu, cwd } = sage;
  lin.say("开始");
  const card = await sage.card(lin.chat, "允许一次");
  const [before] = sage.store.pending();
  await sage.surface.settled();
  await sage.crash();
  assert.ok(!existsSync(join(cwd, "ran.txt")));
  await sage.restart();
  // A message that was delivered before the crash comes again, under a new event id.
  await feishu.delivery.redeliver(feishu.delivery.attempts[0]?.eventId ?? "", { newEventId: true });
  assert.deepEqual(
    sage.store.pending().map(({ id }) => id),
    [before?.id],
  );
  assert.equal(said(feishu, lin.chat).filter(({ buttons }) => buttons.includes("允许一次")).length, 1);
  await lin.click(card.id, "allow_once");
  const text = await sage.sees(lin.chat, /名字？/);
  await sage.restart();
  await lin.submit(text.id, { text: "新文件.js" });
  await sage.sees(lin.chat, /任务完成/);
  assert.equal(readFileSync(join(cwd, "ran.txt"), "utf8"), "ran\n");
  assert.equal(sage.facts("user.said").length, 1);
  assert.equal(sage.facts("turn.begun").length, 1);
  await sage.surface.settled();
  assert.ok(said(feishu, lin.chat).every(({ streaming }) => !streaming));
});

test("answered elsewhere while Sage was away: its card is folded on the way back, and so is the end told", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "all done" }] });
  const { lin, feishu } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Allow once");
  await sage.surface.settled();
  await sage.crash();
  {
    const { respond } = await import("../../../src/input/respond.ts");
    const store = sqliteStore(join(sage.dir, "journal.db"));
    const [request] = store.pending();
    await respond(store, { type: "granted", requestId: request?.id ?? "" }, { by: "Ada", surface: "plain" });
    store.close();
  }
  await sage.restart();
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /Answered by Ada in the terminal/.test(text));
  await sage.sees(lin.chat, /Done[^]*all done/);
});

test("a progress card of a process that is gone is closed, and the turn goes on below", async () => {
  await using sage = await team({ script: [{ text: "a long story", delayMs: 60_000 }] });
  const { lin, feishu } = sage;
  lin.say("tell me");
  const card = await sage.card(lin.chat, "Stop");
  await sage.surface.settled();
  await sage.crash();
  await sage.restart([{ text: "short" }]);
  await feishu.until(
    lin.chat,
    ({ id, text }) => id === card.id && /Interrupted by a restart[^]*continues below/.test(text),
  );
  const done = await sage.sees(lin.chat, /Done[^]*short/);
  assert.notEqual(done.id, card.id);
  await sage.surface.settled();
  assert.ok(said(feishu, lin.chat).every(({ streaming }) => !streaming));
});

test("a session that was deleted while Sage was away leaves no card that waits or works", async () => {
  await using sage = await team({ script: [{ calls: [mark] }] });
  const { lin, mei, feishu, dir } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Allow once");
  await sage.surface.settled();
  const [asking] = sage.store.sessions();
  await sage.restart([{ text: "a long story", delayMs: 60_000 }]);
  mei.say("tell me");
  const story = await sage.card(mei.chat, "Stop");
  await sage.surface.settled();
  const told = sage.store.sessions().find(({ id }) => id !== asking?.id);
  await sage.crash();
  const store = sqliteStore(join(dir, "journal.db"));
  const home = { settings: join(dir, "settings.json"), output: join(dir, "output") };
  for (const session of [asking, told])
    await deleteSession(store, home, session?.id ?? "", { by: "Ada", surface: "plain" });
  store.close();
  await sage.restart([]);
  await feishu.until(lin.chat, ({ id, buttons }) => id === card.id && buttons.length === 0);
  await feishu.until(mei.chat, ({ id, buttons, streaming }) => id === story.id && !streaming && buttons.length === 0);
});

test("the card that could not be sent before the crash is sent after it, once", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "done" }] });
  const { lin, feishu } = sage;
  // The platform takes its time, and the process dies before it hears what became of the card.
  feishu.delay(/POST .*im\/v1\/messages/, 1_300);
  lin.say("go");
  await until(() => sage.store.pending().length === 1);
  await sage.crash();
  feishu.world.delays.length = 0;
  await sage.restart();
  const card = await sage.card(lin.chat, "Allow once");
  await sage.surface.settled();
  assert.equal(said(feishu, lin.chat).filter(({ buttons }) => buttons.includes("Allow once")).length, 1);
  await lin.click(card.id, "allow_once");
  await sage.sees(lin.chat, /Done/);
});

test("nobody answers in time: the card expires, the task is cancelled, and that is said", async () => {
  await using sage = await team({
    lang: "zh",
    script: [{ calls: [mark] }, { text: "never" }, { text: "再来" }],
    settings: { limits: { promptTimeout: 1_500, timeoutPolicy: "cancel" } },
  });
  const { lin, feishu, cwd } = sage;
  lin.say("开始");
  const card = await sage.card(lin.chat, "允许一次");
  const stale = structuredClone(feishu.message(card.id).card);
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /已过期[^]*无人回答/.test(text));
  await sage.sees(lin.chat, /已停止[^]*操作超时，已取消/);
  assert.equal(sage.facts("turn.ended")[0]?.data.status, "cancelled");
  feishu.message(card.id).card = stale ?? {};
  assert.equal((await lin.click(card.id, "allow_once")).toast?.content, "此请求已过期");
  assert.ok(!existsSync(join(cwd, "ran.txt")));
});

test("a task that works too long is stopped, and that is said; other turns have no limit", async () => {
  await using sage = await team({
    script: [{ text: "slow", delayMs: 60_000 }],
    settings: { limits: { taskLimit: 200 } },
  });
  sage.lin.say("go");
  await sage.sees(sage.lin.chat, /Failed[^]*The task was stopped: it reached its limit of 200 ms/);
  const [said_] = sage.facts("user.said");
  assert.deepEqual(said_?.data.limits, { executionTimeout: 200 });
});
