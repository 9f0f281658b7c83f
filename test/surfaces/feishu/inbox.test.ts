import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeFeishu } from "../../support/feishu/platform.ts";
import { bridge, card, until } from "./bridge.ts";

test("a message that was acknowledged and not yet handed on is there after a crash", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  const begun: string[] = [];
  const never = new Promise<void>(() => {});
  await using first = await bridge(feishu, {
    timings: { leaveMs: 10 },
    onMessage: ({ text }) => {
      begun.push(text);
      return never;
    },
  });
  lin.say("one");
  await until(() => begun.length === 1);
  lin.say("two");
  await feishu.delivery.idle();
  assert.ok(feishu.delivery.attempts.every(({ ok }) => ok));
  const tries = first.store.list("inbox/").map(({ value }) => (value as { tries: number }).tries);
  assert.deepEqual(tries, [1, 0], "a try counts before it is made");
  await first.close();
  await using second = await bridge(feishu, { dir: first.dir });
  await until(() => second.got.length === 2);
  assert.deepEqual([begun, second.texts()], [["one"], ["one", "two"]]);
  assert.deepEqual(second.store.list("inbox/"), []);
  await second.close();
  await using third = await bridge(feishu, { dir: first.dir });
  await sleep(50);
  assert.deepEqual(third.texts(), []);
});

test("redelivered within hours, under another event id, it is still the same message", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  lin.say("hello");
  await until(() => sage.got.length === 1);
  await until(() => feishu.delivery.attempts.length === 1);
  feishu.clock.advance(7 * 60 * 60_000);
  const eventId = feishu.delivery.attempts[0]?.eventId ?? "";
  const ack = await feishu.delivery.redeliver(eventId, { newEventId: true });
  await sleep(30);
  assert.deepEqual([ack?.code, sage.texts()], [200, ["hello"]]);
});

test("a message older than what is remembered is left alone", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  lin.say("old");
  await until(() => sage.got.length === 1);
  await until(() => feishu.delivery.attempts.length === 1);
  feishu.clock.advance(25 * 60 * 60_000);
  await feishu.delivery.redeliver(feishu.delivery.attempts[0]?.eventId ?? "");
  await sleep(30);
  assert.deepEqual(sage.texts(), ["old"]);
});

test("messages of a chat are handed on in their order, and one chat does not hold another", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  const mei = feishu.user("Mei");
  const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
  const got: string[] = [];
  await using _ = await bridge(feishu, {
    onMessage: async ({ text }) => {
      if (text === "1") await blocked;
      got.push(text);
    },
  });
  for (const text of ["1", "2", "3"]) {
    lin.say(text);
    await sleep(2);
  }
  mei.say("other");
  await until(() => got.includes("other"));
  assert.deepEqual(got, ["other"]);
  unblock();
  await until(() => got.length === 4);
  assert.deepEqual(got, ["other", "1", "2", "3"]);
});

test("a handler that fails gets the message again, and gives the others a chance in the end", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  let tries = 0;
  const got: string[] = [];
  await using sage = await bridge(feishu, {
    onMessage: ({ text }) => {
      if (text === "bad" && ++tries < 2) throw new Error("not now");
      got.push(text);
    },
  });
  lin.say("bad");
  await until(() => got.length === 1);
  assert.deepEqual([got, tries], [["bad"], 2]);
  assert.match(sage.logged.join("\n"), /could not be handed on: not now/);
});

test("a message that takes the process down each time is given up", async () => {
  await using feishu = await fakeFeishu();
  await using first = await bridge(feishu);
  const message = {
    messageId: "om_poison",
    chatId: "oc_1",
    chatType: "p2p",
    sender: { openId: "ou_1", tenantKey: "t" },
    kind: "text",
    text: "poison",
    mentionsBot: false,
    mentions: [],
    attachments: [],
    at: 1,
  };
  // As it lies there after the fifth crash.
  first.store.set("inbox/000000000000001/om_poison", { message, tries: 5 });
  await first.close();
  await using second = await bridge(feishu, { dir: first.dir });
  await until(() => second.store.list("inbox/").length === 0);
  assert.deepEqual(second.texts(), []);
});

for (const mode of ["socket", "webhook"] as const)
  test(`${mode}: what cannot be recorded is not acknowledged, and comes again`, async () => {
    await using feishu = await fakeFeishu();
    const lin = feishu.user("Lin");
    let full = true;
    await using sage = await bridge(feishu, {
      mode,
      wrap: (store) => ({
        ...store,
        atomically(work) {
          if (full) throw new Error("the disk is full");
          return store.atomically(work);
        },
      }),
    });
    lin.say("kept");
    await until(() => feishu.delivery.attempts.length === 1);
    assert.deepEqual([feishu.delivery.attempts[0]?.ok, sage.texts()], [false, []]);
    full = false;
    feishu.clock.advance(15_000);
    await until(() => sage.got.length === 1);
    await until(() => feishu.delivery.attempts.length === 2);
    assert.deepEqual([feishu.delivery.attempts[1]?.ok, sage.texts()], [true, ["kept"]]);
  });

test("bots, other senders and what cannot be read are left alone; posts and pictures are read", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const event = (sender: object, message: object) =>
    feishu.delivery.event("im.message.receive_v1", {
      sender: { sender_type: "user", tenant_key: "t", sender_id: { open_id: lin.openId }, ...sender },
      message: {
        message_id: `om_${randomUUID()}`,
        create_time: String(feishu.clock.now()),
        chat_id: lin.chat,
        chat_type: "p2p",
        message_type: "text",
        content: '{"text":"x"}',
        ...message,
      },
    });
  event({ sender_type: "app" }, {});
  event({ sender_id: {} }, {});
  event({}, { message_id: "" });
  event({}, { message_id: "../../om_1" });
  feishu.delivery.event("im.message.receive_v1", { nonsense: true });
  event({}, { message_type: "sticker", content: "{}" });
  event({}, { content: "no JSON" });
  lin.post([
    [
      { tag: "text", text: "看 " },
      { tag: "a", text: "this", href: "https://example.com" },
      { tag: "img", image_key: "img_1" },
    ],
    [{ tag: "code_block", language: "TypeScript", text: "let a = 1;\n" }],
    [{ tag: "img", image_key: "../../etc" }],
  ]);
  await until(() => sage.got.length === 3);
  await feishu.delivery.idle();
  assert.ok(feishu.delivery.attempts.every(({ ok }) => ok));
  const byKind = new Map(sage.got.map((message) => [message.kind, message]));
  assert.deepEqual([byKind.get("sticker")?.text, byKind.get("text")?.text], ["", ""]);
  assert.equal(byKind.get("post")?.text, "看 this (https://example.com)\n\n```typescript\nlet a = 1;\n```");
  assert.deepEqual(byKind.get("post")?.attachments, [{ kind: "image", key: "img_1" }]);
});

test("nothing is acknowledged and nothing sent before the memory is kept; who has lost the bot does neither", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  await using sage = await bridge(feishu, { kept: () => gate.promise });
  gate = Promise.withResolvers();
  lin.say("hello");
  await until(() => sage.got.length === 1);
  const sending = sage.channel.sendCard({ chat: lin.openId, uuid: "u1", card: card("hi") });
  const [tried, seen] = [
    () => feishu.delivery.attempts.filter(({ ok }) => ok).length,
    () => feishu.seen(lin.chat).length,
  ];
  const before = [tried(), seen()];
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual([tried(), seen()], before);
  gate.resolve();
  await sending;
  await until(() => tried() === (before[0] ?? 0) + 1);
  gate = Promise.withResolvers();
  gate.promise.catch(() => {});
  gate.reject(new Error("another gateway took it"));
  await assert.rejects(sage.channel.sendCard({ chat: lin.openId, uuid: "u2", card: card("late") }), /another gateway/);
  assert.equal(seen(), (before[1] ?? 0) + 1);
});
