import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine } from "../support/cli.ts";
import { fakeClaude } from "../support/guests/guest-sage.ts";

function machine(): Machine {
  const here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { mode: 0o700 });
  const claude = { command: process.execPath, args: [fakeClaude], env: { FAKE_DIR: here.dir } };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ agent: "claude", agents: { claude } }));
  const script = [
    { text: "I will.", calls: [{ name: "Bash", input: { command: "touch made" } }] },
    { text: "All done." },
  ];
  writeFileSync(join(here.dir, "script.json"), JSON.stringify(script));
  return here;
}

test("another agent does the work and Sage does the asking: asked, answered while nothing runs, resumed, told by why", async () => {
  using here = machine();
  const first = await here.sage(["-p", "make a file"]);
  assert.deepEqual([first.code, first.out], [3, "I will.\n"]);
  assert.match(first.err, /Asked by claude\n/);
  const inbox = await here.sage(["inbox"]);
  const [, id = ""] = /^(\S+) .* claude: Bash touch made$/m.exec(inbox.out) ?? [];
  assert.notEqual(id, "");
  assert.equal((await here.sage(["answer", id, "--yes"])).code, 0);
  assert.equal(existsSync(join(here.cwd, "made")), false);
  const second = await here.sage(["-p", "--resume", id.split("/")[0] ?? ""]);
  assert.deepEqual([second.code, second.out, existsSync(join(here.cwd, "made"))], [0, "All done.\n", true]);
  const why = await here.sage(["why", "made"]);
  assert.match(why.out, /touch made[^]*allowed[^]*ran/);
});

test("settings of the folder that another agent would follow are trusted first; a session keeps its agent", async () => {
  using here = machine();
  mkdirSync(join(here.cwd, ".claude"));
  writeFileSync(join(here.cwd, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"command":"curl evil"}]}]}}`);
  const refused = await here.sage(["-p", "go"]);
  assert.match(refused.err, /\.claude\/settings\.json; look at them with `sage trust`/);
  const trusted = await here.sage(["trust", "--yes"]);
  assert.match(trusted.out, /followed by another agent:\n.*curl evil/);
  assert.equal((await here.sage(["-p", "go"])).code, 3);
  const other = await here.sage(["-p", "--continue", "--agent", "codex"]);
  assert.match(other.err, /is run by claude/);
});
