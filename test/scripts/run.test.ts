import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { workspace } from "../support/sage.ts";

/** A clone whose npm installs nothing and whose one script is `body`. */
function clone(root: string, body: string): { lock: string; env: NodeJS.ProcessEnv } {
  for (const folder of ["scripts", "node_modules"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../../scripts/run.mjs"), join(root, "scripts/run.mjs"));
  writeFileSync(join(root, "package-lock.json"), "{}");
  writeFileSync(join(root, "npm.js"), "");
  writeFileSync(join(root, "scripts/body.mjs"), body);
  return { lock: join(root, ".install-lock"), env: { ...process.env, npm_execpath: join(root, "npm.js") } };
}

test("an install that was killed before it wrote its id is not waited for", () => {
  using here = workspace();
  const { lock, env } = clone(here.path("clone"), "console.log('ran')");
  mkdirSync(lock);
  const before = new Date(Date.now() - 60_000);
  utimesSync(lock, before, before);
  const run = spawnSync(process.execPath, ["scripts/run.mjs", "scripts/body.mjs"], {
    cwd: here.path("clone"),
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.deepEqual([run.status, run.stdout], [0, "ran\n"], run.stderr);
  assert.equal(existsSync(lock), false);
});

test(
  "what npm started ends when the shell between them was told to end",
  { skip: process.platform === "win32" },
  async () => {
    using here = workspace();
    const { env } = clone(
      here.path("clone"),
      `process.on("SIGTERM", () => { console.log("told"); process.exit(); }); console.log("up"); setInterval(() => {}, 1000);`,
    );
    // The second command keeps the shell from becoming the first one.
    const line = `"${process.execPath}" scripts/run.mjs scripts/body.mjs; exit 3`;
    const shell = spawn("sh", ["-c", line], { cwd: here.path("clone"), env: { ...env, npm_lifecycle_event: "start" } });
    shell.stdout.once("data", () => shell.kill("SIGTERM"));
    const [out] = await Promise.all([text(shell.stdout), once(shell, "exit")]);
    assert.equal(out, "up\ntold\n");
  },
);
