// A hostile repository brings settings for the agent that is to run in it; the agent's commands are nobody's hands.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { guestTrust, trustGuests } from "../../src/config/trust/guest-trust.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { guestOf } from "../../src/host/guests/guests.ts";
import { workspace } from "../support/sage.ts";
import { worded } from "../support/worded.ts";

const hostile = [
  ".opencode/plugin/evil.js",
  ".opencode/tools/evil.ts",
  ".opencode/package.json",
  ".claude/agents/free.md",
  ".claude/skills/deep/er/SKILL.md",
  ".gemini/extensions/evil/gemini-extension.json",
  ".codex/rules/all.rules",
];

test("a guest is started in no folder whose plugins, scripts or subagents nobody trusted, or that changed since", async () => {
  for (const path of hostile) {
    using here = workspace();
    const home = sageHome({ SAGE_HOME: join(here.dir, "home") });
    const cwd = join(here.dir, "repo");
    mkdirSync(join(cwd, dirname(path)), { recursive: true });
    writeFileSync(join(cwd, path), "evil");
    const settings = { claude: { command: process.execPath } };
    const start = () => guestOf("claude", { cwd, home, env: { SAGE_KEYS: "k" }, settings });
    await assert.rejects(start(), worded(/that claude would follow/), path);
    mkdirSync(home.dir, { recursive: true });
    trustGuests(home.trust, guestTrust(home.trust, cwd));
    const { env } = await start();
    assert.deepEqual([env["SAGE_INSIDE"], env["SAGE_KEYS"]], [home.dir, undefined]);
    writeFileSync(join(cwd, path), "worse");
    await assert.rejects(start(), worded(/that claude would follow/), path);
  }
});

test("a folder without an end is not looked through, and not passed over either", async () => {
  using here = workspace();
  mkdirSync(join(here.dir, ".claude/skills"), { recursive: true });
  symlinkSync("..", join(here.dir, ".claude/skills/again"));
  const home = sageHome({ SAGE_HOME: join(here.dir, "home") });
  await assert.rejects(guestOf("claude", { cwd: here.dir, home, env: {} }), { code: "config-invalid" });
});
