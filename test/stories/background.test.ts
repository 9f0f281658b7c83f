// Real processes: a command in the background ends with Sage, outlives a kill, and is found again.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groupLives } from "../support/lives.ts";
import type { BackgroundTask } from "../../src/protocol/facts/call.ts";
import { startOf } from "../../src/processes/identity.ts";
import { Machine } from "../support/cli.ts";
import { until } from "../support/until.ts";

const server = { calls: [{ tool: "Bash", input: { command: "sleep 1000", background: true } }] };
const work = { calls: [{ tool: "Bash", input: { command: "sleep 30" } }] };

function machine(): Machine {
  const sage = new Machine();
  const home = sage.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify({ permissions: { allow: ["Bash(sleep:*)"] } }));
  return sage;
}

async function taskOf(sage: Machine): Promise<BackgroundTask> {
  const found = (await sage.facts("call.finished")).find(({ data }) => data["background"]);
  return (found?.data["background"] as BackgroundTask | undefined) ?? assert.fail("it was not started");
}

test("a command in the background ends with Sage", async () => {
  using sage = machine();
  const ended = await sage.sage(["-p", "start it", "--model", sage.script(server, { text: "started" })]);
  assert.equal(ended.code, 0, ended.err);
  const task = await taskOf(sage);
  await until(() => !groupLives(task.pid, task.started), "the group to be gone");
});

test("an exit ends what does not listen, and what left its group and its parent; a kept one stays with all of it", async () => {
  using sage = machine();
  const settings = { permissions: { allow: ["Bash"] } };
  writeFileSync(join(sage.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(settings));
  const deaf = (name: string) =>
    `trap '' TERM; (setsid bash -c 'trap "" TERM; echo $$ > ${name}.far; while :; do sleep 0.2; done' &) ; echo $$ > ${name}.near; while :; do sleep 0.2; done`;
  const run = (command: string) => ({ calls: [{ tool: "Bash", input: { command, background: true } }] });
  const wait = {
    calls: [
      { tool: "Bash", input: { command: "until [ -s a.far ] && [ -s b.far ] && [ -s go ]; do sleep 0.05; done" } },
    ],
  };
  const running = sage.start([
    "-p",
    "start",
    "--model",
    sage.script(run(deaf("a")), run(deaf("b")), wait, { text: "ok" }),
  ]);
  running.end();
  const pidIn = (name: string) => Number(readFileSync(join(sage.cwd, name), "utf8"));
  const names = ["a.near", "a.far", "b.near", "b.far"];
  await until(() => names.every((name) => existsSync(join(sage.cwd, name)) && pidIn(name) > 0), "both to run");
  const tasks = async () =>
    (await sage.facts("call.finished")).flatMap(({ data }) => (data["background"] as BackgroundTask | undefined) ?? []);
  await until(async () => (await tasks()).length === 2, "both to be recorded");
  const [, second] = await tasks();
  assert.equal((await sage.sage(["tasks", "keep", second?.id ?? ""])).code, 0);
  writeFileSync(join(sage.cwd, "go"), "go");
  assert.equal((await running.ended).code, 0);
  const lives = names.map((name) => startOf(pidIn(name)) !== "");
  assert.deepEqual(lives, [false, false, true, true]);
  assert.equal((await sage.sage(["tasks", "stop", second?.id ?? ""])).code, 0);
  await until(() => names.every((name) => startOf(pidIn(name)) === ""), "the kept one to be stopped whole");
});

test("after a kill it goes on; the next process finds it, and it ends with that one", async () => {
  using sage = machine();
  const first = sage.start(["-p", "start it", "--model", sage.script(server, work)]);
  first.end();
  await until(async () => (await sage.facts("call.started").catch(() => [])).length === 2, "the second command to run");
  first.kill("SIGKILL");
  await first.ended;
  const task = await taskOf(sage);
  assert.ok(groupLives(task.pid, task.started));
  const session = JSON.parse((await sage.sage(["sessions", "--json"])).out) as { id: string }[];
  // The command that ran in the foreground is asked about: that run needs input, and ends.
  const second = await sage.sage(["-p", "--resume", session[0]?.id ?? ""]);
  assert.equal(second.out, "");
  await until(() => !groupLives(task.pid, task.started), "the group to be gone");
  for (const { data } of await sage.facts("input.requested")) assert.equal(data["source"], "recovery");
});

test("killed while idle: whoever opens the session next begins the turn for a command that ended", async () => {
  using sage = machine();
  const go = join(sage.dir, "go");
  const waits = {
    calls: [{ tool: "Bash", input: { command: `until [ -e ${go} ]; do sleep 0.05; done; exit 3`, background: true } }],
  };
  writeFileSync(
    join(sage.env["SAGE_HOME"] ?? "", "settings.json"),
    JSON.stringify({ permissions: { allow: ["Bash"] } }),
  );
  const script = sage.script(waits, { text: "started" }, { text: "it ended with 3" });
  const first = sage.start(["--plain", "start it", "--model", script]);
  await until(async () => (await sage.facts("turn.ended").catch(() => [])).length === 1, "the first turn to end");
  first.kill("SIGKILL");
  await first.ended;
  const task = await taskOf(sage);
  writeFileSync(go, "");
  await until(() => !groupLives(task.pid, task.started), "the command to end");
  const session = JSON.parse((await sage.sage(["sessions", "--json"])).out) as { id: string }[];
  const second = sage.start(["--plain", "--resume", session[0]?.id ?? ""]);
  await until(async () => (await sage.facts("turn.ended")).length === 2, "the turn that nobody asked for");
  const causes = (await sage.facts("turn.begun")).map(({ data }) => data["cause"]);
  assert.deepEqual(causes, [undefined, { tasks: [task.id] }]);
  second.end();
  await second.ended;
});
