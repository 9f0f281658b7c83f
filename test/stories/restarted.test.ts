// `sage serve` is restarted for an update, and killed, while a command runs: one command, one result, nobody is asked.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connectWeb } from "../../src/host/socket/connect-web.ts";
import { thorough } from "../faults/rounds.ts";
import { bash, Machine } from "../support/cli.ts";
import { until } from "../support/until.ts";

const options = { skip: process.platform !== "linux", timeout: 110_000 };

test("a command outlives the daemon that began it, and its result comes from the next one", options, async () => {
  using machine = new Machine();
  const home = machine.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify({ permissions: { allow: ["Bash"] } }));
  const line = "echo ran >> ran; until [ -e go ]; do sleep 0.05; done; echo 完成";
  const model = machine.script({ calls: [bash(line)] }, { text: "all done" });
  const serve = () => machine.start(["serve", "--port", "0", "--model", model]);

  const first = serve();
  await first.until(/#k=\S+/);
  const [, url = "", key = ""] = /(http:\/\/127\.0\.0\.1:\d+)\/#k=(\S+)/.exec(first.output()) ?? [];
  const headers = { "content-type": "application/json" };
  const paired = await fetch(`${url}/v1/pair`, {
    method: "POST",
    headers,
    body: JSON.stringify({ key, name: "laptop" }),
  });
  const device = ((await paired.json()) as { key: string }).key;
  const host = connectWeb(url, device, { surface: "web" });
  const opened = await host.send({ type: "open", cwd: "" });
  assert.ok(opened.ok);
  await host.send({ type: "say", session: opened.session, text: "go", by: "x", surface: "y" });
  await until(() => machine.file("ran") !== undefined, "the command does not begin");
  host.close();
  first.kill("SIGTERM");
  assert.equal((await first.ended).code, 0);

  if (thorough) {
    const second = serve();
    await second.until(/listening|page at/);
    second.kill("SIGKILL");
    await second.ended;
  }
  const last = serve();
  await last.until(/listening|page at/);
  writeFileSync(join(machine.cwd, "go"), "");
  await until(
    async () => (await machine.facts("turn.ended")).length === 1,
    () => last.errors(),
    { everyMs: 100 },
  );
  const [result] = await machine.facts("call.finished");
  assert.deepEqual([machine.file("ran"), result?.data["text"]], ["ran\n", "完成"]);
  assert.deepEqual(await machine.facts("input.requested"), []);
  last.kill("SIGTERM");
  await last.ended;
});
