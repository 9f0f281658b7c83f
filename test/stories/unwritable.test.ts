// Real processes on a journal that cannot be written for a while, and on one that many want at once.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { thorough } from "../faults/rounds.ts";
import { bash, Machine } from "../support/cli.ts";
import { fullWhile } from "../support/kill.ts";
import { until } from "../support/until.ts";

const yes = "--yes";

test("the disk is full in the middle of a turn: Sage says so, waits, and goes on when there is room", async () => {
  using here = new Machine();
  const flag = join(here.dir, "full");
  const model = here.script(
    { calls: [bash(`touch ${flag}; echo one >> ran.txt`)] },
    { calls: [bash("echo two >> ran.txt")] },
    { text: "all done" },
  );
  const running = here.start(["-p", "go", yes, "--model", model], { env: fullWhile(flag) });
  running.end();
  await running.until(/the turn waits: not recorded: writing to .*journal\.db failed/);
  assert.equal(here.file("ran.txt"), "one\n", "nothing runs that could not be recorded");
  rmSync(flag);
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, here.file("ran.txt")], [0, "one\ntwo\n"], err);
  assert.match(out, /all done/);
  assert.match(err, /can be written again/);
});

test("sage doctor on a full disk says so in the reader's language, and finds no health", async (t) => {
  using here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { mode: 0o700 });
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", home]).status !== 0)
    return t.skip("a small disk of its own needs root");
  try {
    await here.sage(["-p", "go", "--model", here.script({ text: "done" })]);
    assert.match((await here.sage(["doctor"])).out, /room on the disk/);
    fillUp(join(home, "filler"));
    for (const [lang, said] of [
      ["en", /✗ the disk of .* is full: nothing can be recorded there[^]*problems? found/],
      ["zh", /✗ .*所在的磁盘已满[^]*发现 \d+ 个问题/],
    ] as const) {
      const { code, out, err } = await here.sage(["doctor", "--lang", lang]);
      assert.equal(code, 1, out + err);
      assert.match(out, said);
      assert.equal(err, "");
    }
    rmSync(join(home, "filler"));
    assert.match((await here.sage(["doctor"])).out, /room on the disk/);
  } finally {
    spawnSync("umount", [home]);
  }
});

/** Takes the last byte of the disk. */
function fillUp(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 64 * 1024; size >= 1;)
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size >>= 1;
      }
  } finally {
    closeSync(file);
  }
}

test("another program keeps the journal for longer than Sage used to wait: the turn goes on all the same", async () => {
  using here = new Machine();
  const model = here.script(
    { calls: [bash("echo one >> ran.txt; until [ -e held ]; do sleep 0.02; done")] },
    { calls: [bash("echo two >> ran.txt")] },
    { text: "all done" },
  );
  const running = here.start(["-p", "go", yes, "--model", model]);
  running.end();
  await until(() => here.file("ran.txt") === "one\n");
  const db = new DatabaseSync(join(here.env["SAGE_HOME"] ?? "", "journal.db"), { timeout: 5_000 });
  db.exec("BEGIN IMMEDIATE");
  writeFileSync(join(here.cwd, "held"), "");
  await running.until(/the turn waits: not recorded: another process keeps .*journal\.db busy/);
  db.close();
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, here.file("ran.txt")], [0, "one\ntwo\n"], err);
  assert.match(out, /all done/);
});

test("a message said while another program keeps the journal is recorded once it lets go", async () => {
  using here = new Machine();
  await here.sage(["-p", "first", "--model", here.script({ text: "one" })]);
  const db = new DatabaseSync(join(here.env["SAGE_HOME"] ?? "", "journal.db"), { timeout: 5_000 });
  db.exec("BEGIN IMMEDIATE");
  const running = here.start(["-p", "second", "--model", here.script({ text: "two" })]);
  running.end();
  await new Promise((resolve) => setTimeout(resolve, 4_000)); // longer than one try lasts
  db.close();
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, out.trim()], [0, "two"], err);
});

const MANY = thorough ? 30 : 8;

test(
  `${MANY} processes on one journal, at once and from the first moment: none fails`,
  { timeout: 300_000 },
  async () => {
    using here = new Machine();
    using _load = thorough ? burning(2 * availableParallelism()) : undefined;
    const model = here.script({ calls: [bash("true")] }, { calls: [bash("true")] }, { text: "done" });
    const all = await Promise.all(
      Array.from({ length: MANY }, (_, n) => here.sage(["-p", `task ${n}`, yes, "--model", model])),
    );
    assert.deepEqual(
      all.map(({ code, out, err }) => ({ code, out: out.trim(), err })).filter(({ code }) => code !== 0),
      [],
    );
    assert.equal((await here.facts("turn.ended")).length, MANY);
  },
);

/** Processes that only take time from the others. */
function burning(count: number): Disposable {
  const all = Array.from({ length: count }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  return { [Symbol.dispose]: () => all.forEach((one) => void one.kill("SIGKILL")) };
}
