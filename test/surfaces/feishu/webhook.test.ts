import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { test } from "node:test";
import { verify } from "../../../src/surfaces/feishu/transport/incoming/webhook.ts";
import { fakeFeishu, type FakeFeishu } from "../../support/feishu/platform.ts";
import { bridge, until } from "./bridge.ts";

const HOUR = 60 * 60_000;

function messageEvent(feishu: FakeFeishu, text: string, header: object = {}) {
  const { app } = feishu.world;
  return {
    schema: "2.0",
    header: {
      event_id: `e-${text}`,
      event_type: "im.message.receive_v1",
      create_time: String(feishu.clock.now()),
      token: app.verificationToken,
      app_id: app.id,
      tenant_key: app.tenantKey,
      ...header,
    },
    event: {
      sender: { sender_id: { open_id: "ou_1" }, sender_type: "user", tenant_key: app.tenantKey },
      message: {
        message_id: `om_${createHash("sha1").update(text).digest("hex")}`,
        create_time: String(feishu.clock.now()),
        chat_id: "oc_1",
        chat_type: "p2p",
        message_type: "text",
        content: JSON.stringify({ text }),
      },
    },
  };
}

type Sent = { headers: Record<string, string>; body: string };

test("what the platform did not send, or sent long ago, is refused with a 4xx and does nothing", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook" });
  const { request } = feishu.delivery;
  const good = (text: string, options = {}) => request(messageEvent(feishu, text), options);
  const bent = (sent: Sent, headers: Record<string, string>): Sent => ({
    ...sent,
    headers: { ...sent.headers, ...headers },
  });
  const tampered = (sent: Sent): Sent => ({ ...sent, body: sent.body.replace(/.{8}"}$/, 'AAAAAAA="}') });
  const now = feishu.clock.now();
  const hostile: [number, string, Sent][] = [
    [401, "no signature", good("a", { unsigned: true })],
    [401, "signed with another key, and encrypted with it", good("b", { key: "another" })],
    [401, "a wrong signature", bent(good("c"), { "x-lark-signature": "0".repeat(64) })],
    [401, "an empty signature", bent(good("d"), { "x-lark-signature": "" })],
    [401, "another nonce", bent(good("e"), { "x-lark-request-nonce": "x" })],
    [401, "signed 61 minutes ago", good("f", { at: now - HOUR - 60_000 })],
    [401, "signed in 61 minutes", good("g", { at: now + HOUR + 60_000 })],
    [401, "a changed body", tampered(good("h"))],
    [401, "spaces that were not signed", { ...good("i"), body: ` ${good("i").body}` }],
    [403, "another token", request(messageEvent(feishu, "j", { token: "x" }))],
    [403, "another app", request(messageEvent(feishu, "k", { app_id: "cli_0000000000000000" }))],
    [400, "signed nonsense", request("not JSON")],
    [400, "signed, and no event", request({ schema: "2.0" })],
    [400, "no JSON", { headers: {}, body: "{" }],
    [400, "an empty body", { headers: {}, body: "" }],
    [400, "no object", { headers: {}, body: "null" }],
    [400, "not encrypted", { headers: {}, body: JSON.stringify(messageEvent(feishu, "l")) }],
    [400, "a number where the text should be", { headers: {}, body: '{"encrypt":1}' }],
    [401, "four bytes", { headers: {}, body: '{"encrypt":"AAAA"}' }],
    [401, "nothing encrypted", { headers: {}, body: '{"encrypt":""}' }],
    [
      403,
      "a challenge with another token",
      request({ type: "url_verification", challenge: "c", token: "x" }, { unsigned: true }),
    ],
    [
      401,
      "a challenge that is not encrypted with our key",
      request(
        { type: "url_verification", challenge: "c", token: feishu.verificationToken },
        { unsigned: true, key: "x" },
      ),
    ],
    [
      400,
      "a challenge without one",
      request({ type: "url_verification", token: feishu.verificationToken }, { unsigned: true }),
    ],
    [400, "nested deeper than any event", { headers: {}, body: "[".repeat(8_000) }],
    [401, "too large for a challenge, and not signed", { headers: {}, body: "[".repeat(100_000) }],
  ];
  for (const [status, what, { headers, body }] of hostile) {
    const response = await fetch(sage.url, { method: "POST", headers, body });
    assert.deepEqual([response.status, await response.text()], [status, "{}"], what);
  }
  // A digit that moves from the time to the nonce leaves the digest as it is.
  const moved = good("m");
  const time = moved.headers["x-lark-request-timestamp"] ?? "";
  const shifted = bent(moved, {
    "x-lark-request-timestamp": time.slice(0, -1),
    "x-lark-request-nonce": time.slice(-1) + (moved.headers["x-lark-request-nonce"] ?? ""),
  });
  assert.equal((await fetch(sage.url, { method: "POST", ...shifted })).status, 401);
  assert.equal((await fetch(sage.url)).status, 405);
  assert.equal((await fetch(sage.url.replace("webhook", "other"), { method: "POST" })).status, 404);
  assert.deepEqual(sage.got, []);
  // And it still works.
  assert.equal((await fetch(sage.url, { method: "POST", ...good("n") })).status, 200);
  await until(() => sage.got.length === 1);
});

test("a clock that is ten minutes off is no reason to refuse", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook" });
  for (const at of [-600_000, 600_000]) {
    const sent = feishu.delivery.request(messageEvent(feishu, `${at}`), { at: feishu.clock.now() + at });
    assert.equal((await fetch(sage.url, { method: "POST", ...sent })).status, 200);
  }
  await until(() => sage.got.length === 2);
});

test("the console's challenge is answered", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook" });
  const challenge = { challenge: "1b6aef1a", token: feishu.verificationToken, type: "url_verification" };
  const response = await fetch(sage.url, { method: "POST", ...feishu.delivery.request(challenge, { unsigned: true }) });
  assert.deepEqual([response.status, await response.json()], [200, { challenge: "1b6aef1a" }]);
});

test("a request that was recorded by somebody is answered and does nothing a second time, also after a restart", async () => {
  await using feishu = await fakeFeishu();
  const sent = feishu.delivery.request(messageEvent(feishu, "once"));
  await using first = await bridge(feishu, { mode: "webhook" });
  const post = async (url: string) => (await fetch(url, { method: "POST", ...sent })).status;
  assert.deepEqual(await Promise.all([post(first.url), post(first.url), post(first.url)]), [200, 200, 200]);
  await until(() => first.got.length > 0);
  await first.close();
  await using second = await bridge(feishu, { mode: "webhook", dir: first.dir });
  assert.equal(await post(second.url), 200);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual([first.texts(), second.texts()], [["once"], []]);
});

test("a body that is too large or too slow is refused, and others are served meanwhile", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook", slowestMs: 300 });
  const large = await fetch(sage.url, { method: "POST", body: `{"encrypt":"${"A".repeat(1024 * 1024)}"}` });
  assert.equal(large.status, 413);
  const { port } = new URL(sage.url);
  const raw = async (text: string): Promise<string> => {
    const socket = connect(Number(port), "127.0.0.1");
    let told = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (told += chunk));
    socket.on("error", () => {});
    socket.write(text);
    await until(() => told !== "" || socket.destroyed);
    socket.destroy();
    return told.split("\r\n")[0] ?? "";
  };
  const head = "POST /feishu/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  const slow = raw(`${head}Content-Length: 100\r\n\r\n{"encr`);
  const unending = raw(`${head}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${"A".repeat(65_536)}\r\n`.repeat(17)}`);
  const good = await fetch(sage.url, { method: "POST", ...feishu.delivery.request(messageEvent(feishu, "good")) });
  assert.equal(good.status, 200);
  assert.match(await slow, / 408 /);
  assert.match(await unending, / 413 /);
  await until(() => sage.got.length === 1);
});

const challengeOf = (feishu: FakeFeishu) =>
  feishu.delivery.request(
    { challenge: "1b6aef1a", token: feishu.verificationToken, type: "url_verification" },
    { unsigned: true },
  );

test("connections that never send a byte are closed; among too many, those that waited longest give way to the platform", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook", connections: { most: 10, silentMs: 60_000 } });
  const port = Number(new URL(sage.url).port);
  const opened = (first = "") => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.write(first);
    socket.resume();
    return socket;
  };
  const head = "POST /feishu/webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{";
  // All the room there is, taken by bodies that do not end.
  const slow = Array.from({ length: 10 }, () => opened(head));
  await until(() => slow.every(({ bytesWritten }) => bytesWritten > 0));
  const silent = Array.from({ length: 30 }, () => opened());
  await until(() => [...slow, ...silent].filter(({ closed }) => closed).length >= 30);
  const response = await fetch(sage.url, { method: "POST", ...challengeOf(feishu) });
  assert.deepEqual([response.status, await response.json()], [200, { challenge: "1b6aef1a" }]);
  for (const one of [...slow, ...silent]) one.destroy();

  await using strict = await bridge(feishu, { mode: "webhook", connections: { most: 10, silentMs: 50 } });
  const mute = connect(Number(new URL(strict.url).port), "127.0.0.1").resume();
  await until(() => mute.closed, "the silent connection was not closed");
});

test("a flood of large forgeries is turned away, and the challenge is answered in the middle of it", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook" });
  const body = `{"encrypt":"${"A".repeat(900_000)}"}`;
  const flood = Array.from({ length: 40 }, () =>
    fetch(sage.url, { method: "POST", body }).then(({ status }) => status),
  );
  const response = await fetch(sage.url, { method: "POST", ...challengeOf(feishu) });
  assert.equal(response.status, 200);
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([401]));
});

test("the challenge is answered while everything that came before it still waits to be handled", async () => {
  await using feishu = await fakeFeishu();
  const gate = Promise.withResolvers<void>();
  let handled = 0;
  const onMessage = async () => {
    await gate.promise;
    handled++;
  };
  await using sage = await bridge(feishu, { mode: "webhook", onMessage });
  const many = 200;
  const acknowledged = await Promise.all(
    Array.from({ length: many }, async (_, n) => {
      const sent = feishu.delivery.request(messageEvent(feishu, `task ${n}`));
      return (await fetch(sage.url, { method: "POST", ...sent })).status;
    }),
  );
  assert.deepEqual(new Set(acknowledged), new Set([200]));
  const response = await fetch(sage.url, { method: "POST", ...challengeOf(feishu) });
  assert.deepEqual([response.status, handled], [200, 0]);
  gate.resolve();
  await until(() => handled === many);
});

test("a body in many pieces keeps its characters", async () => {
  await using feishu = await fakeFeishu();
  await using sage = await bridge(feishu, { mode: "webhook" });
  const { headers, body } = feishu.delivery.request(messageEvent(feishu, "一二三"));
  const bytes = Buffer.from(body);
  const pieces = new ReadableStream({
    async start(controller) {
      for (let at = 0; at < bytes.length; at += 50) {
        controller.enqueue(bytes.subarray(at, at + 50));
        await new Promise(setImmediate);
      }
      controller.close();
    },
  });
  const response = await fetch(sage.url, { method: "POST", headers, body: pieces, duplex: "half" } as RequestInit);
  assert.equal(response.status, 200);
  await until(() => sage.texts()[0] === "一二三");
});

test("encryption and signature are those of the platform's own example", () => {
  const keys = { appId: "cli_a", encryptKey: "test key", verificationToken: "v" };
  const body = Buffer.from('{"encrypt":"P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}');
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHash("sha256").update(`${timestamp}ntest key`).update(body).digest("hex");
  const headers = {
    "x-lark-request-timestamp": timestamp,
    "x-lark-request-nonce": "n",
    "x-lark-signature": signature,
  };
  // It decrypts to `hello world`: genuine, and no JSON.
  assert.deepEqual(verify({ headers, body }, keys, Date.now()), {
    genuine: false,
    status: 400,
    why: "the body cannot be decrypted",
  });
});
