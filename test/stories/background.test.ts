// Real processes: a command in the background ends with Sage, outlives a kill, and is found again.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groupLives } from "../../src/journal/process.ts";
import type { BackgroundTask } from "../../src/protocol/facts/call.ts";
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
