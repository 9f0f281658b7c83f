// Everything that may be wrong with a host elsewhere is said with what to do next.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { explainConnectError } from "../../src/cli/host/remote-host.ts";
import { pair, targetOf } from "../../src/cli/host/paired-hosts.ts";
import { testHome, type Home } from "../../src/config/home/home.ts";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import { parseResponse } from "../../src/host/socket/messages.ts";
import { SageError } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { overWire } from "../support/over-wire.ts";
import { sageWith, workspace } from "../support/sage.ts";

const said = (error: unknown, lang: "en" | "zh" = "en") =>
  error instanceof SageError && error.reason ? sentence(error.reason, lang) : String(error);

test("a key that is unknown, a protocol that is another, a door that is shut, a host that is not there", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [] });
  const wire = await overWire(sage.host, { by: "Lin", surface: "sdk" });
  const found: Record<number, string> = {};
  for (const close of [4401, 4403, 4406] as const) {
    wire.greet({ close, why: "2" });
    const host = connectWeb(wire.url, "key");
    found[close] = await host.welcome.then(String, (error: unknown) => said(explainConnectError(error, "https://box")));
    host.close();
  }
  await wire.close();
  assert.match(found[4401]!, /does not accept this machine's key any more; run `sage devices add` there/);
  assert.match(found[4403]!, /lets nobody in here \(2\); check the address, and "people" and "serve"/);
  assert.match(found[4406]!, /a version of Sage that this one cannot talk to \(2\); update the older/);
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const home = testHome({ dir: here.dir, keys: here.path("keys.json") } as Home);
  const given = { home, env: { SAGE_KEYS: "file" }, waits() {} };
  const target = targetOf(`http://127.0.0.1:${port}/#k=once`, {});
  assert.deepEqual(target.invitation, "once");
  const gone = await pair(target, { key: "once" }, given).catch((error: unknown) => error);
  assert.match(said(gone), /cannot reach .*ECONNREFUSED.*is `sage serve` running there\?/);
  assert.match(said(gone, "zh"), /连不上 .*那里在运行 `sage serve` 吗？/);
});

test("a host is named by the person's settings, by https, or by http within this machine", () => {
  const refused = (given: string) => {
    try {
      return targetOf(given, { hosts: { box: "https://box.example.org" } }).address;
    } catch (error) {
      return said(error);
    }
  };
  assert.equal(refused("box"), "https://box.example.org");
  assert.equal(refused("https://box.example.org/path?x#k="), "https://box.example.org");
  assert.match(refused("http://box.example.org"), /would send the device's key unencrypted/);
  assert.match(refused("http://127.0.0.1.example.org"), /unencrypted/);
  assert.match(refused("bix"), /no host is called "bix"; known: box/);
  assert.match(refused("__proto__"), /no host is called/);
});

test("an answer keeps all of its fields over a wire", () => {
  const answer = { type: "granted", requestId: "s/t0/0/0/permit0", outside: true, comment: "once" } as const;
  assert.deepEqual(parseResponse(answer), answer);
  assert.throws(() => parseResponse({ ...answer, outside: false }), /not a response/);
});
