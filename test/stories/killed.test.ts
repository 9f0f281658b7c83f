// Real processes: `sage` is killed, or closed, while a command runs in the foreground. Whoever opens the session next goes on with it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { listProcesses } from "../../src/processes/registry.ts";
import { bash, Machine } from "../support/cli.ts";
import { modelServer, type ServedReply } from "../support/model-server.ts";
import { cannotConfine } from "../support/confine.ts";
import { until } from "../support/until.ts";

const options = { skip: process.platform !== "linux", timeout: 60_000 };

const line = "echo ran >> ran.txt; echo 前; until [ -e go ]; do sleep 0.02; done; echo 后; exit 3";
const call = (command: string): ServedReply => ({
  calls: [{ id: "c0", tool: "Bash", arguments: JSON.stringify(bash(command).input) }],
});

async function place(command: string, settings: object = {}) {
  const machine = new Machine();
  const server = await modelServer(call(command), { text: "seen" });
  const home = machine.env["SAGE_HOME"]!;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify({ permissions: { allow: ["Bash"] }, ...settings }));
  Object.assign(machine.env, { OPENAI_BASE_URL: server.openaiURL, OPENAI_API_KEY: "none" });
  return {
    machine,
    /** The result of the call, as the model reads it. */
    read: () => server.requests.at(-1)?.body.messages.find(({ role }) => role === "tool")?.content,
    isKept: () => listProcesses(home, "keeper").length > 0,
    go: () => writeFileSync(join(machine.cwd, "go"), ""),
    ran: () => machine.file("ran.txt"),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      machine[Symbol.dispose]();
    },
  };
}

const kill = async (running: ReturnType<Machine["start"]>, signal: NodeJS.Signals) => {
  running.kill(signal);
  await running.ended;
};

test(
  "kill -9 of `sage`: its command goes on, is followed by the next one, and its end is in the result; nobody is asked",
  options,
  async () => {
    await using here = await place(line);
    const { machine } = here;
    const first = machine.start(["-p", "go"]);
    first.end();
    await until(here.isKept, "the keeper to have it");
    await kill(first, "SIGKILL");
    const second = machine.start(["--plain", "--continue"]);
    await second.until("前"); // it runs, and is shown
    await kill(second, "SIGKILL");
    here.go();
    await until(
      () => !here.isKept() || listProcesses(machine.env["SAGE_HOME"]!, "keeper").every(({ life }) => life === "dead"),
    );
    const third = await machine.sage(["-p", "--continue"]);
    assert.deepEqual([third.code, third.out.trim()], [0, "seen"], third.err);
    assert.match(String(here.read()), /^前\n后\nExit code 3/);
    assert.deepEqual([here.ran(), await machine.facts("input.requested")], ["ran\n", []]);
  },
);

test(
  "`sage` is closed while a command runs: that ends it, and the model reads so without a question",
  options,
  async () => {
    await using here = await place(line);
    const { machine } = here;
    const first = machine.start(["-p", "go"]);
    first.end();
    await until(here.isKept, "the keeper to have it");
    await kill(first, "SIGTERM");
    const second = await machine.sage(["-p", "--continue"]);
    assert.deepEqual([second.code, second.out.trim()], [0, "seen"], second.err);
    assert.match(String(here.read()), /^前\n[^]*Sage was closed while it ran: that ended it/);
    assert.deepEqual([here.ran(), await machine.facts("input.requested")], ["ran\n", []]);
  },
);

test("killed before the keeper has it: a person is asked, as nobody knows the end", options, async () => {
  await using here = await place("echo ran >> ran.txt; sleep 3; exit 3");
  const { machine } = here;
  const first = machine.start(["-p", "go"]);
  first.end();
  await until(() => existsSync(join(machine.cwd, "ran.txt")));
  const { isKept } = here;
  const wasKept = isKept();
  await kill(first, "SIGKILL");
  if (wasKept || isKept()) return; // a busy machine
  const second = await machine.sage(["-p", "--continue"]);
  assert.equal(second.out, "");
  const asked = await machine.facts("input.requested");
  assert.deepEqual(
    asked.map(({ data }) => data["source"]),
    ["recovery"],
  );
});

test("the person interrupts a command that is followed after a kill: it ends", options, async () => {
  await using here = await place(line);
  const { machine } = here;
  const first = machine.start(["-p", "go"]);
  first.end();
  await until(here.isKept, "the keeper to have it");
  await kill(first, "SIGKILL");
  const second = machine.start(["-p", "--continue"]);
  second.end();
  const running = listProcesses(machine.env["SAGE_HOME"]!, "keeper")[0]?.command;
  await until(
    async () => (await machine.sage(["sessions", "--json"])).out.includes('"running"'),
    "the second to run it",
  );
  second.kill("SIGINT");
  await second.ended;
  assert.equal(existsSync(`/proc/${running?.pid}`), false);
  const [result] = await machine.facts("call.finished");
  assert.match(String(result?.data["text"]), /^前\nInterrupted by the person/);
});

test(
  "a confined command dies with Sage, and its result says so: nobody is asked",
  { ...options, skip: await cannotConfine() },
  async () => {
    await using here = await place("echo ran >> ran.txt; sleep 30", { sandbox: { mode: "contain" } });
    const { machine } = here;
    const first = machine.start(["-p", "go"]);
    first.end();
    await until(() => here.ran() !== undefined);
    await kill(first, "SIGKILL");
    const second = await machine.sage(["-p", "--continue"]);
    assert.deepEqual([second.code, second.out.trim()], [0, "seen"], second.err);
    assert.match(String(here.read()), /^This ran in the sandbox, which ended when Sage was killed/);
    assert.deepEqual([here.ran(), await machine.facts("input.requested")], ["ran\n", []]);
  },
);
