import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accountsOf, addons, register } from "../../src/cli/connect/feishu/register.ts";
import { Machine } from "../support/cli.ts";
import { fakeFeishu } from "../support/feishu/platform.ts";
import { proxyServer, secured, trustExample } from "../support/proxy.ts";

test("one code: the platform makes the app with everything Sage needs, and says who scanned it", async () => {
  trustExample();
  await using feishu = await fakeFeishu();
  await using front = await secured(Number(new URL(feishu.url).port));
  await using proxy = await proxyServer({ secure: front.port });
  const env = { HTTPS_PROXY: proxy.url };
  const signal = new AbortController().signal;
  const lin = feishu.user("Lin");
  let asked: unknown;
  const show = ({ url, picture }: { url: string; picture: string }) => {
    assert.ok(picture.split("\n").length > 15, "a code that a phone can read");
    asked = feishu.registration.scan(url, lin.openId);
  };
  const made = await register("https://open.example.test", { env, show, signal });
  assert.deepEqual(made, { appId: feishu.appId, appSecret: feishu.appSecret, openId: lin.openId, lark: false });
  assert.deepEqual(asked, addons);
  assert.deepEqual(addons.callbacks.items, ["card.action.trigger"]);

  const refuse = ({ url }: { url: string }) => void feishu.registration.scan(url, lin.openId, { confirm: false });
  await assert.rejects(register("https://open.example.test", { env, show: refuse, signal }), /the person said no/);
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  await assert.rejects(register("https://open.example.test", { env, show: leave, signal: leaving.signal }), /aborted/);
  feishu.failNext(/oauth/, { status: 500, code: 1 });
  await assert.rejects(register("https://open.example.test", { env, show, signal }));
});

test("accounts are beside the API", () => {
  assert.equal(accountsOf("https://open.feishu.cn"), "accounts.feishu.cn");
  assert.equal(accountsOf("https://open.larksuite.com"), "accounts.larksuite.com");
});

test("setup by a code writes the app, its secret and the person who scanned it, who administers and approves", async () => {
  await using feishu = await fakeFeishu();
  await using front = await secured(Number(new URL(feishu.url).port));
  await using proxy = await proxyServer({ secure: front.port });
  using machine = new Machine();
  const certificate = join(import.meta.dirname, "../fixtures/tls/cert.pem");
  const env = { SAGE_KEYS: "file", HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate };
  const terminal = machine.terminal(["feishu", "setup"], { env });
  await terminal.answer("Feishu or Lark?", "https://open.example.test");
  await terminal.answer("1 scan a code", "");
  await terminal.until(/Waiting \(Enter to set it up by hand\)/);
  const url = /https:\/\/accounts\.example\.test\S*/.exec(terminal.raw().replaceAll(/\r?\n/g, ""))?.[0] ?? "";
  const lin = feishu.user("Lin");
  feishu.registration.scan(url.replace(/and$/, ""), lin.openId);
  await terminal.until("You are the administrator");
  assert.equal(await terminal.code, 0);
  const settings = JSON.parse(readFileSync(join(machine.env["SAGE_HOME"] ?? "", "settings.json"), "utf8")) as object;
  assert.deepEqual(settings, {
    feishu: { appId: feishu.appId, domain: "https://open.example.test", mode: "socket" },
    people: { administrator: { ids: [`feishu:${lin.openId}`], roles: ["administrator", "approver"] } },
  });
  assert.doesNotMatch(terminal.raw(), new RegExp(feishu.appSecret));
});
