// `sage tasks`: commands in the background, from another terminal than the one their session runs in.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groupLives } from "../support/lives.ts";
import { Machine } from "../support/cli.ts";
import { until } from "../support/until.ts";

const inBackground = (command: string) => ({ tool: "Bash", input: { command, background: true } });
const waits = "touch began; until [ -e go ]; do sleep 0.05; done";

test("a command that is kept goes on when Sage exits, one that is not ends; both are listed, read and stopped", async () => {
  using machine = new Machine();
  const at = (name: string) => join(machine.cwd, name);
  const model = machine.script(
    { calls: [inBackground("printf '一\\n\\033[31mtwo\\n'; sleep 1000"), inBackground("sleep 1001")] },
    { calls: [{ tool: "Bash", input: { command: waits } }] },
    { text: "Done." },
  );
  const running = machine.start(["-p", "--bypass", "--model", model, "start the servers"]);
  running.end();
  await until(() => existsSync(at("began")), "the session to wait");

  const listed = JSON.parse((await machine.sage(["tasks", "--json"])).out) as Task[];
  const [kept, other] = listed;
  assert.ok(kept && other);
  assert.deepEqual([kept.state, kept.kept, kept.command.slice(0, 6)], ["running", false, "printf"]);
  assert.equal((await machine.sage(["tasks", "output", kept.id])).out, "一\n\x1b[31mtwo\n", "as it is, into a pipe");
  assert.match((await machine.sage(["tasks", "keep", kept.id])).out, /keeps running when Sage exits/);

  writeFileSync(at("go"), "");
  assert.equal((await running.ended).code, 0);
  await until(() => !groupLives(other.pid, other.started), "the other one to end with Sage");
  assert.ok(groupLives(kept.pid, kept.started));

  const list = (await machine.sage(["tasks"])).out;
  assert.match(list, new RegExp(`start the servers\\n {2}${kept.id} {2}running, .* · kept {2}printf`));
  assert.doesNotMatch(list, new RegExp(other.id));
  const inside = await machine.sage(["tasks", "stop", kept.id], { env: { SAGE_INSIDE: "1" } });
  assert.equal(inside.code, 2, "an agent stops with its own tool, and only what its session started");
  assert.equal((await machine.sage(["tasks", "stop", kept.id])).out, `${kept.id} stopped.\n`);
  await until(() => !groupLives(kept.pid, kept.started), "its end");
  const unknown = await machine.sage(["tasks", "stop", "nosuch"]);
  assert.match(unknown.err, /There is no command nosuch in the background/);
  assert.notEqual(unknown.code, 0);
});

type Task = {
  id: string;
  session: string;
  command: string;
  state: string;
  kept: boolean;
  pid: number;
  started: string;
};
