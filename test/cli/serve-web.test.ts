// `sage serve` as somebody meets it who has just cloned it, and `sage devices` beside it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pageAddress } from "../../src/cli/serve/web/page-files.ts";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import type { CommandReply } from "../../src/protocol/host/host.ts";
import { Machine } from "../support/cli.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { worded } from "../support/worded.ts";

const post = async (url: string, body: object, headers: Record<string, string> = {}) => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test("a fresh home without a model: a link, a page's doors behind it, and a question of the demo that can be answered", async () => {
  using machine = new Machine();
  const daemon = machine.start(["serve", "--port", "0"]);
  await daemon.until(/#k=\S+/);
  const [, url = "", link = ""] = /(http:\/\/127\.0\.0\.1:\d+)\/#k=(\S+)/.exec(daemon.output()) ?? [];
  assert.match(daemon.errors(), /this is the demo/);
  const paired = await post(`${url}/v1/pair`, { key: link, name: "laptop" });
  assert.deepEqual([paired.status, paired.body["may"]], [200, ["talk", "approve"]]);
  const key = String(paired.body["key"]);
  assert.equal((await post(`${url}/v1/pair`, { key: link, name: "thief" })).status, 401);
  const host = connectWeb(url, key, { surface: "web" });
  try {
    const pending = () => host.send({ type: "pending" }).then((reply) => (reply.ok ? reply.requests : []));
    const request = await until(async () => (await pending())[0]?.request, "no request", { everyMs: 200 });
    assert.ok(request.kind === "question");
    const listed = await post(`${url}/v1/send`, { type: "pending" }, { authorization: `Bearer ${key}` });
    assert.equal((listed.body as CommandReply<"pending"> & { ok: true }).requests[0]?.request.id, request.id);
    const { question = "", options = [] } = request.questions[0] ?? {};
    const answers = { [question]: { selected: [options[0]?.label ?? ""] } };
    const response = { type: "answers", requestId: request.id, answers } as const;
    const answered = await host.send({ type: "respond", response, by: "", surface: "" });
    assert.ok(answered.ok, JSON.stringify(answered));
    const next = await until(
      async () => (await pending()).find(({ request: { kind } }) => kind === "permission"),
      "no permission",
      { everyMs: 200 },
    );
    assert.equal(next.request.kind === "permission" && next.request.tool, "Write");
  } finally {
    host.close();
  }
  daemon.kill("SIGTERM");
  const { code, err } = await daemon.ended;
  assert.equal(code, 0);
  for (const secret of [link, key]) assert.ok(!err.includes(secret.slice(-20)), "no key in the log");
  assert.deepEqual(
    readdirSync(machine.dir).filter((name) => name.startsWith("sage-demo-")),
    [],
    "the demo leaves nothing behind",
  );
});

test("a device is let in at the terminal, comes under its person's name, and is removed while it is connected", async () => {
  using machine = new Machine();
  const home = machine.env["SAGE_HOME"] ?? "";
  const model = machine.script({ text: "hi" });
  await machine.sage(["sessions"]);
  writeFileSync(join(home, "settings.json"), JSON.stringify({ people: { Mei: { ids: [], roles: ["talker"] } } }));
  const before = await machine.sage(["devices", "add"]);
  assert.match(before.err, /the page is not served here/);
  const daemon = machine.start(["serve", "--port", "0", "--model", model], { env: { JOURNAL_STREAM: "8:1" } });
  await daemon.until(/page at (\S+);/);
  const url = /page at (\S+);/.exec(daemon.errors())?.[1] ?? "";
  assert.equal(daemon.output(), "", "below systemd the link would be kept");
  const piped = await machine.sage(["devices", "add"]);
  assert.match(piped.err, /takes a person at a terminal/);

  const terminal = machine.terminal(["devices", "add", "tablet", "--person", "Mei"]);
  await terminal.until(/type ([a-z2-9]{4}-[a-z2-9]{4})/);
  const code = /type ([a-z2-9]{4}-[a-z2-9]{4})/.exec(terminal.screen())?.[1] ?? "";
  assert.match(terminal.screen(), /[█▀▄]{10}/);
  const pairing = post(`${url}/v1/pair`, { code, name: "Firefox" });
  await terminal.answer(/Let “tablet” in, which comes from 127\.0\.0\.1\? /, "y");
  const { status, body } = await pairing;
  assert.deepEqual([status, body["me"], body["may"]], [200, { by: "Mei", surface: "web" }, ["talk"]]);
  assert.equal(await terminal.code, 0);

  const listed = JSON.parse((await machine.sage(["devices", "--json"])).out) as { id: string; person: string }[];
  assert.deepEqual([listed.length, listed[0]?.person], [1, "Mei"]);
  const host = connectWeb(url, String(body["key"]), { surface: "web" });
  const over = new AbortController();
  const ended = (async () => {
    for await (const _ of host.inbox({ signal: over.signal }));
  })().then(
    () => "over",
    (error: { code?: string }) => error.code,
  );
  const opened = await host.send({ type: "open", cwd: "" });
  assert.ok(opened.ok && "session" in opened);
  assert.ok((await host.send({ type: "say", session: opened.session, text: "hello", by: "x", surface: "y" })).ok);
  assert.equal((await machine.facts("user.said")).at(-1)?.data["by"], "Mei");
  const removed = await machine.sage(["devices", "remove", listed[0]?.id ?? ""]);
  assert.match(removed.out, /removed: tablet/);
  assert.equal(await ended, "key-unknown");
  host.close();
  daemon.kill("SIGTERM");
  await daemon.ended;
  const kept = ["journal.db", "journal.db-wal", "surfaces.db", "surfaces.db-wal"].flatMap((name) => {
    try {
      return [readFileSync(join(home, name), "latin1")];
    } catch {
      return [];
    }
  });
  for (const text of [...kept, daemon.errors()]) assert.ok(!text.includes(String(body["key"]).slice(-20)));
});

test("the page is served on this machine, and elsewhere only by https", () => {
  const at = (host: string, settings: Parameters<typeof pageAddress>[1]) =>
    pageAddress(host, settings, "/nowhere").origins?.(8787);
  const here = ["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"];
  assert.deepEqual(at("127.0.0.1", {}), here);
  assert.equal(at("0.0.0.0", {}), undefined);
  assert.equal(at("192.168.1.5", { web: { origins: ["http://localhost:9000"] } }), undefined);
  const origin = "https://sage.example.org";
  assert.deepEqual(at("0.0.0.0", { web: { origins: [`${origin}:443`] } }), [origin, ...here]);
  using folder = workspace();
  for (const name of ["cert", "key"]) writeFileSync(folder.path(name), "");
  const tls = { cert: "cert", key: "key" };
  const own = pageAddress("192.168.1.5", { tls }, folder.dir).origins?.(8787) ?? [];
  assert.deepEqual(own[0], "https://192.168.1.5:8787");
  assert.ok(own.every((one) => one.startsWith("https:")));
  assert.throws(() => pageAddress("127.0.0.1", { tls }, "/nowhere"), worded(/cert/));
});
