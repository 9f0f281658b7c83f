// Commands that outlive their worker, with real keepers. Another worker is another runner over the same folder.
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { runningProcesses, startOf } from "../../src/processes/identity.ts";
import { listProcesses } from "../../src/processes/registry.ts";
import { createBash } from "../../src/tools/shell/bash.ts";
import { createCommandRunner, type CommandRunner } from "../../src/tools/process/command-runner.ts";
import type { Spawn, Spawned } from "../../src/tools/process/spawn.ts";
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
    begun.kept!.letGo(new Error("leaves"));
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
  late.kept!.letGo(new Error("leaves"));
  await assert.rejects(late.ended);
  const stopped = await place.runner.start(call(1, "stopped"), id)(place.command("sleep 31 & sleep 32"));
  stopped.kept!.letGo(new Error("leaves"));
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
