import assert from "node:assert/strict";
import { spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { bash } from "../../src/tools/shell/bash.ts";
import { spawnDirectly, spawnNoted, type Spawn } from "../../src/tools/process/spawn.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import { until } from "../support/until.ts";
import { Workspace } from "./workspace.ts";

const env = { PATH: process.env["PATH"] };
const onLinux = { skip: process.platform !== "linux" };

/** Runs a line to its end; tells its parent too. */
async function run(spawn: Spawn, line: string, more: { env?: NodeJS.ProcessEnv; begins?: boolean } = {}) {
  let parent = 0;
  const noted = async (pid: number) => {
    parent = parentOf(pid);
    return more.begins ?? true;
  };
  const { output, ended, pid } = await spawn({ line, cwd: "/", env: more.env ?? env, noted });
  const [said, end] = await Promise.all([text(output).catch(() => ""), ended]);
  return { said, end, pid, parent };
}

function parentOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
}

for (const [name, spawn] of [
  ["a spawner", createSpawner()],
  ["this process", spawnDirectly],
] as const) {
  test(`a command started by ${name} leads its group, has no input, and tells code from signal`, async () => {
    const grouped = await run(spawn, "echo $$; read -r _ || echo no input; echo error >&2; ps -o pgid= -p $$");
    const lines = grouped.said.trim().split(/\s*\n\s*/);
    assert.deepEqual(lines, [`${grouped.pid}`, "no input", "error", `${grouped.pid}`]);
    const ends: unknown[] = [];
    for (const line of ["true", "exit 3", "exit 139", "kill -SEGV $$", "exit 137", "kill -9 $$", "exit 255"])
      ends.push((await run(spawn, line)).end);
    assert.deepEqual(ends, [
      { code: 0 },
      { code: 3 },
      { code: 139 },
      { signal: "SIGSEGV" },
      { code: 137 },
      { signal: "SIGKILL" },
      { code: 255 },
    ]);
  });

  test(`a command that was not noted is never begun by ${name}, and the next one is`, async () => {
    using work = new Workspace();
    const line = `touch ${work.path("began")}`;
    await run(spawn, line, { begins: false });
    const noted = () => Promise.reject(new Error("the journal is gone"));
    await assert.rejects(spawn({ line, cwd: "/", env, noted }), /journal is gone/);
    assert.equal((await run(spawn, "echo next")).said, "next\n");
    assert.throws(() => work.get("began"), /ENOENT/);
  });

  test(`a command that is stopped and continued goes on under ${name}`, async () => {
    const { said, end } = await run(spawn, "(sleep 0.1; kill -CONT $$) & kill -STOP $$; echo went on");
    assert.deepEqual([said, end], ["went on\n", { code: 0 }]);
  });
}

test("commands one after the other have one spawner, those at the same time have one each", onLinux, async () => {
  const spawn = createSpawner();
  const first = await run(spawn, "true");
  assert.notEqual(first.parent, process.pid);
  assert.equal((await run(spawn, "true")).parent, first.parent);
  const both = await Promise.all([run(spawn, "sleep 0.2; echo 一"), run(spawn, "echo 二")]);
  assert.deepEqual(
    both.map(({ said }) => said),
    ["一\n", "二\n"],
  );
  assert.equal(new Set(both.map(({ parent }) => parent)).size, 2);
});

test("each command has its own environment, and nothing of the spawner's", onLinux, async () => {
  const spawn = createSpawner();
  const line = 'echo "$A|$OLDPWD|$PWD"; ls /proc/self/fd | wc -l';
  const plain = await run(spawnDirectly, line, { env: { ...env, A: "1" } });
  assert.equal((await run(spawn, line, { env: { ...env, A: "1" } })).said, plain.said);
  assert.match((await run(spawn, line, { env: { ...env, A: "two\nlines" } })).said, /^two\nlines\|\|\/\n/);
});

test("a process that left the group does not write into the output of the next command", onLinux, async () => {
  using work = new Workspace();
  const spawn = createSpawner();
  work.spawn = spawn;
  await work.run(bash, { command: "setsid sh -c 'sleep 2.5; echo late' & disown; echo early" });
  assert.equal((await work.run(bash, { command: "sleep 1; echo mine" })).text, "mine");
});

test("when the spawner dies, the end of its command is unknown, and the next command runs", onLinux, async () => {
  using work = new Workspace();
  const spawners: number[] = [];
  const spawn = createSpawner();
  work.spawn = (command) =>
    spawn({
      ...command,
      noted(pid) {
        spawners.push(parentOf(pid));
        return command.noted(pid);
      },
    });
  work.onOutput = () => process.kill(spawners[0]!, "SIGKILL");
  const { ok, text: said } = await work.run(bash, { command: "echo begun; sleep 0.3; echo done > done.txt" });
  assert.deepEqual([ok, said.split("\n")[0], /How it ended is not known/.test(said)], [false, "begun", true]);
  assert.equal(work.get("done.txt"), "done\n");
  work.onOutput = () => {};
  assert.equal((await work.run(bash, { command: "echo again" })).text, "again");
  assert.notEqual(spawners[0], spawners[1]);
});

test("an idle spawner that was killed is replaced", onLinux, async () => {
  const spawn = createSpawner();
  const { parent } = await run(spawn, "true");
  process.kill(parent, "SIGKILL");
  await until(() => !isAlive(parent));
  const next = await run(spawn, "echo next");
  assert.deepEqual([next.said, next.parent === parent], ["next\n", false]);
});

test("where a spawner cannot be made, this process starts commands", onLinux, async () => {
  using work = new Workspace();
  // Only what the direct way needs: there is no mkfifo.
  await run(spawnDirectly, `for one in sh bash; do ln -s "$(command -v $one)" ${work.root}; done`);
  const path = [work.root, join(work.root, "none")].join(delimiter);
  const { said, parent } = await run(createSpawner(), "echo $((1 + 1))", { env: { PATH: path } });
  assert.deepEqual([said, parent], ["2\n", process.pid]);
});

test("a spawner that could not be made is made a while later", onLinux, async () => {
  for (const [restMs, rests] of [
    [0, false],
    [60_000, true],
  ] as const) {
    using work = new Workspace();
    await run(spawnDirectly, `for one in sh bash; do ln -s "$(command -v $one)" ${work.root}; done`);
    const spawn = createSpawner({ restMs });
    const more = { env: { PATH: work.root } };
    assert.equal((await run(spawn, "true", more)).parent, process.pid);
    await run(spawnDirectly, `for one in mkfifo rm; do ln -s "$(command -v $one)" ${work.root}; done`);
    const { parent } = await run(spawn, "true", more);
    assert.equal(parent === process.pid, rests);
  }
});

test("where the pipe of an idle spawner is gone, this process starts the command", onLinux, async () => {
  const spawn = createSpawner();
  const { parent } = await run(spawn, "true");
  const [, , , , , , pipe = ""] = readFileSync(`/proc/${parent}/cmdline`, "utf8").split("\0");
  assert.ok(pipe.startsWith(join(tmpdir(), "sage-spawner-")), pipe);
  rmSync(pipe);
  const next = await run(spawn, "echo next");
  assert.deepEqual([next.said, next.parent], ["next\n", process.pid]);
  await until(() => !isAlive(parent), "the spawner to end");
});

test("a spawner takes no other command before its last one was answered", onLinux, async () => {
  const spawn = createSpawner();
  const others: number[] = [];
  let first = 0;
  const noted = async (pid: number) => {
    first = parentOf(pid);
    // Its output ends only where it was opened.
    await until(() => readlinkSync(`/proc/${pid}/fd/1`).endsWith("/output"), "the pipe to be open");
    process.kill(pid, "SIGKILL");
    await until(() => !isAlive(pid));
    for (let n = 0; n < 5; n++) {
      const both = await Promise.all([run(spawn, "true"), run(spawn, "sleep 0.02")]);
      others.push(...both.map(({ parent }) => parent));
    }
    return true;
  };
  const { output, ended } = await spawn({ line: "true", cwd: "/", env, noted });
  assert.deepEqual([await text(output), await ended], ["", { signal: "SIGKILL" }]);
  assert.equal(others.includes(first), false);
});

test("without descriptors a command cannot be started, and this process goes on", onLinux, async () => {
  using work = new Workspace();
  const { code, said } = await child(
    work,
    `const { bash } = await import(at("shell/bash.ts"));
     const { openSync, closeSync } = await import("node:fs");
     const scope = { signal: AbortSignal.timeout(60_000), cwd: "/", home: "/", keepDir: process.env.TMPDIR, env, output() {}, spawned() {}, seen() {} };
     const attempts = [
       () => createSpawner()({ line: "true", cwd: "/", env, noted: async () => true }),
       () => bash.execute({ command: "true", background: true, timeout: 1000 }, scope),
     ];
     const open = [];
     try { for (;;) open.push(openSync("/dev/null")); } catch {}
     closeSync(open.pop());
     const codes = [];
     for (const attempt of attempts) codes.push(await attempt().then(() => "started", (error) => error.code));
     for (const one of open) closeSync(one);
     console.log(...codes);`,
    "ulimit -n 60",
  );
  assert.deepEqual([said, code], ["EMFILE EMFILE\n", 0]);
  assert.deepEqual(
    readdirSync(work.path("tmp")).filter((name) => name.startsWith("sage-spawner-")),
    [],
  );
});

test(
  "a spawner whose Sage was killed leaves no folder behind, and its commands take SIGPIPE as any",
  onLinux,
  async () => {
    using work = new Workspace();
    assert.equal((await run(createSpawner(), "yes | head -1; echo ${PIPESTATUS[0]}")).said, "y\n141\n");
    const { said } = await child(
      work,
      `await createSpawner()({ line: "sleep 0.3", cwd: "/", env, noted: async () => true });
     console.log((await import("node:fs")).readdirSync(process.env.TMPDIR).length);
     process.kill(process.pid, "SIGKILL");`,
    );
    assert.equal(said, "1\n");
    await until(() => readdirSync(work.path("tmp")).length === 0, "the folder to be gone");
  },
);

/** Another Sage: it runs this, and its folder for temporary files is `tmp` in the workspace. */
async function child(work: Workspace, program: string, before = "true") {
  mkdirSync(work.path("tmp"));
  const room = new URL("../../src/tools/", import.meta.url).href;
  const whole = `
    const at = (name) => ${JSON.stringify(room)} + name;
    const env = { PATH: process.env.PATH };
    const { createSpawner } = await import(at("process/spawner.ts"));
    ${program}`;
  const args = ["-c", `${before} && exec "$@"`, "bash", process.execPath, "--input-type=module", "-e", whole];
  const sage = spawnChild("bash", args, {
    env: { ...process.env, TMPDIR: work.path("tmp") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [code]] = await Promise.all([text(sage.stdout), once(sage, "exit")]);
  return { said, code: code as number | null };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test(
  "a sandbox that is not as planned ends before the shell around it does, whose end would let it begin",
  onLinux,
  async () => {
    using work = new Workspace();
    let inner = 0;
    const launch = {
      ...{ words: [], args: "/dev/null", filter: "/dev/null", env, inner: () => inner },
      heard: async (line: string) => (inner = Number(line)) < 0,
      over: async () => ({ blocked: [] }),
    };
    // Like a sandbox it is in a group of its own, and waits on descriptor 7 for whatever comes.
    const script = `setsid sh -c 'echo $$ >&3; read -r go <&7; : >"$1"' sh "$1" & wait`;
    const place = { cwd: "/", env, noted: async () => true, launch };
    const { ended } = await spawnNoted(script, [work.path("began")], place, "ignore");
    await ended;
    await until(() => !isThere(inner));
    assert.deepEqual(readdirSync(work.path(".")), []);
  },
);

function isThere(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
