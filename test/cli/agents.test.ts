import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { installedAgents, isOlder } from "../../src/host/guests/installed-agents.ts";
import { guestProgram, guestPrograms, findProgram } from "../../src/host/guests/guest-programs.ts";
import { worded } from "../support/worded.ts";

const bin = mkdtempSync(join(tmpdir(), "sage-agents-"));
after(() => rmSync(bin, { recursive: true, force: true }));
function program(name: string, says: string): string {
  const path = join(bin, name);
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

test("agents that are installed are told with their version, and with what Sage can keep for them", async () => {
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const paths = { claude: program("claude", "2.1.88 (Claude Code)"), codex: program("codex", "codex-cli 0.166.0") };
  const mine = program("my-agent", "no number here");
  const found = await installedAgents(guestPrograms({ mine: { command: mine, args: ["acp"] } }), env);
  assert.deepEqual(
    found.map(({ name, path, version, keeps }) => [name, path, version, keeps]),
    [
      ["claude", paths.claude, "2.1.88", "carried"],
      ["codex", paths.codex, "0.166.0", "exact"],
      ["gemini", undefined, undefined, "carried"],
      ["qwen", undefined, undefined, "carried"],
      ["opencode", undefined, undefined, "carried"],
      ["mine", mine, undefined, "carried"],
    ],
  );
});

test("settings change how a known agent is started, and add others, which speak ACP", () => {
  const settings = { qwen: { mode: "plan" }, helper: { args: ["--stdio"], env: { KEY: "1" } } };
  assert.deepEqual(guestProgram("qwen", settings), {
    name: "qwen",
    protocol: "acp",
    command: "qwen",
    args: ["--acp"],
    mode: "plan",
  });
  assert.deepEqual(guestProgram("helper", settings), {
    name: "helper",
    protocol: "acp",
    command: "helper",
    args: ["--stdio"],
    env: { KEY: "1" },
  });
  assert.throws(() => guestProgram("nobody", settings), worded(/claude, codex, gemini, qwen, opencode, helper/));
});

test("a program is looked for in whole folders of the PATH alone", () => {
  program("claude", "1.0.0");
  assert.equal(findProgram("claude", { PATH: `.::${bin}` }), join(bin, "claude"));
  assert.equal(findProgram("claude", { PATH: "." }), undefined);
  assert.equal(findProgram("./claude", { PATH: bin }), undefined);
});

test("versions are compared by their numbers", () => {
  assert.deepEqual(
    ["2.1.88", "2.1.89", "2.1.325", "2.2.0", "1.9.99", "2.1"].map((version) => isOlder(version, "2.1.89")),
    [true, false, false, false, true, true],
  );
});
