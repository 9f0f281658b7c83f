import * as lark from "@larksuiteoapi/node-sdk";
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCard } from "../../support/feishu/card-check.ts";
import { fakeFeishu, type FakeFeishu } from "../../support/feishu/platform.ts";
import { until } from "./bridge.ts";

// The stand-in for the platform is worth as much as the real client library agrees with it.

const quiet = { error() {}, warn() {}, info() {}, debug() {}, trace() {} };
const base = (feishu: FakeFeishu) => ({
  appId: feishu.appId,
  appSecret: feishu.appSecret,
  domain: feishu.url,
  logger: quiet,
});
const clientOf = (feishu: FakeFeishu) => new lark.Client({ ...base(feishu), cache: new lark.DefaultCache() });
const card = (text: string, ...more: object[]) => ({
  schema: "2.0",
  config: { update_multi: true },
  body: { elements: [{ tag: "markdown", element_id: "out", content: text }, ...more] },
});
const button = {
  tag: "button",
  element_id: "yes",
  text: { tag: "plain_text", content: "Yes" },
  behaviors: [{ type: "callback", value: { k: "perm", rid: "p_1" } }],
};

async function connect(feishu: FakeFeishu, handlers: Record<string, (data: never) => unknown>) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new lark.WSClient({ ...base(feishu), onReady: resolve, onError: reject });
  void socket.start({ eventDispatcher: new lark.EventDispatcher({ logger: quiet }).register(handlers) });
  await promise;
  return { [Symbol.dispose]: () => socket.close({ force: true }) };
}

test("the client library sends, replies, patches, streams and uploads", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("林");
  const client = clientOf(feishu);
  const sent = await client.im.v1.message.create({
    params: { receive_id_type: "chat_id" },
    data: {
      receive_id: lin.chat,
      msg_type: "interactive",
      content: JSON.stringify(card("一", button)),
      uuid: "u1",
    },
  });
  assert.equal(sent.code, 0);
  const id = sent.data?.message_id ?? "";
  await client.im.v1.message.patch({
    path: { message_id: id },
    data: { content: JSON.stringify(card("二")) },
  });
  const reply = await client.im.v1.message.reply({
    path: { message_id: id },
    data: { msg_type: "text", content: JSON.stringify({ text: "hello" }), reply_in_thread: true },
  });
  const entity = await client.cardkit.v1.card.create({
    data: {
      type: "card_json",
      data: JSON.stringify({ ...card("…"), config: { update_multi: true, streaming_mode: true } }),
    },
  });
  const cardId = entity.data?.card_id ?? "";
  await client.im.v1.message.create({
    params: { receive_id_type: "open_id" },
    data: {
      receive_id: lin.openId,
      msg_type: "interactive",
      content: JSON.stringify({ type: "card", data: { card_id: cardId } }),
    },
  });
  await client.cardkit.v1.cardElement.content({
    path: { card_id: cardId, element_id: "out" },
    data: { content: "streamed", sequence: 7 },
  });
  const stale = await client.cardkit.v1.cardElement
    .content({ path: { card_id: cardId, element_id: "out" }, data: { content: "late", sequence: 7 } })
    .catch((error: { response: { data: { code: number } } }) => error.response.data);
  assert.equal(stale.code, 300317);
  await client.cardkit.v1.card.settings({
    path: { card_id: cardId },
    data: { settings: JSON.stringify({ config: { streaming_mode: false } }), sequence: 8 },
  });
  const file = await client.im.v1.file.create({
    data: { file_type: "stream", file_name: "日志.txt", file: Buffer.from("content") },
  });
  await client.im.v1.message.create({
    params: { receive_id_type: "chat_id" },
    data: {
      receive_id: lin.chat,
      msg_type: "file",
      content: JSON.stringify({ file_key: file?.file_key }),
    },
  });
  const thread = reply.data?.thread_id;
  assert.deepEqual(
    feishu.seen(lin.chat).map((one) => [one.from, one.kind, one.text, one.thread, one.streaming]),
    [
      ["bot", "interactive", "二", thread, false],
      ["bot", "text", "hello", thread, false],
      ["bot", "interactive", "streamed", undefined, false],
      ["bot", "file", "日志.txt", undefined, false],
    ],
  );
  assert.equal(feishu.count(/tenant_access_token/), 1);
});

test("messages and clicks arrive over the long connection, whole or in pieces, and the answer is shown", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  const heard: string[] = [];
  using _ = await connect(feishu, {
    "im.message.receive_v1": (data: { message: { content: string } }) => void heard.push(data.message.content),
    "card.action.trigger": (data: { action: { value: unknown } }) => ({
      toast: { type: "success", content: JSON.stringify(data.action.value) },
      card: { type: "raw", data: card("answered") },
    }),
  });
  feishu.sockets.fragments = 3;
  lin.say("你好，世界");
  await feishu.delivery.idle();
  assert.deepEqual(heard, ['{"text":"你好，世界"}']);
  const client = clientOf(feishu);
  const sent = await client.im.v1.message.create({
    params: { receive_id_type: "chat_id" },
    data: { receive_id: lin.chat, msg_type: "interactive", content: JSON.stringify(card("?", button)) },
  });
  const shown = await lin.click(sent.data?.message_id ?? "", "yes");
  assert.deepEqual(shown.toast, { type: "success", content: '{"k":"perm","rid":"p_1"}' });
  assert.equal(feishu.seen(lin.chat)[1]?.text, "answered");
});

test("what nobody acknowledges is delivered again after 15 s, 5 min, 1 h and 6 h, and then no more", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  using _ = await connect(feishu, {
    "im.message.receive_v1": () => {
      throw new Error("not now");
    },
  });
  const began = feishu.clock.now();
  lin.say("hello");
  for (const [n, ms] of [15_000, 300_000, 3_600_000, 21_600_000, 86_400_000].entries()) {
    await until(() => feishu.delivery.attempts.length === n + 1);
    feishu.clock.advance(ms);
  }
  await feishu.delivery.idle();
  const minutes = feishu.delivery.attempts.map(({ at, ok }) => [Math.round((at - began) / 60_000), ok]);
  assert.deepEqual(minutes, [
    [0, false],
    [0, false],
    [5, false],
    [65, false],
    [425, false],
  ]);
});

test("a card with something the platform does not know is refused", () => {
  const broken: [number, object][] = [
    [200621, { ...card("x"), elements: [] }],
    [200621, card("x", { tag: "markdown", content: "y", colour: "red" })],
    [200861, card("x", { tag: "action", actions: [] })],
    [200621, card("x", { tag: "form", name: "f", elements: [{ ...button, name: "b" }] })],
    [200530, card("x", { tag: "form", name: "f", elements: [{ tag: "input" }] })],
    [300301, card("x", { tag: "hr", element_id: "out" })],
    [300301, card("x", { tag: "hr", element_id: "1st" })],
    [200621, card("x", { tag: "multi_select_static", options: [] })],
    [300302, { ...card("x"), config: { update_multi: false } }],
    [230025, card("长".repeat(11_000))],
    [11310, card("x", ...Array.from({ length: 200 }, () => ({ tag: "hr" })))],
    [11310, card("|a|b|\n|---|---|\n|1|2|\n\n".repeat(4))],
    [200621, card("x", { ...button, element_id: "b", behaviors: [{ type: "callback", value: "text" }] })],
  ];
  assert.deepEqual(
    broken.map(([, one]) => checkCard(one)?.code),
    broken.map(([code]) => code),
  );
  assert.equal(checkCard(card("x", button)), undefined);
});
