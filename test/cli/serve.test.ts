import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { openSurfaceStores } from "../../src/host/surface-store.ts";
import { Machine, mark } from "../support/cli.ts";
import { fakeFeishu, type FakeFeishu } from "../support/feishu/platform.ts";
import { until } from "../support/until.ts";

const feishuEnv = (feishu: FakeFeishu, more: Record<string, string> = {}) => ({
  FEISHU_APP_ID: feishu.appId,
  FEISHU_APP_SECRET: feishu.appSecret,
  FEISHU_DOMAIN: feishu.url,
  FEISHU_APPROVERS: "ou_somebody",
  NO_PROXY: "127.0.0.1",
  ...more,
});

async function serving(machine: Machine, args: string[] = [], env: Record<string, string> = {}) {
  const daemon = machine.start(["serve", "--port", "0", ...args], { env });
  await daemon.until(/listening on http:\/\/\S+:\d+/);
  const url = /listening on (http:\/\/[\d.:]+)/.exec(daemon.errors())?.[1] ?? "";
  return {
    ...daemon,
    url,
    ready: async () => {
      const response = await fetch(`${url}/ready`);
      return {
        status: response.status,
        body: (await response.json()) as { ready: boolean; feishu?: { state: string } },
      };
    },
  };
}

/** A turn that waits for a person, in a session that the daemon calls its own, with nobody running it. */
async function leftBehind(machine: Machine, script: string): Promise<string> {
  const { code, out, err } = await machine.sage(["-p", "go", "--model", script, "--output-format", "json"]);
  assert.equal(code, 3, err);
  const { session } = JSON.parse(out) as { session: string };
  const stores = openSurfaceStores(join(machine.env["SAGE_HOME"] ?? "", "surfaces.db"));
  stores.of("serve").set(`session/${session}`, true);
  stores.close();
  return session;
}

test("serve answers on loopback, says that it is well, and leaves with 0 when it is told to go", async () => {
  using machine = new Machine();
  const model = machine.script({ text: "hi" });
  const daemon = await serving(machine, ["--model", model]);
  assert.match(daemon.url, /^http:\/\/127\.0\.0\.1:/);
  assert.deepEqual(await (await fetch(`${daemon.url}/health`)).json(), { status: "ok" });
  assert.deepEqual(await daemon.ready(), { status: 200, body: { ready: true } });
  assert.equal((await fetch(`${daemon.url}/feishu/webhook`, { method: "POST", body: "{}" })).status, 404);
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  assert.match(metrics, /^# TYPE sage_turns_open gauge\nsage_turns_open 0$/m);
  const sentOn = await fetch(`${daemon.url}/metrics`, { headers: { "x-forwarded-for": "203.0.113.7" } });
  assert.equal(sentOn.status, 404, "a proxy on this machine shows them to nobody else");
  const second = await machine.sage(["serve", "--model", model, "--port", new URL(daemon.url).port]);
  assert.equal(second.code, 2);
  assert.match(second.err, /the port is in use, perhaps by another `sage serve`/);
  daemon.kill("SIGTERM");
  const { code, err } = await daemon.ended;
  assert.equal(code, 0);
  assert.match(err, /stopping: .*\n.* stopped\n$/);
  assert.equal(statSync(join(machine.env["SAGE_HOME"] ?? "", "surfaces.db")).mode & 0o777, 0o600);
});

test("a turn that waited when the daemon was killed goes on when somebody answers, wherever they do", async () => {
  using machine = new Machine();
  const script = machine.script({ calls: [mark] }, { text: "done" });
  const session = await leftBehind(machine, script);
  const daemon = await serving(machine, ["--model", script]);
  await daemon.until(/open turns resumed: 0; waiting for a person: 1/);
  const [request] = await machine.pending();
  const answered = await machine.sage(["answer", request?.id ?? "", "--yes"]);
  assert.equal(answered.code, 0, answered.err);
  await daemon.until(/./);
  await ended(machine, session);
  assert.equal(machine.file("ran.txt"), "ran\n");
  daemon.kill("SIGTERM");
  assert.equal((await daemon.ended).code, 0);
});

test("what was answered while no daemon ran goes on at its start; what is not its own does not", async () => {
  using machine = new Machine();
  const script = machine.script({ calls: [mark] }, { text: "done" });
  const mine = await leftBehind(machine, script);
  const [request] = await machine.pending();
  await machine.sage(["answer", request?.id ?? "", "--yes"]);
  const { out } = await machine.sage(["-p", "go", "--model", script, "--output-format", "json"]);
  const notMine = (JSON.parse(out) as { session: string }).session;
  const daemon = await serving(machine, ["--model", script]);
  await daemon.until(/open turns resumed: 1; waiting for a person: 0/);
  await ended(machine, mine);
  assert.equal(machine.file("ran.txt"), "ran\n");
  const store = sqliteStore(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
  assert.equal(store.session(notMine)?.open, true);
  assert.equal(store.pending(notMine).length, 1);
  store.close();
  daemon.kill("SIGTERM");
  await daemon.ended;
});

test("the deadline of a request runs on in a daemon that has not loaded its session", async () => {
  using machine = new Machine();
  const script = machine.script({ calls: [mark] }, { text: "went on" });
  const { out } = await machine.sage([
    ...["-p", "go", "--model", script, "--output-format", "json", "--prompt-timeout", "1500"],
  ]);
  const { session } = JSON.parse(out) as { session: string };
  const stores = openSurfaceStores(join(machine.env["SAGE_HOME"] ?? "", "surfaces.db"));
  stores.of("serve").set(`session/${session}`, true);
  stores.close();
  const daemon = await serving(machine, ["--model", script]);
  await ended(machine, session);
  assert.deepEqual(await machine.outcomes(), ["timed_out"]);
  assert.equal(machine.file("ran.txt"), undefined);
  daemon.kill("SIGTERM");
  await daemon.ended;
});

test("what is wrong in the configuration is told, and nothing is started; an agent may not serve", async () => {
  using machine = new Machine();
  const model = machine.script({ text: "hi" });
  const bad = await machine.sage(["serve", "--model", model, "--lang", "zh"], {
    env: { FEISHU_APP_ID: "cli_a1b2c3d4e5f60718", FEISHU_APP_SECRET: "s" },
  });
  assert.equal(bad.code, 2);
  assert.match(bad.err, /^sage: 飞书没有设置好：\n  · 没有人可以使用机器人/);
  assert.equal((await machine.sage(["serve", "--model", model], { env: { SAGE_INSIDE: "1" } })).code, 2);
});

test("doctor says what is missing in the console", async () => {
  await using feishu = await fakeFeishu();
  using machine = new Machine();
  const doctor = async (env = {}) => machine.sage(["feishu", "doctor"], { env: feishuEnv(feishu, env) });
  feishu.world.granted.add("application:application:self_manage");
  const good = await doctor();
  assert.equal(good.code, 0, good.out);
  assert.match(good.out, /the long connection opens\nNothing is missing\.\n$/);

  feishu.world.granted.delete("im:message.group_at_msg:readonly");
  feishu.world.granted.delete("cardkit:card:write");
  feishu.world.published = false;
  feishu.world.callbacks.clear();
  const bad = await doctor();
  assert.equal(bad.code, 1);
  assert.deepEqual(
    bad.out.match(/^[✗·] .{20}/gm),
    [
      "✗ the bot feature is of",
      "✗ the permission im:mes",
      "· the permission im:mes",
      "· the permission cardki",
      "✗ no version is publish",
      "✗ the callback card.act",
    ].map((line) => line.slice(0, 22)),
  );
  const wrong = await doctor({ FEISHU_APP_SECRET: "another" });
  assert.match(wrong.out, /app secret invalid/);
  assert.doesNotMatch(wrong.out, /another/);
});

test("setup asks, tries, finds out who is there, and keeps secrets where only their owner reads them", async () => {
  await using feishu = await fakeFeishu();
  using machine = new Machine();
  mkdirSync(machine.env["SAGE_HOME"] ?? "", { recursive: true });
  const settings = join(machine.env["SAGE_HOME"] ?? "", "settings.json");
  writeFileSync(settings, '{"model":"openai/x"}');
  const lin = feishu.user("Lin");
  const terminal = machine.terminal(["feishu", "setup"], { env: { SAGE_KEYS: "file", NO_PROXY: "127.0.0.1" } });
  await terminal.answer("Feishu or Lark?", feishu.url);
  await terminal.answer("1 scan a code", "2");
  await terminal.answer("App ID", "cli_wrong");
  await terminal.answer("should be cli_", "");
  await terminal.answer("App ID", feishu.appId);
  await terminal.answer("App Secret", feishu.appSecret);
  await terminal.answer("How should events arrive?", "1");
  await terminal.until("the bot is Sage");
  await terminal.answer("Who may approve?", "");
  await terminal.until(/sage \d{6}/);
  const code = /sage (\d{6})/.exec(terminal.screen())?.[1];
  feishu.user("Eve").say("sage 000000");
  lin.say(`sage ${code}`);
  await terminal.until(`Received from ${lin.openId}`);
  await terminal.answer("Who else may give tasks?", "");
  assert.equal(await terminal.code, 0);
  assert.doesNotMatch(terminal.raw(), new RegExp(feishu.appSecret));
  assert.deepEqual(JSON.parse(readFileSync(settings, "utf8")), {
    model: "openai/x",
    feishu: { appId: feishu.appId, domain: feishu.url, mode: "socket", approvers: [lin.openId] },
  });
  // Once more, as after a renewed secret: whoever only presses Enter changes nothing.
  const before = JSON.parse(readFileSync(settings, "utf8")) as { feishu: object };
  writeFileSync(settings, JSON.stringify({ ...before, feishu: { ...before.feishu, mode: "webhook" } }));
  const again = machine.terminal(["feishu", "setup"], { env: { SAGE_KEYS: "file", NO_PROXY: "127.0.0.1" } });
  for (const asked of ["Feishu or Lark?", "1 scan a code", "App ID", "App Secret", "How should events arrive?"])
    await again.answer(asked, "");
  await again.answer("Encrypt Key", "key");
  await again.answer("Verification Token", "token");
  await again.answer("Who may approve?", "");
  await again.answer("Who else may give tasks?", "");
  assert.equal(await again.code, 0);
  assert.deepEqual(JSON.parse(readFileSync(settings, "utf8")), {
    ...before,
    feishu: { ...before.feishu, mode: "webhook" },
  });
  const keys = join(machine.env["SAGE_HOME"] ?? "", "keys.json");
  assert.equal(statSync(keys).mode & 0o777, 0o600);
  assert.match(readFileSync(keys, "utf8"), new RegExp(feishu.appSecret));
  const env = { SAGE_KEYS: "file", NO_PROXY: "127.0.0.1", FEISHU_MODE: "socket" };
  const doctor = await machine.sage(["feishu", "doctor"], { env });
  assert.match(doctor.out, /1 approver/);
});

test("the log is one JSON object a line where that is asked for, and a refused click is readable afterwards", async () => {
  await using feishu = await fakeFeishu();
  using machine = new Machine();
  const [lin, eve] = [feishu.user("Lin"), feishu.user("Eve")];
  const group = feishu.group("dev", [lin, eve]);
  const env = feishuEnv(feishu, { FEISHU_APPROVERS: lin.openId });
  const model = machine.script({ calls: [mark] }, { text: "done" });
  const daemon = machine.start(["serve", "--port", "0", "--log", "json", "--model", model], { env });
  await daemon.until(/listening on/);
  await until(() => feishu.sockets.count() > 0);
  lin.say("go", { chat: group, mentionBot: true });
  const card = await feishu.until(group, ({ buttons }) => buttons.includes("Allow once"));
  await eve.click(card.id, "allow_once");
  await lin.click(card.id, "allow_once");
  await feishu.until(group, ({ text }) => /done/.test(text));
  daemon.kill("SIGTERM");
  const { err } = await daemon.ended;
  const lines = err
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { level: string; message: string });
  assert.ok(lines.some(({ level, message }) => level === "warn" && message.includes(eve.openId)));
  const happened = lines.flatMap(({ message }) => /^\w{9}: (.*)/.exec(message)?.[1] ?? []);
  assert.match(
    happened.join("\n"),
    /^message by Lin.* Feishu\nasks \(permission for Bash\), request \S+\nrequest \S+ ended by Lin.* Feishu: allowed\n.*1 tool call.*$/,
  );
  const told = await machine.sage(["feishu", "audit"], { env });
  assert.match(told.out, new RegExp(`\\(${eve.openId}\\)  may not answer the request`));
  const [json] = (await machine.sage(["feishu", "audit", "--json"], { env })).out.trim().split("\n");
  assert.equal((JSON.parse(json ?? "{}") as { operator: { openId: string } }).operator.openId, eve.openId);
});

async function ended(machine: Machine, session: string): Promise<void> {
  const store = sqliteStore(join(machine.env["SAGE_HOME"] ?? "", "journal.db"));
  await until(() => !store.session(session)?.open, "the turn did not end");
  store.close();
}
