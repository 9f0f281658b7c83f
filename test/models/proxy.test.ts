// No turn is lost to a proxy: HTTP_PROXY, HTTPS_PROXY and NO_PROXY are the way out of many networks.
import assert from "node:assert/strict";
import type { SageError } from "../../src/protocol/reasons/reason.ts";
import { test } from "node:test";
import { chooseModel } from "../../src/models/choice/choose.ts";
import type { Model } from "../../src/models/model.ts";
import { proxyFor } from "../../src/models/proxy.ts";
import { modelServer } from "../support/model-server.ts";
import { proxyServer, secured, trustExample } from "../support/proxy.ts";
import { worded, wordsOf } from "../support/worded.ts";

const via = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env);
const http_proxy = "http://plain.example.com:3128/";
const https_proxy = "http://secure.example.com:3128/";

test("which proxy leads to an address, as other programs read the same variables", () => {
  const both = { http_proxy, https_proxy };
  assert.equal(via("http://a.example.org/", both), http_proxy);
  assert.equal(via("https://a.example.org/", both), https_proxy);
  assert.equal(via("wss://a.example.org/", both), https_proxy);
  assert.equal(via("https://a.example.org/", { HTTPS_PROXY: https_proxy }), https_proxy);
  assert.equal(via("https://a.example.org/", { https_proxy, HTTPS_PROXY: http_proxy }), https_proxy);
  assert.equal(via("https://a.example.org/", { HTTP_PROXY: http_proxy }), undefined);
  assert.equal(via("https://a.example.org/", { ALL_PROXY: http_proxy }), http_proxy);
  assert.equal(via("https://a.example.org/", { https_proxy: " ", HTTPS_PROXY: "" }), undefined);
  assert.equal(via("https://a.example.org/", { https_proxy: "secure.example.com:3128" }), https_proxy);
  for (const here of ["localhost", "a.localhost", "127.0.0.1", "127.8.9.10", "[::1]", "LOCALHOST."])
    assert.equal(via(`http://${here}:11434/`, both), undefined, `${here} is this machine`);
  assert.throws(
    () => via("https://a.org/", { HTTPS_PROXY: "socks5://u:hunter2@h:1" }),
    worded(/^[^]*HTTPS_PROXY should be .*socks5:/),
  );
  assert.throws(
    () => via("https://a.org/", { HTTPS_PROXY: "http://:hunter2@" }),
    (error: SageError) => !`${wordsOf(error)}${JSON.stringify(error.reason)}`.includes("hunter2"),
  );
});

test("NO_PROXY: names with everything below them, ports, addresses, ranges, and all of them", () => {
  const goes: [no: string, straight: string[], around: string[]][] = [
    [
      "example.com",
      ["example.com", "a.example.com", "EXAMPLE.com:8443", "a.b.example.com."],
      ["notexample.com", "example.com.evil.org"],
    ],
    [".example.com", ["a.example.com", "example.com"], ["example.org"]],
    ["*.example.com", ["a.example.com"], ["example.org"]],
    ["example.com:8443", ["example.com:8443", "a.example.com:8443"], ["example.com", "example.com:9"]],
    ["example.com:443", ["example.com"], ["example.com:8443"]],
    ["a.org, b.org c.org", ["a.org", "b.org", "c.org"], ["d.org"]],
    ["10.0.0.0/8,192.168.1.7", ["10.1.2.3", "192.168.1.7"], ["11.0.0.1", "192.168.1.8", "a10.0.0.1.org"]],
    ["fd00::/8, [2001:db8::1]:443", ["[fd12::1]", "[2001:db8::1]"], ["[2001:db8::2]", "[fe80::1]"]],
    ["*", ["example.com", "10.0.0.1"], []],
    ["10.0.0.0/99, /8, :, ., [", [], ["10.0.0.1", "example.com"]],
    ["", [], ["example.com"]],
  ];
  for (const [no, straight, around] of goes)
    for (const name of ["no_proxy", "NO_PROXY"]) {
      for (const host of straight)
        assert.equal(via(`https://${host}/`, { https_proxy, [name]: no }), undefined, `${no}: ${host}`);
      for (const host of around)
        assert.equal(via(`https://${host}/`, { https_proxy, [name]: no }), https_proxy, `${no}: ${host}`);
    }
});

const ask = async (model: Model | undefined) => {
  const noted: string[] = [];
  const request = { system: "", messages: [{ role: "user" as const, text: "hi" }], tools: [], options: {}, agent: [] };
  const scope = {
    signal: AbortSignal.timeout(30_000),
    text() {},
    reasoning() {},
    retry: (reason: unknown) => void noted.push(String(reason)),
  };
  return model?.reply(request, scope);
};
const load = (baseURL: string, env: Record<string, string>) =>
  chooseModel({ spec: "own/some-model", env, settings: { providers: { own: { baseURL } } } })?.load();

test("a model is reached through a real proxy, over TLS by a tunnel and in clear by its whole address", async () => {
  trustExample();
  await using served = await modelServer({ text: "over TLS" }, { text: "in clear" }, { text: "straight" });
  const plain = Number(new URL(served.openaiURL).port);
  await using front = await secured(plain);
  await using proxy = await proxyServer({ secure: front.port, plain }, "lin:pass");

  const secure = await ask(await load("https://api.example.test/v1", { HTTPS_PROXY: proxy.url }));
  assert.deepEqual(secure?.parts, [{ type: "text", text: "over TLS" }]);
  const clear = await ask(await load("http://api.example.test/v1", { http_proxy: proxy.url }));
  assert.deepEqual(clear?.parts, [{ type: "text", text: "in clear" }]);
  const straight = await ask(await load(served.openaiURL, { http_proxy: proxy.url, HTTPS_PROXY: proxy.url }));
  assert.deepEqual(straight?.parts, [{ type: "text", text: "straight" }]);
  assert.deepEqual(proxy.asked, ["CONNECT api.example.test:443", "POST http://api.example.test/v1/chat/completions"]);
});

test("a proxy that wants another password says so at once, and the password is in no message", async () => {
  await using proxy = await proxyServer({ secure: 9 }, "lin:pass");
  const wrong = proxy.url.replace("lin:pass", "lin:hunter2hunter2");
  const model = await load("https://api.example.test/v1", { HTTPS_PROXY: wrong });
  await assert.rejects(ask(model), (error: SageError) => {
    assert.match(wordsOf(error), /The proxy requires a name and password \(407.*HTTPS_PROXY/);
    assert.ok(!`${wordsOf(error)}${JSON.stringify(error.reason)}`.includes("hunter2"));
    return true;
  });
  assert.equal(proxy.asked.length, 1, "it is not tried again");
});
