// A sandbox that is tried, or opened, when Sage is killed leaves nothing behind.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startOf } from "../../src/processes/identity.ts";
import { listProcesses } from "../../src/processes/registry.ts";
import { until } from "../support/until.ts";

const options = { skip: process.platform !== "linux" };
const net = new URL("../../src/confine/network/net.ts", import.meta.url).href;

test("the helper that opens a network ends when Sage is killed before bwrap has tied it to that", options, async () => {
  const dir = mkdtempSync(join(tmpdir(), "sage-left-"));
  // A bwrap that is never tied to anybody: the real one is not for its first milliseconds.
  writeFileSync(join(dir, "bwrap"), `#!/bin/sh\nwhile [ "$1" != --dev-bind ]; do shift; done\nshift 3\nexec "$@"\n`);
  chmodSync(join(dir, "bwrap"), 0o755);
  const script = `
    const { createNetwork } = await import(${JSON.stringify(net)});
    void createNetwork(() => {}, { path: () => process.env.PATH, sageHome: ${JSON.stringify(dir)} }).open();
    process.kill(process.pid, "SIGKILL");`;
  const env = { ...process.env, PATH: `${dir}:${process.env["PATH"] ?? ""}` };
  const sage = spawn(process.execPath, ["--input-type=module", "-e", script], { env, stdio: "ignore" });
  await once(sage, "exit");
  const [helper, ...others] = listProcesses(dir, "probe");
  assert.ok(helper && others.length === 0);
  await until(() => startOf(helper.pid) === "", "the helper to be gone");
  rmSync(dir, { recursive: true });
});
