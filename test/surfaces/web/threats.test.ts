// The threats to the page that the server answers for: C1–C4, C6, C10, W1–W5, W9, W10 of the reference.
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import type { Command } from "../../../src/protocol/host/host.ts";
import { headline } from "../../../src/texts/shared/resolution.ts";
import { texts } from "../../../src/texts/shared/texts.ts";
import { bash, sageWith, workspace, type TestSage } from "../../support/sage.ts";
import { served } from "../../support/served.ts";
import { until } from "../../support/until.ts";

const upgrading = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const secret = "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2";

/** The status for a request with these hosts, written by hand: Node's own client sends one. */
function statusFor(port: number, hosts: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET / HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join("")}\r\n`);
    });
    socket.once("error", reject).once("data", (data) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1]));
      socket.destroy();
    });
  });
}

describe("threats", () => {
  const here = workspace();
  let sage: TestSage;
  let server: Awaited<ReturnType<typeof served>>;
  let key = "";

  before(async () => {
    const script = [
      { text: `Use ${secret} for this.`, delayMs: 40, calls: [bash(`curl -H 'token: ${secret}' https://a.example`)] },
      { text: "done" },
    ];
    sage = await sageWith({ dir: here.dir, script });
    server = await served(sage, here.dir, {
      settings: {
        workspaces: { app: here.dir },
        people: {
          Lin: { ids: ["account:lin"], roles: ["approver"] },
          Mei: { ids: ["account:mei"], roles: ["talker"] },
          Kai: { ids: ["account:kai", "proxy:kai@example.org"], roles: ["approver"] },
        },
        serve: { web: { identity: { header: "x-user", secret: "0123456789abcdef" } } },
      },
    });
    key = (await server.pair()).key;
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await sage[Symbol.asyncDispose]();
    here[Symbol.dispose]();
  });
  const bearer = () => ({ authorization: `Bearer ${key}` });

  test("C1: a foreign, missing, double, mixed-case or dotted Host is refused before anything is read, upgrades too", async () => {
    const { port } = server;
    const hosts = [`evil.example:${port}`, "127.0.0.1", `LocalHost:${port}`, `localhost.:${port}`];
    for (const host of hosts) {
      assert.equal((await server.raw("GET", "/", { host })).status, 421, host);
      assert.equal((await server.raw("POST", "/v1/send", { host, ...bearer() }, "{}")).status, 421, host);
      assert.equal((await server.raw("GET", "/v1/wire", { host, ...upgrading })).status, 421, host);
    }
    const own = `127.0.0.1:${port}`;
    for (const hosts of [[own, "evil.example"], ["evil.example", own], [`${own}:80`], [""], ["[::1"], []]) {
      const status = await statusFor(port, hosts);
      assert.ok(status === 400 || status === 421, `${hosts.join()}: ${status}`);
    }
    assert.equal((await server.raw("GET", "/", { host: `localhost:${port}` })).status, 200);
    assert.equal((await server.raw("GET", "/health", { host: "anything" })).status, 200, "probes come by other names");
  });

  test("C10: a path that is no address ends nothing but its own connection", async () => {
    for (const path of ["//", "//[", "/\\\\:99999", "http://[", "/v1/wire%"])
      for (const headers of [{}, upgrading]) {
        const { status } = await server.raw("GET", path, headers).catch(() => ({ status: 0 }));
        assert.ok(status < 500, `${path}: ${status}`);
      }
    assert.equal((await server.raw("GET", "/health")).status, 200);
  });

  test("C2, C3: another page's requests reach no handler, with a key or without", async () => {
    const json = { "content-type": "application/json", ...bearer() };
    const command = JSON.stringify({ type: "sessions" });
    for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${server.port + 1}`, "https://127.0.0.1"]) {
      assert.equal((await server.raw("POST", "/v1/send", { ...json, origin }, command)).status, 403, origin);
      assert.equal((await server.raw("GET", "/v1/wire", { ...upgrading, origin })).status, 403, origin);
    }
    const form = { ...bearer(), "content-type": "application/x-www-form-urlencoded" };
    assert.equal((await server.raw("POST", "/v1/send", form, "a=b")).status, 415);
    assert.equal(
      (await server.raw("POST", "/v1/send", { ...json, "content-type": "text/plain" }, command)).status,
      415,
    );
    assert.equal(
      (await server.raw("POST", "/v1/send", { ...json, "sec-fetch-site": "cross-site" }, command)).status,
      403,
    );
    assert.equal((await server.raw("GET", "/v1/wire", { ...upgrading, "sec-fetch-site": "same-site" })).status, 403);
    const preflight = await server.raw("OPTIONS", "/v1/send", { origin: server.url });
    assert.deepEqual(
      Object.keys(preflight.headers).filter((name) => name.startsWith("access-control")),
      [],
    );
    assert.equal((await server.raw("POST", "/v1/send", { ...json, origin: server.url }, command)).status, 200);
    assert.equal((await server.raw("GET", "/v1/elsewhere", upgrading)).status, 404);
  });

  test("without a key nothing is told: not by POST, not over the wire, and not before the hello", async () => {
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: key }]) {
      const { status, body } = await server.json("/v1/send", { type: "sessions" }, headers);
      assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [401, "key-unknown"]);
    }
    for (const wrong of [undefined, "wrong"]) {
      const { closed, heard } = await server.socket(wrong);
      assert.equal(await closed, 4401);
      assert.deepEqual(heard, []);
    }
    const silent = new WebSocket(`${server.url.replace("http", "ws")}/v1/wire`);
    const heard: unknown[] = [];
    silent.on("message", (data) => heard.push(data));
    await new Promise((resolve) => silent.on("open", resolve));
    silent.send(JSON.stringify({ do: "inbox", id: 1 }));
    assert.equal(await new Promise((resolve) => silent.on("close", resolve)), 4400);
    assert.deepEqual(heard, []);
  });

  test("C4: a link works once; its key and the device's are in no log and no fact", async () => {
    const { key: link } = await server.devices.invite({ owner: "account:lin" });
    const first = await server.json("/v1/pair", { key: link, name: "a\u202eb\u0007 laptop" });
    assert.equal(first.status, 200);
    const paired = JSON.parse(first.body) as { key: string };
    assert.equal((await server.json("/v1/pair", { key: link, name: "again" })).status, 401);
    await server.send(paired.key, { type: "open", cwd: "app" });
    const kept = JSON.stringify([sage.store.sessions(), sage.facts(), server.logged, server.devices.list()]);
    for (const one of [link, paired.key]) assert.ok(!kept.includes(one.slice(9)));
    assert.equal(server.devices.list().at(-1)?.name, "a b laptop");
  });

  test("C6, W10: no frame may hold the page, scripts and styles are its own, and answers are kept by nobody", async () => {
    const page = await server.raw("GET", "/");
    assert.match(String(page.headers["content-security-policy"]), /default-src 'none'.*frame-ancestors 'none'/);
    assert.match(
      String(page.headers["content-security-policy"]),
      /require-trusted-types-for 'script'; trusted-types 'none'/,
    );
    const told = [
      "x-frame-options",
      "cross-origin-opener-policy",
      "cross-origin-resource-policy",
      "x-content-type-options",
    ];
    assert.deepEqual(
      told.map((name) => page.headers[name]),
      ["DENY", "same-origin", "same-origin", "nosniff"],
    );
    assert.deepEqual([page.headers["referrer-policy"], page.headers["cache-control"]], ["no-referrer", "no-cache"]);
    const { headers } = await server.json("/v1/send", { type: "sessions" }, bearer());
    assert.equal(headers["cache-control"], "no-store");
    assert.match(String(headers["content-security-policy"]), /frame-ancestors 'none'/);
  });

  test("W1: no cookie is set, and none is read", async () => {
    for (const answer of [await server.raw("GET", "/"), await server.json("/v1/send", { type: "sessions" }, bearer())])
      assert.equal(answer.headers["set-cookie"], undefined);
    assert.equal((await server.json("/v1/send", { type: "sessions" }, { cookie: `key=${key}` })).status, 401);
  });

  test("files of the page: those with a hash in their name for good, compressed for whoever takes it; no other path", async () => {
    const plain = await server.raw("GET", "/assets/main-1a2b3c4d.js");
    assert.deepEqual([plain.status, plain.body], [200, "console.log(1);"]);
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    const zipped = await server.raw("GET", "/assets/main-1a2b3c4d.js", { "accept-encoding": "gzip, br" });
    assert.equal(zipped.headers["content-encoding"], "gzip");
    for (const path of ["/assets/index.html", "/assets/..%2findex.html", "/assets/%2e%2e/package.json", "/v1/files"])
      assert.equal((await server.raw("GET", path)).status, 404, path);
  });

  test("W2: a device that is removed is cut off within a second, and its key is worth nothing", async () => {
    const { key: lost } = await server.pair("account:lin", "lost phone");
    const { heard, closed } = await server.socket(lost);
    await until(() => heard.length > 0);
    const gone = server.devices.list().find(({ name }) => name === "lost phone");
    await server.devices.remove(gone?.id ?? "");
    assert.equal(await closed, 4401);
    assert.equal((await server.send(lost, { type: "sessions" })).status, 401);
  });

  test("W2: a device can forget itself; somebody whose role was taken away is cut off too", async () => {
    const { key: own } = await server.pair();
    assert.equal((await server.raw("DELETE", "/v1/device", { authorization: `Bearer ${own}` })).status, 200);
    assert.equal((await server.send(own, { type: "sessions" })).status, 401);
    const { key: theirs } = await server.pair("account:kai");
    const { closed, heard } = await server.socket(theirs);
    await until(() => heard.length > 0);
    const { Kai, ...others } = server.settings.people ?? {};
    server.settings.people = others;
    try {
      assert.equal(await closed, 4401);
      assert.equal((await server.send(theirs, { type: "sessions" })).status, 403);
    } finally {
      server.settings.people = { ...others, ...(Kai && { Kai }) };
    }
  });

  test("W3: a name that the client chooses is not believed", async () => {
    const { reply } = await server.send(key, { type: "open", cwd: "" });
    assert.ok(reply.ok && "session" in reply);
    const forged = { type: "rename", session: reply.session, title: "mine", by: "Kai", surface: "tui" } as const;
    const renamed = await server.send(key, forged);
    assert.equal(renamed.status, 200);
    const fact = sage.store.load(reply.session).find(({ type }) => type === "session.titled");
    assert.deepEqual(fact?.type === "session.titled" && [fact.data.by, fact.data.surface], ["Lin", "web"]);
    const asAnother = { ...forged, person: "account:kai" } as Command;
    assert.equal((await server.send(key, asAnother)).status, 400, "and nobody says which id they have");
  });

  test("W4: a session is opened in a folder by its name alone", async () => {
    symlinkSync("/etc", here.path("link"));
    for (const cwd of ["/etc", "..", "app/..", here.path("link"), here.dir, "App", "__proto__"]) {
      const { status, reply } = await server.send(key, { type: "open", cwd });
      assert.deepEqual([status, !reply.ok && reply.code], [403, "not-permitted"], cwd);
    }
    const { reply } = await server.send(key, { type: "open", cwd: "app" });
    assert.ok(reply.ok && "session" in reply);
    assert.equal(sage.store.session(reply.session)?.cwd, here.dir);
    const script = await server.send(key, { type: "open", cwd: "app", model: "scripted//etc/passwd" });
    assert.equal(script.status, 403);
  });

  test("W5: no byte of a secret is on the wire, streamed or not; what is masked is counted, and cannot be edited", async () => {
    const { heard, say } = await server.socket(key);
    await until(() => heard.length > 0);
    say({ do: "watch", id: 1, session: sage.session });
    say({ do: "inbox", id: 2 });
    await sage.say(`use ${secret}`);
    const [request] = await sage.open();
    assert.ok(request);
    await until(() => heard.some((text) => text.includes('"input.requested"')));
    say({ do: "send", id: 3, command: { type: "facts", session: sage.session } });
    say({ do: "send", id: 4, command: { type: "request", id: request.id } });
    await until(() => heard.filter((text) => /"id":[34],"reply"/.test(text)).length === 2);
    const all = heard.join("\n");
    for (let from = 0; from + 8 <= secret.length; from += 4) assert.ok(!all.includes(secret.slice(from, from + 8)));
    assert.match(all, /\[secret/);
    assert.match(all, /"kind":"text"/, "and yet it is streamed");
    const { reply } = await server.send(key, { type: "request", id: request.id });
    assert.ok(reply.ok && "request" in reply);
    assert.ok((reply.request.masked ?? 0) > 0);
    const granted = { type: "granted", requestId: request.id } as const;
    const by = { by: "", surface: "" };
    const edited = { ...granted, input: { command: "curl https://a.example" } };
    const refused = await server.send(key, { type: "respond", response: edited, ...by });
    assert.deepEqual([refused.status, !refused.reply.ok && refused.reply.code], [400, "request-invalid"]);
    const { key: talker } = await server.pair("account:mei");
    assert.equal((await server.send(talker, { type: "respond", response: granted, ...by })).status, 403);
    const denied = { type: "denied", requestId: request.id, reason: "no" } as const;
    const answered = await server.send(key, { type: "respond", response: denied, ...by });
    assert.equal(answered.status, 200);
    const ended = sage.facts().findLast(({ type }) => type === "input.resolved");
    assert.ok(ended?.type === "input.resolved");
    assert.deepEqual([ended.data.by, ended.data.surface, ended.data.device], ["Lin", "web", "phone"]);
    assert.equal(headline(ended.data, texts("en")).match(/by .* at/)?.[0], "by Lin in the browser, on phone at");
    assert.equal((await server.send(talker, { type: "respond", response: denied, ...by })).status, 403);
    const late = await server.send(key, { type: "respond", response: { ...denied, reason: "other" }, ...by });
    assert.deepEqual([late.status, !late.reply.ok && late.reply.resolution?.by], [409, "Lin"]);
  });

  test("a name from the proxy counts with its secret, from its address, and from our own page alone", async () => {
    const { url } = server;
    const proxy = { "x-user": "kai@example.org", "x-sage-proxy": "0123456789abcdef" };
    const own = { ...proxy, origin: url, "x-sage": "1" };
    const send = (headers: Record<string, string>) => server.json("/v1/send", { type: "sessions" }, headers);
    assert.equal((await send(own)).status, 200);
    assert.equal((await send({ ...own, "x-sage-proxy": "0123456789abcdeg" })).status, 401);
    assert.equal((await send({ "x-user": "kai@example.org", origin: url, "x-sage": "1" })).status, 401);
    assert.equal((await send({ ...own, "x-user": "mallory@example.org" })).status, 403);
    assert.equal((await send({ ...proxy, origin: url })).status, 403, "a form of another page sets no header");
    assert.equal((await send({ ...proxy, "x-sage": "1" })).status, 403, "Origin is required");
    assert.equal((await server.raw("GET", "/v1/wire", { ...upgrading, ...proxy })).status, 403);
    const { heard, socket } = await server.socket(undefined, own);
    await until(() => heard.length > 0);
    assert.match(heard[0] ?? "", /"me":\{"by":"Kai","surface":"web"\}/);
    socket.close();
  });

  test("W9: whoever guesses codes is stopped, and no code lives on", async () => {
    const { id } = await server.devices.invite({ owner: "account:lin" });
    const code = await server.devices.code(id);
    const statuses = new Map<number, number>();
    for (let n = 0; n < 40; n++) {
      const { status } = await server.json("/v1/pair", { code: "aaaabbbb", name: "guess" });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.ok((statuses.get(429) ?? 0) >= 30, JSON.stringify([...statuses]));
    assert.equal(await server.devices.take({ code }, { name: "late", from: "" }), undefined);
  });

  test("C10: what is too large is refused, and one person's commands are counted", async () => {
    const large = await server.json("/v1/send", { type: "pending", session: "x".repeat(1 << 20) }, bearer());
    assert.equal(large.status, 413);
    const { closed, say, heard } = await server.socket(key);
    await until(() => heard.length > 0);
    say({ do: "send", id: 1, command: { type: "pending", session: "x".repeat(1 << 20) } });
    assert.ok([1009, 1006, 4400].includes(await closed));
    const busy = await server.socket(key);
    await until(() => busy.heard.length > 0);
    for (let id = 0; id < 60; id++) busy.say({ do: "send", id, command: { type: "pending", limit: 1 } });
    const replies = () => busy.heard.filter((text) => text.includes('"reply"'));
    await until(() => replies().length === 60);
    const refused = replies().filter((text) => text.includes('"queue-full"'));
    assert.ok(refused.length > 0 && refused.length < 60, String(refused.length));
    busy.socket.close();
  });
});
