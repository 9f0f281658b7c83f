import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launchdAgent, systemdUnit } from "../../src/cli/serve/install.ts";
import { Machine } from "../support/cli.ts";

const linux = { skip: process.platform === "linux" ? false : "systemd is Linux's" };

test("install writes a unit that systemd accepts, status says how it is, uninstall takes it away", linux, async () => {
  using machine = new Machine();
  const env = { TZ: "Asia/Shanghai", HTTPS_PROXY: "http://lin:secret@proxy:3128", ANTHROPIC_API_KEY: "sk-1" };
  const made = await machine.sage(["serve", "install", "--no-start", "--log", "json", "--lang", "zh"], { env });
  assert.equal(made.code, 0, made.err);
  const file = join(machine.dir, ".config/systemd/user/sage.service");
  const unit = readFileSync(file, "utf8");
  assert.match(unit, /^Wants=network-online\.target$/m);
  assert.match(unit, /^KillMode=process$/m);
  assert.match(unit, /^ExecStart=".*" ".*" "serve" "--log" "json"$/m);
  assert.match(unit, /^Environment="SAGE_LANG=zh"\n.*\nEnvironment="TZ=Asia\/Shanghai"$/m);
  assert.match(unit, /^Environment="HTTPS_PROXY=http:\/\/lin:secret@proxy:3128"$/m);
  assert.doesNotMatch(unit, /sk-1/, "keys are read where setup saved them");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(unit.includes(`WorkingDirectory=${machine.cwd}\n`));
  const at = { ...machine.env, XDG_RUNTIME_DIR: machine.dir }; // without it systemd looks at nothing
  const verified = spawnSync("systemd-analyze", ["verify", "--user", file], { encoding: "utf8", env: at });
  // Where there is no systemd at hand, the form of the file is all that can be looked at.
  if (!verified.error) assert.equal(verified.status, 0, verified.stderr);
  assert.match((await machine.sage(["serve", "status"])).out, /installed: .*no response/s);
  assert.equal((await machine.sage(["serve", "uninstall", "--no-start"])).code, 0);
  assert.ok(!existsSync(file));
  assert.equal((await machine.sage(["serve", "uninstall"])).code, 2);
});

test("no path or value leaves its place in a unit or an agent", () => {
  const service = { command: ["/opt/a b/node", 'x"%n$HOME'], cwd: "/w/100%", env: { A: "<&>" } };
  const unit = systemdUnit(service);
  assert.match(unit, /^ExecStart="\/opt\/a b\/node" "x\\"%%n\$\$HOME"$/m);
  assert.match(unit, /^WorkingDirectory=\/w\/100%%$/m);
  assert.match(launchdAgent(service, "l", "/log"), /<key>A<\/key><string>&lt;&amp;><\/string>/);
});
