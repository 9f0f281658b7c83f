import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { FeishuFailure } from "../../../src/surfaces/feishu/channel/failure.ts";
import { fakeFeishu } from "../../support/feishu/platform.ts";
import { bridge, button, card, until } from "./bridge.ts";

for (const mode of ["socket", "webhook"] as const)
  test(`${mode}: a message arrives once, however often it is delivered, and a click is answered`, async () => {
    await using feishu = await fakeFeishu();
    const lin = feishu.user("林");
    const mei = feishu.user("Mei");
    const group = feishu.group("开发", [lin, mei]);
    await using sage = await bridge(feishu, { mode });
    feishu.delivery.duplicates = 3;
    const id = lin.say("跑一下测试 @_all", { chat: group, mentionBot: true, mention: [mei] });
    await until(() => sage.got.length > 0);
    await feishu.delivery.idle();
    assert.deepEqual(sage.got, [
      {
        messageId: id,
        chatId: group,
        chatType: "group",
        sender: { openId: lin.openId, tenantKey: feishu.world.app.tenantKey },
        kind: "text",
        text: "跑一下测试 @all @Mei",
        mentionsBot: true,
        mentions: [{ openId: mei.openId, name: "Mei" }],
        attachments: [],
        at: feishu.message(id).at,
      },
    ]);
    assert.ok(feishu.delivery.attempts.every(({ ok }) => ok));

    sage.channel.onCard(async (click) => ({
      toast: { type: "success", content: `${click.operator.openId === mei.openId}` },
      card: card(JSON.stringify(click.value)),
    }));
    const { messageId } = await sage.channel.sendCard({ chat: group, uuid: "c1", card: card("?", button("yes")) });
    const shown = await mei.click(messageId, "yes");
    assert.deepEqual(shown.toast, { type: "success", content: "true" });
    assert.equal(feishu.seen(group).at(-1)?.text, '{"k":"perm","rid":"p_1","act":"yes"}');
  });

test("a click that takes too long is answered in time, and its card comes by a patch", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu, { timings: { answerMs: 30 } });
  const { promise: slow, resolve: done } = Promise.withResolvers<void>();
  sage.channel.onCard(async () => {
    await slow;
    return { card: card("answered") };
  });
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
  const shown = await lin.click(messageId, "yes");
  assert.deepEqual(shown.toast, { type: "info", content: "Received. This takes a moment." });
  done();
  await feishu.until(lin.chat, ({ text }) => text === "answered");
});

test("a card is closed for everybody, also when the answer to the click is lost", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  sage.channel.onCard(async () => ({ card: card("answered") }));
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
  const open = structuredClone(feishu.message(messageId).card);
  await lin.click(messageId, "yes");
  feishu.message(messageId).card = open ?? {}; // what the others see
  await feishu.until(lin.chat, ({ text }) => text === "answered");
});

test("an older picture of a card never comes after the answer to a click on it", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
  let patched: Promise<void> | undefined;
  sage.channel.onCard(async () => {
    patched = sage.channel.patchCard(messageId, card("still open", button("yes")));
    return { card: card("answered") };
  });
  await lin.click(messageId, "yes");
  await patched;
  assert.equal(feishu.seen(lin.chat)[0]?.text, "answered");
  await sage.channel.patchCard(messageId, card("answered, and shown to all"));
  assert.equal(feishu.seen(lin.chat)[0]?.text, "answered, and shown to all");
});

test("while a click is being answered a patch waits for its turn", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
  feishu.message(messageId).locked = true; // somebody else's click
  const patched = sage.channel.patchCard(messageId, card("new"));
  await until(() => feishu.count(/^PATCH .*messages/) > 0);
  feishu.message(messageId).locked = false;
  await patched;
  assert.equal(feishu.seen(lin.chat)[0]?.text, "new");
});

test("many changes of one card become few, and the last one is always shown", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("0") });
  await Promise.all(Array.from({ length: 50 }, (_, n) => sage.channel.patchCard(messageId, card(`${n + 1}`))));
  assert.equal(feishu.seen(lin.chat)[0]?.text, "50");
  assert.ok(feishu.count(/^PATCH .*messages/) <= 2);
});

test("a token that is refused in the middle is replaced, once for all who wait", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { cardId } = await sage.channel.createEntity({
    ...card("…"),
    config: { update_multi: true, streaming_mode: true },
  });
  await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", cardId });
  await sage.channel.streamText(cardId, "out", "one");
  feishu.expireTokens();
  const before = feishu.count(/tenant_access_token/);
  await Promise.all([
    sage.channel.streamText(cardId, "out", "one two"),
    sage.channel.sendText({ chat: lin.chat, uuid: "t1", text: "hello" }),
    sage.channel.userName(lin.openId),
  ]);
  await sage.channel.entitySettings(cardId, { config: { streaming_mode: false } });
  assert.equal(feishu.count(/tenant_access_token/) - before, 1);
  assert.deepEqual(
    feishu.seen(lin.chat).map(({ text, streaming }) => [text, streaming]),
    [
      ["one two", false],
      ["hello", false],
    ],
  );
});

test("limits are waited out, a lost answer sends nothing twice, and a fault over there is tried again", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  feishu.failNext(/POST .*messages$/, { status: 429, code: 99991400, headers: { "x-ogw-ratelimit-reset": "1" } });
  feishu.failNext(/POST .*messages$/, { cut: true, afterwards: true });
  feishu.failNext(/POST .*messages$/, { status: 500, code: 1500 });
  const { messageId } = await sage.channel.sendText({ chat: lin.chat, uuid: "t1", text: "hello" });
  assert.deepEqual(
    feishu.seen(lin.chat).map(({ id, text }) => [id, text]),
    [[messageId, "hello"]],
  );
});

test("ten messages to one chat keep their order and stay below its limit", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => sage.channel.sendText({ chat: lin.chat, uuid: `t${n}`, text: `${n}` })),
  );
  assert.deepEqual(
    feishu.seen(lin.chat).map(({ text }) => text),
    Array.from({ length: 10 }, (_, n) => `${n}`),
  );
  assert.deepEqual(
    feishu.world.calls.filter(({ code }) => code !== 0),
    [],
  );
});

test("a reply to a message that is gone goes to the chat; a card that is refused says why", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const said = lin.say("hello");
  const replied = await sage.channel.sendText({ chat: lin.chat, replyTo: said, uuid: "t1", text: "in reply" });
  assert.equal(feishu.message(replied.messageId).parent, said);
  feishu.recall(said);
  const { messageId } = await sage.channel.sendText({ chat: lin.chat, replyTo: said, uuid: "t2", text: "to the chat" });
  assert.equal(feishu.message(messageId).parent, undefined);
  const failures = await Promise.all(
    [
      () => sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("长".repeat(12_000)) }),
      () => sage.channel.sendCard({ chat: lin.chat, uuid: "c2", card: { ...card("x"), colour: "red" } }),
      () => sage.channel.sendText({ chat: "oc_nowhere", uuid: "t3", text: "?" }),
      () => sage.channel.patchCard(said, card("x")),
    ].map((work) => work().then(String, (error: FeishuFailure) => error.kind)),
  );
  assert.deepEqual(failures, ["content", "content", "reach", "reply-target"]);
});

test("files go both ways, and one that is too large is not taken", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const content = Buffer.from("日志\n".repeat(100));
  lin.send("file", content, "日志.txt");
  await until(() => sage.got.length === 1);
  const [got] = sage.got;
  const attachment = got?.attachments[0];
  assert.ok(got && attachment);
  assert.equal(attachment.name, "日志.txt");
  assert.deepEqual(
    await sage.channel.download(got.messageId, attachment.key, "file", {
      limit: 10_000,
      signal: new AbortController().signal,
    }),
    content,
  );
  await assert.rejects(
    sage.channel.download(got.messageId, attachment.key, "file", { limit: 100, signal: new AbortController().signal }),
    { kind: "content" },
  );
  await sage.channel.sendFile({ chat: lin.chat, uuid: "f1", name: "结果.txt", content });
  await sage.channel.sendImage({ chat: lin.chat, uuid: "i1", content: Buffer.from("png") });
  assert.deepEqual(
    feishu.seen(lin.chat).map(({ kind, text }) => [kind, text]),
    [
      ["file", "日志.txt"],
      ["file", "结果.txt"],
      ["image", "image"],
    ],
  );
});

test("what went wrong is told without a secret in it", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  feishu.failNext(/POST .*messages$/, { status: 400, code: 230001, msg: `bad ${feishu.appSecret} t-0123456789abcdef` });
  await using sage = await bridge(feishu);
  await assert.rejects(sage.channel.sendText({ chat: lin.chat, uuid: "t1", text: "x" }), (error: FeishuFailure) => {
    assert.equal(error.message, "Feishu refused (230001): bad [secret] t-[token]");
    assert.doesNotMatch(inspect(error, { depth: 9 }), /the-secret|t-0123/);
    return true;
  });
  assert.doesNotMatch(sage.logged.join("\n"), /the-secret|t-[0-9a-f]{8}|ticket=[0-9a-f]/);
});

test("a card that was numbered further than we count goes on all the same", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { cardId } = await sage.channel.createEntity({
    ...card("…"),
    config: { update_multi: true, streaming_mode: true },
  });
  await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", cardId });
  await sage.channel.streamText(cardId, "out", "one");
  const entity = feishu.world.entities.get(cardId);
  assert.ok(entity);
  entity.sequence += 36_000; // as if the clock had been set back by an hour, and Sage restarted
  await sage.channel.streamText(cardId, "out", "one two");
  await sage.channel.updateEntity(cardId, card("done"));
  assert.equal(feishu.seen(lin.chat)[0]?.text, "done");
});

test("a permission that the app lacks is told to the operator, once", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu);
  feishu.world.granted.delete("cardkit:card:write");
  for (let n = 0; n < 2; n++) await assert.rejects(sage.channel.createEntity(card("x")), { kind: "permission" });
  const told = sage.logged.filter((line) => line.includes("cardkit:card:write"));
  assert.deepEqual(told, [
    "error: Feishu refused (99991672): Access denied. One of the following scopes is required: [cardkit:card:write].",
  ]);
});
