import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeFeishu } from "../../support/feishu/platform.ts";
import { bridge, button, card, until } from "./bridge.ts";

test("a connection that breaks comes back, and what was said meanwhile arrives", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  feishu.sockets.drop();
  lin.say("into the void");
  await until(() => feishu.sockets.count() === 1 && sage.channel.status().state === "connected", "nobody reconnected");
  await until(() => feishu.delivery.attempts.length === 1);
  // An event in the instant of connecting may miss the library's ear: the platform tries again, and later once more.
  for (const wait of [15_000, 5 * 60_000, 60 * 60_000]) {
    feishu.clock.advance(wait);
    await until(() => sage.got.length === 1, "", { patienceMs: 10_000 }).catch(() => {});
    if (sage.got.length === 1) break;
  }
  assert.deepEqual(sage.texts(), ["into the void"]);
});

test("a connection without a pong is given up", async () => {
  await using feishu = await fakeFeishu({ client: { PingInterval: 1 } });
  await using sage = await bridge(feishu, { timings: { pongMs: 200 } });
  feishu.sockets.silence();
  await until(() => feishu.sockets.connected() === 2, "nobody noticed");
  await until(() => sage.channel.status().state === "connected");
});

test("a connection that stands and is deaf is replaced after a while without events", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu, { timings: { quietMs: 200, lookMs: 20 } });
  feishu.sockets.deafen();
  lin.say("can you hear me?");
  await until(() => feishu.sockets.connected() >= 2, "nobody noticed");
  feishu.clock.advance(3_000); // the platform gives up the delivery to the deaf one
  await until(() => feishu.delivery.attempts.length === 1);
  await until(() => feishu.sockets.count() === 1, "the deaf one stayed");
  feishu.clock.advance(15_000);
  await until(() => sage.got.length === 1);
  assert.equal(sage.channel.status().state, "connected");
});

for (const [what, answer] of [
  ["for good", { code: 403, msg: "forbidden", data: {} }],
  ["in a way the library trips over", { code: 514, msg: "auth failed", data: null }],
] as const)
  test(`a platform that refuses connections ${what} is asked again, and the refusal is told`, async () => {
    await using feishu = await fakeFeishu();
    feishu.discovery.answer = { ...answer };
    await using sage = await bridge(feishu, { timings: { stuckMs: 100, lookMs: 20, callMs: 200 } });
    await until(() => feishu.count(/ws\/endpoint/) > 2, "it was not tried again");
    await until(() => sage.channel.status().problem !== undefined);
    assert.notEqual(sage.channel.status().state, "connected");
    delete feishu.discovery.answer;
    await until(() => sage.channel.status().state === "connected", "it did not come back");
  });

test("while the platform cannot be asked, the status says why", async () => {
  await using feishu = await fakeFeishu();
  feishu.failNext(/bot\/v3\/info/, { status: 503, times: 1_000 });
  feishu.delay(/ws\/endpoint/, 3_000);
  await using sage = await bridge(feishu, { timings: { callMs: 1_000 } });
  assert.match(sage.channel.status().problem ?? "", /^Feishu refused \(HTTP 503\)/);
});

test("clicks that come in the old form are noticed: the callback is not set up", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  await using sage = await bridge(feishu);
  const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
  feishu.sockets.frameType = "card";
  const clicked = lin.click(messageId, "yes");
  await until(() => sage.channel.status().problem === "card-callback");
  feishu.clock.advance(3_000);
  assert.equal((await clicked).error, 200341);
});

test("closing while a connection is being made leaves nothing behind", async () => {
  await using feishu = await fakeFeishu();
  feishu.delay(/ws\/endpoint/, 100);
  const sage = await bridge(feishu, { timings: { callMs: 20 } });
  await sage.close();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await until(() => feishu.sockets.count() === 0);
  await sage[Symbol.asyncDispose]();
});

for (const mode of ["socket", "webhook"] as const)
  test(`${mode}: closing answers the click that is under way, and leaves what comes later to the next process`, async () => {
    await using feishu = await fakeFeishu();
    const lin = feishu.user("Lin");
    await using sage = await bridge(feishu, { mode });
    const { promise: slow, resolve: done } = Promise.withResolvers<void>();
    let clicked = 0;
    sage.channel.onCard(async () => {
      clicked++;
      await slow;
      return { toast: { type: "success", content: "recorded" } };
    });
    const { messageId } = await sage.channel.sendCard({ chat: lin.chat, uuid: "c1", card: card("?", button("yes")) });
    const click = lin.click(messageId, "yes");
    await until(() => clicked === 1);
    const closed = sage.channel.close();
    lin.say("too late");
    await until(() => feishu.delivery.attempts.length === 1);
    assert.deepEqual([feishu.delivery.attempts[0]?.ok, sage.texts()], [false, []]);
    done();
    assert.deepEqual((await click).toast, { type: "success", content: "recorded" });
    await closed;
    await sage.close();
    await using next = await bridge(feishu, { mode, dir: sage.dir });
    feishu.clock.advance(15_000);
    await until(() => next.got.length === 1);
  });

test("a platform that cannot be reached at the start is asked again, and mentions are understood meanwhile", async () => {
  await using feishu = await fakeFeishu();
  const lin = feishu.user("Lin");
  const group = feishu.group("team", [lin]);
  feishu.failNext(/bot\/v3\/info/, { status: 503, times: 2 });
  await using sage = await bridge(feishu, { mode: "webhook" });
  assert.equal(sage.channel.status().state, "failed");
  lin.say("hello", { chat: group, mentionBot: true });
  await until(() => sage.got.length === 1);
  assert.deepEqual([sage.got[0]?.mentionsBot, sage.got[0]?.text], [true, "hello"]);
  await until(() => sage.channel.status().state === "connected");
});
