// Commands that outlive their worker, with real keepers. Another worker is another runner over the same folder.
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { runningProcesses, startOf } from "../../src/processes/identity.ts";
import { listProcesses } from "../../src/processes/registry.ts";
import { createBash } from "../../src/tools/shell/bash.ts";
import { createCommandRunner, type CommandRunner } from "../../src/tools/process/command-runner.ts";
import type { Kept, Spawn, Spawned } from "../../src/tools/process/spawn.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import { thorough } from "../faults/rounds.ts";
import { until } from "../support/until.ts";
import { Workspace } from "./workspace.ts";

const options = { skip: process.platform !== "linux", timeout: 60_000 };
const bash = createBash();

class Place extends Workspace {
  readonly folder = join(this.base, "runner");
  readonly runner: CommandRunner = this.worker();

  worker(): CommandRunner {
    return createCommandRunner({ folder: this.folder, machine: "here", spawn: createSpawner() });
  }
  command(line: string, more: { begins?: () => Promise<boolean>; timeoutMs?: number } = {}) {
    const noted = more.begins ?? (async () => true);
    return { line, cwd: this.root, env: this.env, noted, timeoutMs: more.timeoutMs ?? 60_000 };
  }
  /** Lines of a file that commands append to. */
  ran(): string[] {
    return existsSync(this.path("ran")) ? this.get("ran").trim().split("\n") : [];
  }
  entries(): string[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder, { recursive: true, encoding: "utf8" }).map((path) => path.split("/").at(-1)!);
  }
}

const call = (epoch: number, key = "t0/0/0/run0") => ({ session: "session", key, epoch });

async function toEnd({ output, ended }: Spawned) {
  const [said, end] = await Promise.all([text(output), ended]);
  return { said, end };
}

test(
  "code, signal, output and what is left behind are the same to whoever began and to whoever comes later",
  options,
  async () => {
    using place = new Place();
    const id = place.runner.take("session", 1)!;
    const lines = [
      "echo 一; echo two >&2; exit 3",
      "exit 137",
      "kill -9 $$",
      "exit 127",
      "kill -TERM $$",
      "sleep 30 & echo left",
    ];
    const live: unknown[] = [];
    const later: unknown[] = [];
    for (const [n, line] of lines.entries()) {
      live.push(await toEnd(await place.runner.start(call(1, `k${n}`), id)(place.command(line))));
      const again = place.worker().find(call(1, `k${n}`), id) as Spawn;
      later.push(await toEnd(await again(place.command(line))));
    }
    assert.deepEqual(live, [
      { said: "一\ntwo\n", end: { code: 3 } },
      { said: "", end: { code: 137 } },
      { said: "", end: { signal: "SIGKILL" } },
      { said: "", end: { code: 127 } },
      { said: "", end: { code: 143 } },
      { said: "left\n", end: { code: 0, left: true } },
    ]);
    assert.deepEqual(later, live);
  },
);

test(
  "a command that is let go of goes on, is followed from its beginning by the next worker, and is forgotten",
  options,
  async () => {
    using place = new Place();
    const id = place.runner.take("session", 1)!;
    const begun = await place.runner.start(
      call(1),
      id,
    )(place.command("echo ran >> ran; echo 前; until [ -e go ]; do sleep 0.02; done; echo 后"));
    await until(() => place.ran().length === 1);
    begun.kept!.letGo("leaving", new Error("leaves"));
    await assert.rejects(begun.ended, /leaves/);
    const next = place.worker();
    const attached = next.find(call(2), id) as Spawn;
    const found = await attached(place.command("", { begins: async () => true }));
    assert.equal(found.pid, begun.pid);
    place.put("go", "");
    assert.deepEqual(await toEnd(found), { said: "前\n后\n", end: { code: 0 } });
    assert.deepEqual(place.ran(), ["ran"]);
    next.forget(call(2));
    assert.deepEqual(place.entries(), ["here", "session", "2", "id"]);
  },
);

test("a call is begun once, also when two processes want to at the same time", options, async () => {
  using place = new Place();
  const id = place.runner.take("session", 1)!;
  const line = place.command("echo ran >> ran; sleep 0.1; echo done");
  const next = place.worker();
  const [, newer] = await Promise.all([
    place.runner.start(call(1), id)(line).then(toEnd).catch(String),
    next.start(call(2), id)(line).then(toEnd),
  ]);
  assert.deepEqual([place.ran(), newer], [["ran"], { said: "done\n", end: { code: 0 } }]);
  const equals = [next, place.worker()].map((one) => one.start(call(2, "other"), id)(line).then(toEnd).catch(String));
  await Promise.all(equals);
  assert.deepEqual(place.ran(), ["ran", "ran"]);
});

test("whoever has lost the session begins nothing, whatever it was about to do", options, async () => {
  using place = new Place();
  const id = place.runner.take("session", 1)!;
  const frozen = Promise.withResolvers<boolean>();
  const line = (begins = async () => true) => place.command("echo ran >> ran", { begins });
  // Frozen before its last word to the keeper.
  const starting = place.runner.start(call(1, "a"), id)(line(() => frozen.promise));
  await until(() => listProcesses(place.base, "keeper").length === 1);
  const next = place.worker();
  assert.equal(next.find(call(2, "a"), id), "never");
  frozen.resolve(true);
  assert.deepEqual((await toEnd(await starting)).end, { code: 125 });
  // Frozen before it entered the call.
  await assert.rejects(place.runner.start(call(1, "b"), id)(line()), /another process/);
  assert.equal(place.runner.take("session", 1), undefined);
  assert.deepEqual(place.ran(), []);
  await toEnd(await next.start(call(2, "a"), id)(line()));
  assert.deepEqual(place.ran(), ["ran"]);
});

test(
  "nothing is said about a call whose keeper is dead, whose entries are gone or are others, or that was begun before the machine was started",
  options,
  async () => {
    using place = new Place();
    const id = place.runner.take("session", 1)!;
    const begun = await place.runner.start(call(1), id)(place.command("echo ran >> ran; sleep 0.3"));
    await until(() => place.ran().length === 1);
    const { pid: keeper } = listProcesses(place.base, "keeper")[0]!;
    process.kill(keeper, "SIGKILL");
    await until(() => startOf(keeper) === "");
    assert.equal(place.worker().find(call(2), id), undefined);
    assert.equal((await toEnd(begun)).end, "unknown");
    const otherBoot = createCommandRunner({ folder: place.folder, machine: "later", spawn: createSpawner() });
    assert.equal(otherBoot.find(call(3, "never begun"), id), undefined);
    assert.equal(place.worker().find(call(2, "never begun"), id), "never");
    assert.equal(place.worker().find(call(2, "never begun"), "another"), undefined);
    rmSync(place.folder, { recursive: true });
    assert.equal(place.worker().find(call(2, "never begun"), id), undefined);
    const made = place.runner.take("session", 3);
    assert.ok(made !== undefined && made !== id);
    assert.equal(place.worker().find(call(3, "never begun"), id), undefined);
  },
);

test("the time of a command runs while nobody is there, and its group is ended by whoever comes", options, async () => {
  using place = new Place();
  const id = place.runner.take("session", 1)!;
  const late = await place.runner.start(
    call(1, "late"),
    id,
  )(place.command("echo so far; sleep 30", { timeoutMs: 300 }));
  late.kept!.letGo("leaving", new Error("leaves"));
  await assert.rejects(late.ended);
  const stopped = await place.runner.start(call(1, "stopped"), id)(place.command("sleep 31 & sleep 32"));
  stopped.kept!.letGo("leaving", new Error("leaves"));
  await assert.rejects(stopped.ended);
  const next = place.worker();
  assert.deepEqual(await toEnd(await (next.find(call(2, "late"), id) as Spawn)(place.command(""))), {
    said: "so far\n",
    end: { late: true },
  });
  const abort = new AbortController();
  abort.abort();
  place.spawn = next.find(call(2, "stopped"), id) as Spawn;
  place.attaches = true;
  const { ok, text: said } = await place.run(bash, { command: "sleep 32" }, abort.signal);
  assert.deepEqual([ok, /Interrupted by the person/.test(said)], [false, true]);
  assert.equal(startOf(stopped.pid), "");
  await next.endAll("session", 3);
});

test("a keeper that is killed alone leaves its command to its time, and nothing behind", options, async () => {
  using place = new Place();
  const id = place.runner.take("session", 1)!;
  for (const [key, line, timeoutMs] of [
    ["ends", "sleep 1", 600_000],
    ["is late", "sleep 600", 2_000],
  ] as const) {
    const { pid, ended } = await place.runner.start(call(1, key), id)(place.command(line, { timeoutMs }));
    const { pid: keeper } = listProcesses(place.base, "keeper").find((entry) => entry.key === key)!;
    const left = () => runningProcesses().filter(({ group, session }) => group === pid || session === keeper);
    process.kill(keeper, "SIGKILL");
    await until(() => startOf(keeper) === "");
    assert.ok(left().length > 0, "a command is nobody's to end");
    assert.equal(await ended, "unknown");
    await until(() => left().length === 0, `${key}: everything to be gone`);
  }
});

test("a huge output takes no more room than is kept, and its end is there", options, async () => {
  using place = new Place();
  // The usual 100 MB where there is time for them.
  const largest = thorough ? {} : { largest: 1024 * 1024 };
  const runner = createCommandRunner({
    folder: place.folder,
    machine: "here",
    spawn: createSpawner(),
    ...largest,
  });
  place.spawn = runner.start(call(1), runner.take("session", 1)!);
  const bytes = thorough ? 200_000_000 : 2_000_000;
  const { text: said, output } = await place.run(bash, {
    command: `echo 开始; head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo 结束`,
    timeout: 100_000,
  });
  assert.deepEqual([said.startsWith("开始\n"), said.endsWith("结束")], [true, true]);
  assert.ok(output?.file);
  const [entry] = readdirSync(place.folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("/output"),
  );
  const { size } = statSync(join(place.folder, entry!));
  assert.equal(size, largest.largest ?? 100 * 1024 * 1024);
});

test(
  "entries that nobody has touched for a week go, a whole session at once, and then nothing is said about its calls",
  options,
  async () => {
    using place = new Place();
    const command = place.command("echo done");
    const ids = ["old", "used"].map((session) => place.runner.take(session, 1)!);
    for (const [n, session] of ["old", "used"].entries())
      for (const key of ["a", "b"]) await toEnd(await place.runner.start({ session, key, epoch: 1 }, ids[n]!)(command));
    const monthAgo = Date.now() / 1_000 - 30 * 24 * 3_600;
    const old = readdirSync(place.folder, { recursive: true, encoding: "utf8" }).filter(
      (path) => !path.endsWith("here/used"),
    );
    for (const path of old.filter((one) => !/used.1.[0-9a-f]+$/.test(one)))
      utimesSync(join(place.folder, path), monthAgo, monthAgo);
    place.runner.sweep();
    assert.deepEqual(readdirSync(join(place.folder, "here")), ["used"]);
    const found = ["old", "used"].map((session, n) => place.worker().find({ session, key: "a", epoch: 2 }, ids[n]!));
    assert.deepEqual(
      found.map((one) => typeof one),
      ["undefined", "function"],
    );
  },
);

/** A keeper that comes late: commands of people who sit at Sage. */
function lateWorker(place: Place, afterMs = 100): CommandRunner {
  const endsOnLeaving = true;
  return createCommandRunner({ folder: place.folder, machine: "here", spawn: createSpawner(), afterMs, endsOnLeaving });
}

test("a late keeper: the same output and end as without one, before and after it has taken over", options, async () => {
  using place = new Place();
  const runner = lateWorker(place);
  const id = runner.take("session", 1)!;
  const lines: [line: string, said: string, end: object, isLong: boolean][] = [
    ["echo 一; echo two >&2; exit 3", "一\ntwo\n", { code: 3 }, false],
    ["sleep 30 & echo left", "left\n", { code: 0, left: true }, false],
    ["kill -9 $$", "", { signal: "SIGKILL" }, false],
    ["printf 前; sleep 0.5; echo 后; exit 138", "前后\n", { code: 138 }, true],
    ["echo a > /dev/stdout; sleep 0.5; echo b > /dev/stderr; kill -9 $$", "a\nb\n", { signal: "SIGKILL" }, true],
    ["sleep 0.5; sleep 30 & echo left", "left\n", { code: 0, left: true }, true],
    // The copy of a process that has left the group holds the pipe.
    ["sleep 0.5; setsid sleep 7 & echo far; sleep 0.5", "far\n", { code: 0, left: true }, true],
    ["setsid sleep 7 & echo far", "far\n", { code: 0 }, false],
  ];
  const run = async (n: number) => {
    const [line, , , isLong] = lines[n]!;
    const started = await runner.start(call(1, `k${n}`), id)(place.command(line));
    const found = await toEnd(started);
    const isKept = place.entries().includes("output");
    if (isLong) assert.ok(isKept, line); // a short one may take long on a busy machine
    const again = place.worker().find(call(1, `k${n}`), id);
    if (isKept) assert.deepEqual(await toEnd(await (again as Spawn)(place.command(line))), found);
    else assert.equal(again, undefined, "nothing is known of what was not kept");
    runner.forget(call(1, `k${n}`));
    return found;
  };
  for (const [n, [line, said, end]] of lines.entries()) {
    const found = await run(n);
    // A process that leaves its group at once may or may not be seen in it.
    assert.deepEqual(found.said, said, line);
    if (!line.includes("setsid")) assert.deepEqual(found.end, end, line);
  }
});

test("no byte is lost or doubled where a late keeper takes over, whatever the moment", options, async () => {
  using place = new Place();
  const count = 200_000;
  for (let afterMs = 1; afterMs < 120; afterMs = Math.ceil(afterMs * 1.7)) {
    const runner = lateWorker(place, afterMs);
    const started = await runner.start(call(1, `k${afterMs}`), "late")(place.command(`seq ${count}; sleep 0.2`));
    const { said, end } = await toEnd(started);
    assert.deepEqual([end, said.length], [{ code: 0 }, 1_288_895], `after ${afterMs} ms`);
    assert.ok(said.startsWith("1\n2\n") && said.endsWith(`${count}\n`));
    runner.forget(call(1, `k${afterMs}`));
  }
});

test(
  "a late keeper that cannot take over leaves the command to Sage: no room for the entry, or another owner",
  options,
  async () => {
    using place = new Place();
    const runner = lateWorker(place);
    const lose = [
      () => writeFileSync(place.folder, ""), // no folder can be made there
      () => {
        rmSync(place.folder, { force: true });
        place.worker().take("session", 7);
      },
    ];
    for (const [n, how] of lose.entries()) {
      how();
      const started = await runner.start(call(1, `k${n}`), "late")(place.command("echo a; sleep 0.5; echo b; exit 4"));
      assert.deepEqual(await toEnd(started), { said: "a\nb\n", end: { code: 4 } });
    }
    assert.equal(place.worker().find(call(7, "k1"), "late"), undefined);
  },
);

test("a late keeper that finds no entry leaves the command to Sage, however often it was asked", options, async () => {
  using place = new Place();
  // Busy for a moment: the keeper is asked again before its first reply is heard.
  const enter = () => void setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
  const late = { afterMs: 100, enter, taken: () => {} };
  const kept: Kept = {
    folder: place.path("none"),
    timeoutMs: 60_000,
    largest: 1e6,
    follow: () => Readable.from([]),
    late,
  };
  const started = await createSpawner()({ ...place.command("echo a; sleep 1; echo b; exit 4"), kept });
  assert.deepEqual(await toEnd(started), { said: "a\nb\n", end: { code: 4 } });
});

test("all that a command says is heard, also when its spawner is killed", options, async () => {
  using place = new Place();
  const started = await lateWorker(place, 60_000).start(call(1), "late")(place.command("echo a; sleep 4; echo b"));
  process.kill(runningProcesses().find(({ pid }) => pid === started.pid)!.parent, "SIGKILL");
  assert.deepEqual(await toEnd(started), { said: "a\nb\n", end: "unknown" });
});

test(
  "who leaves ends the command with a late keeper, and whoever comes next is told so; who lost the session does not",
  options,
  async () => {
    using place = new Place();
    const runner = lateWorker(place);
    const start = async (key: string) => {
      const started = await runner.start(call(1, key), "late")(place.command("echo a; sleep 0.4; echo b; sleep 20"));
      let said = "";
      started.output.on("data", (bytes) => (said += String(bytes)));
      await until(() => said.includes("b"));
      return started;
    };
    const early = await runner.start(call(1, "early"), "late")(place.command("sleep 20"));
    assert.equal(early.kept!.letGo("lost", new Error("lost")), false, "nobody would keep it");
    await early.kept!.end(1_000);
    const left = await start("left");
    assert.equal(left.kept!.letGo("leaving", new Error("leaves")), false);
    await left.kept!.end(1_000);
    const next = place.worker();
    const found = next.find(call(2, "left"), "late") as Spawn;
    assert.deepEqual(await toEnd(await found(place.command(""))), { said: "a\nb\n", end: { code: 143, closed: true } });
    place.worker().take("session", 2);
    const lost = createCommandRunner({ folder: place.folder, machine: "here", spawn: createSpawner(), afterMs: 50 });
    const line = place.command("echo a; until [ -e go ]; do sleep 0.02; done; echo b");
    const losing = await lost.start(call(2, "lost"), "late")(line);
    await until(() => place.entries().includes("output"));
    await until(() => listProcesses(place.base, "keeper").some(({ key }) => key === "lost"));
    assert.equal(losing.kept!.letGo("lost", new Error("lost")), true);
    await assert.rejects(losing.ended, /lost/);
    place.put("go", "");
    const attached = await (place.worker().find(call(3, "lost"), "late") as Spawn)(place.command(""));
    assert.deepEqual(await toEnd(attached), { said: "a\nb\n", end: { code: 0 } });
  },
);
