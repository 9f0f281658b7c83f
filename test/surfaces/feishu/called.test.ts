import { enforcedUntilNow } from "../../support/enforced.ts";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { remindedKey } from "../../../src/protocol/key.ts";
import { askUser, bash, question } from "../../support/sage.ts";
import { said, team, until } from "./team.ts";

const mark = bash("echo ran >> ran.txt");

test("in a group the card mentions every approver who is there, and asks the others in their own chats, with a link back", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "the end" }] });
  const { lin, mei, feishu, cwd } = sage;
  const others = Array.from({ length: 6 }, (_, n) => feishu.user(`审批人${n}`));
  const group = feishu.group("开发", [lin, mei, ...others.slice(0, 4)]);
  const approve = [lin, ...others].map(({ openId }) => openId);
  sage.set({ people: { ...sage.people, approve } });
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  assert.deepEqual(card.pings, approve.slice(0, 5), "all who are there, and nobody else");
  assert.match(card.text, /If nobody answers by \d\d:\d\d, the task is cancelled/);
  for (const absent of others.slice(4)) {
    const own = await sage.card(absent.chat, "Allow once");
    assert.match(own.text, /Task from Mei/);
    assert.ok(own.buttons.includes("Open the chat"));
    assert.ok(JSON.stringify(own.card).includes(`https://applink.feishu.cn/client/chat/open?openChatId=${group}`));
  }
  const [, , , , , last] = others;
  const own = await sage.card(last?.chat ?? "", "Allow once");
  await last?.click(own.id, "allow_once");
  await feishu.until(group, ({ id, text }) => id === card.id && /Answered by 审批人5 in Feishu/.test(text));
  await sage.sees(group, /the end/);
  assert.ok(existsSync(join(cwd, "ran.txt")));
  assert.deepEqual(said(feishu, lin.chat), [], "who was called in the group is not asked twice");
});

test("where nobody can tell who is in a group, approvers are called in both places", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "the end" }] });
  const { lin, mei, feishu } = sage;
  feishu.world.granted.delete("im:chat.members:read");
  const group = feishu.group("dev", [lin, mei]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  assert.deepEqual(card.pings, [lin.openId]);
  const own = await sage.card(lin.chat, "Allow once");
  await lin.click(own.id, "deny");
  await feishu.until(group, ({ id, text }) => id === card.id && /Permission: denied/.test(text));
});

test("a question calls whoever gave the task, and nobody else", async () => {
  await using sage = await team({ script: [{ calls: [askUser(question("Which?"))] }, { text: "the end" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  mei.say("go", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Red");
  assert.deepEqual(card.pings, [mei.openId]);
  assert.deepEqual(said(feishu, lin.chat), []);
  await mei.click(card.id, "pick_0");
  await sage.sees(group, /the end/);
});

test("the hint of a card works to the letter in a thread of a group, where nothing can be quoted", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "as you wish" }] });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  const hint = /@Sage (\/deny #\d{6}) and a reason/.exec(card.text)?.[1] ?? "";
  // Without the permission to hear everything, the bot hears only what mentions it: the hint does.
  lin.say(`${hint} facade is wrong`, { chat: group, replyTo: card.id, mentionBot: true });
  await sage.sees(group, /as you wish/);
  const [end] = sage.facts("input.resolved");
  assert.deepEqual(end?.data.outcome === "answered" && end.data.response, {
    type: "denied",
    requestId: end?.data.requestId,
    reason: "facade is wrong",
  });
});

const MINUTE = 60_000;

test("people are reminded once for each fact, the last one where several are made up for, also over restarts", async (t) => {
  await using sage = await team({
    script: [{ calls: [mark] }, { text: "the end" }],
    settings: { limits: { promptTimeout: 60 * MINUTE, timeoutPolicy: "cancel" } },
  });
  const { lin, mei, feishu } = sage;
  const group = feishu.group("dev", [lin, mei]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  await sage.surface.settled();
  const reminders = () => said(feishu, group).filter(({ text }) => /Still waiting for an answer/.test(text));
  assert.equal(reminders().length, 0);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 50 * MINUTE });
  enforcedUntilNow(sage.store);
  await sage.restart();
  await until(() => reminders().length === 1);
  const [one] = reminders();
  assert.match(one?.text ?? "", /If nobody answers within (9|10) min[^,]*, the task is cancelled/);
  assert.deepEqual([one?.pings, one?.parent], [[lin.openId], card.id]);
  assert.equal(sage.facts("input.reminded").length, 1);
  await sage.restart();
  await sage.surface.settled();
  assert.equal(reminders().length, 1);
  // Several at once, as after a time in which nobody ran: the last of them is told, once.
  const [request] = sage.facts("input.requested");
  const { session = "", key = "", data } = request ?? {};
  const remind = (n: number) =>
    sage.store.append(session, {
      ...{ key: remindedKey(key, n), type: "input.reminded", at: Date.now() },
      data: { requestId: data?.id ?? "", n },
    });
  for (const n of [1, 2, 3]) remind(n);
  await until(() => reminders().length === 2);
  await sage.surface.settled();
  for (const _again of [1, 2]) {
    feishu.world.uuids.clear(); // the platform remembers for an hour what it was sent
    await sage.restart();
    await sage.surface.settled();
    assert.equal(reminders().length, 2);
  }
  await lin.click(card.id, "allow_once");
  await sage.sees(group, /the end/);
});

test("a request that waits for ever is reminded of without a word about its end", async () => {
  await using sage = await team({
    script: [{ calls: [mark] }, { text: "the end" }],
    settings: { limits: { timeoutPolicy: "wait" } },
  });
  const { lin } = sage;
  lin.say("run it");
  await sage.card(lin.chat, "Allow once");
  await sage.surface.settled();
  const [request] = sage.facts("input.requested");
  assert.equal(request?.data.deadline, undefined);
  const { session = "", key = "", data } = request ?? {};
  sage.store.append(session, {
    ...{ key: remindedKey(key, 0), type: "input.reminded", at: Date.now() },
    data: { requestId: data?.id ?? "", n: 0 },
  });
  await sage.sees(lin.chat, /Still waiting for an answer\.$/);
});

test("escalation: who comes later is called when nobody has answered, in the group or alone, once over restarts", async (t) => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "the end" }] });
  const { lin, mei, feishu } = sage;
  const [wang, zhao] = [feishu.user("Wang"), feishu.user("Zhao")];
  const names = { [lin.openId]: "Lin", [wang.openId]: "Wang", [zhao.openId]: "Zhao" };
  const approve = [lin.openId, wang.openId, zhao.openId];
  sage.set({
    people: { ...sage.people, approve, names },
    limits: { promptTimeout: 10 * MINUTE, timeoutPolicy: { escalate: ["Wang", "Zhao"], end: "deny" } },
  });
  const group = feishu.group("dev", [lin, mei, wang]);
  mei.say("run it", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  assert.deepEqual(card.pings, [lin.openId]);
  assert.match(card.text, /by \d\d:\d\d, Wang is asked[^]*by \d\d:\d\d, Zhao is asked[^]*it counts as a no/);
  assert.deepEqual(said(feishu, zhao.chat), []);
  const [request] = sage.facts("input.requested");
  assert.equal(request?.data.deadline?.timeoutMs, 30 * MINUTE);
  await sage.surface.settled();
  const start = Date.now();
  t.mock.timers.enable({ apis: ["Date"], now: start + 11 * MINUTE });
  enforcedUntilNow(sage.store);
  await sage.restart();
  const calls = () => said(feishu, group).filter(({ text }) => /Now asking Wang/.test(text));
  await until(() => calls().length === 1);
  assert.deepEqual(calls()[0]?.pings, [wang.openId]);
  assert.deepEqual(said(feishu, zhao.chat), []);
  t.mock.timers.setTime(start + 21 * MINUTE);
  enforcedUntilNow(sage.store);
  await sage.restart();
  const own = await sage.card(zhao.chat, "Allow once");
  await sage.surface.settled();
  assert.equal(calls().length, 1, "once is enough");
  await zhao.click(own.id, "allow_once");
  await sage.sees(group, /the end/);
});

test("nobody answers, and the policy is deny: the call is refused, and the task goes on", async () => {
  await using sage = await team({
    script: [{ calls: [mark] }, { text: "then not" }],
    settings: { limits: { promptTimeout: 1_000, timeoutPolicy: "deny" } },
  });
  const { lin, feishu, cwd } = sage;
  lin.say("go");
  const card = await sage.card(lin.chat, "Allow once");
  assert.match(card.text, /it counts as a no, and the task continues/);
  await sage.sees(lin.chat, /Done[^]*then not/);
  await feishu.until(lin.chat, ({ id, text }) => id === card.id && /which counts as a no\. Nothing ran/.test(text));
  assert.ok(!existsSync(join(cwd, "ran.txt")));
  assert.match(sage.facts("call.finished")[0]?.data.text ?? "", /Silence is not consent/);
});

test("/timeout says how long a request waits in this chat and what then, and changes it", async () => {
  await using sage = await team({ lang: "zh", script: [{ calls: [mark] }, { text: "好" }] });
  const { lin, mei } = sage;
  lin.say("/timeout");
  await sage.sees(lin.chat, /5 分钟内无人回答，任务将被取消。\n一个任务最多工作 30 分钟/);
  mei.say("/timeout 2h");
  await sage.sees(mei.chat, /只有管理员可以这样做/);
  lin.say("/timeout 2h fail");
  await sage.sees(lin.chat, /2 小时内无人回答，任务将失败/);
  lin.say("go");
  const card = await sage.card(lin.chat, "允许一次");
  assert.match(card.text, /前无人回答，任务将失败/);
  assert.equal(sage.facts("input.requested")[0]?.data.deadline?.timeoutMs, 2 * 60 * 60_000);
  await lin.click(card.id, "allow_once");
  await sage.sees(lin.chat, /任务完成/);
  lin.say("/timeout off");
  await sage.sees(lin.chat, /请求会一直等到有人回答/);
  lin.say("/timeout soon");
  await sage.sees(lin.chat, /例如：\/timeout 30m/);
  assert.deepEqual(sage.changes.at(-1), {
    type: "chat",
    chat: lin.chat,
    settings: { limits: { promptTimeout: 2 * 60 * 60_000, timeoutPolicy: "wait" } },
  });
});

test("each person reads cards, toasts and replies in the language of their client", async () => {
  await using sage = await team({ script: [{ calls: [mark] }, { text: "the end" }] });
  const { feishu } = sage;
  const [hua, joe] = [feishu.user("华", "zh_cn"), feishu.user("Joe", "en_us")];
  const group = feishu.group("mixed", [hua, joe]);
  const ids = [hua.openId, joe.openId];
  sage.set({ people: { ...sage.people, talk: ids, approve: [joe.openId] } });
  hua.say("跑一下", { chat: group, mentionBot: true });
  const card = await sage.card(group, "Allow once");
  const at = (locale: "zh_cn" | "en_us") => feishu.seen(group, locale).find(({ id }) => id === card.id);
  assert.match(at("zh_cn")?.text ?? "", /需要许可[^]*前无人回答，任务将被取消/);
  assert.match(at("en_us")?.text ?? "", /Permission needed[^]*the task is cancelled/);
  assert.equal((await hua.click(card.id, "allow_once")).toast?.content, "你无权回答此请求");
  assert.equal((await joe.click(card.id, "allow_once")).toast?.content, "Allowed once");
  const done = await sage.sees(group, /the end/);
  await sage.surface.settled();
  const end = feishu.seen(group, "zh_cn").find(({ id }) => id === done.id);
  assert.match(end?.text ?? "", /任务完成[^]*次工具调用/);
  hua.say("/status", { chat: group, replyTo: done.id, mentionBot: true });
  const status = await sage.sees(group, /Session \w+: idle/);
  assert.match(feishu.seen(group, "zh_cn").find(({ id }) => id === status.id)?.text ?? "", /会话 \w+：空闲/);
});
