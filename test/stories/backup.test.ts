// A backup is written while Sage runs, and its requests are answered elsewhere; killed at any point, there is a whole file or none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { writeBackup } from "../../src/journal/database/backup.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { asks, bash, Machine, mark } from "../support/cli.ts";
import { killAt } from "../support/kill.ts";
import { until } from "../support/until.ts";

/** A machine with a permission and a question that are open, and the end of a long output in a kept file. */
async function waiting(here: Machine): Promise<void> {
  const model = here.script(
    { calls: [mark, asks({ question: "往哪边？", labels: ["左", "右"] })] },
    { text: "all done" },
  );
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
}

function elsewhere(here: Machine, name: string): Record<string, string> {
  const dir = join(here.dir, name);
  mkdirSync(dir, { mode: 0o700 });
  return { SAGE_HOME: dir };
}

const idsIn = (out: string) => (JSON.parse(out) as { request: { id: string } }[]).map(({ request }) => request.id);

test("a backup while a turn runs: restored elsewhere, its requests have the same ids and are answered, its files are there", async () => {
  using here = new Machine();
  const long = here.script({ calls: [bash("seq 1 20000")] }, { text: "counted" });
  assert.equal((await here.sage(["-p", "count", "--yes", "--model", long])).code, 0);
  await waiting(here);
  const busy = here.script({ calls: [bash("until [ -e go ]; do echo x; sleep 0.02; done")] }, { text: "went on" });
  const running = here.start(["-p", "run", "--yes", "--model", busy]);
  running.end();
  await until(async () => (await here.facts("call.started", { readOnly: false })).length === 2);
  const before = idsIn((await here.sage(["inbox", "--json"])).out);
  const saved = await here.sage(["backup", "日志.sage"]);
  assert.equal(saved.code, 0, saved.err);
  const file = join(here.cwd, "日志.sage");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const bytes = readFileSync(file);
  const again = await here.sage(["backup", "日志.sage"]);
  assert.equal(again.code, 2);
  assert.match(again.err, /exists already/);
  assert.ok(readFileSync(file).equals(bytes), "nothing is overwritten");
  writeFileSync(join(here.cwd, "go"), "");
  assert.equal((await running.ended).out, "went on\n", "the turn did not notice");

  const env = elsewhere(here, "elsewhere");
  const restored = await here.sage(["backup", "--restore", file], { env });
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.out, /restored: 3 sessions, records intact; 2 open requests/);
  assert.deepEqual(idsIn((await here.sage(["inbox", "--json"], { env })).out), before);
  const kept = (home: string) =>
    readdirSync(join(home, "output"), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith(".txt"));
  const [output = ""] = kept(env["SAGE_HOME"] ?? "");
  assert.match(readFileSync(join(env["SAGE_HOME"] ?? "", "output", output), "utf8"), /^1\n2\n[^]*\n20000\n/);
  assert.equal((await here.sage(["backup", "--restore", file], { env })).code, 2, "never over a journal");

  for (const id of before)
    assert.equal(
      (await here.sage(["answer", id, ...(id.includes("permit") ? ["--yes"] : ["--choose", "左"])], { env })).code,
      0,
    );
  const [session = ""] = before[0]?.split("/") ?? [];
  const resumed = await here.sage(["-p", "--resume", session], { env });
  assert.deepEqual([resumed.code, resumed.out, here.file("ran.txt")], [0, "all done\n", "ran\n"], resumed.err);
  assert.match((await here.sage(["why", session], { env })).out, /allowed[^]*Record of session \w+ intact/);
  assert.deepEqual(idsIn((await here.sage(["inbox", "--json"])).out), before, "the first journal knows nothing of it");
});

test("a backup that is cut, foreign, changed or of a newer version is refused, and leaves nothing behind", async () => {
  using here = new Machine();
  await waiting(here);
  assert.equal((await here.sage(["backup", "good"])).code, 0);
  const at = (name: string) => join(here.cwd, name);
  const change = (name: string, sql: string) => {
    copyFileSync(at("good"), at(name));
    using db = new DatabaseSync(at(name));
    db.exec(sql);
  };
  writeFileSync(at("cut"), readFileSync(at("good")).subarray(0, 9_000));
  writeFileSync(at("text"), "not a database at all, but long enough to look at: ".repeat(100));
  change("newer", "PRAGMA user_version=99");
  change("foreign", "PRAGMA application_id=7");
  change("changed", "UPDATE fact SET data=replace(data, 'echo ran', 'echo no!')");
  change("journal", "DROP TABLE kept");
  change("leads-out", "INSERT INTO kept VALUES('../settings.json', 0, x'7b7d')");
  const refusals: [string, RegExp][] = [
    ["cut", /damaged|malformed/],
    ["text", /damaged|not a database/],
    ["newer", /newer was written by a newer Sage \(format 99, this one knows 2\); update Sage/],
    ["foreign", /another program/],
    ["changed", /the record of session \w+ is broken at fact \d+\. Nothing was restored/],
    ["journal", /is no file of `sage backup`/],
    ["leads-out", /damaged/],
    ["missing", /cannot be read/],
  ];
  const env = elsewhere(here, "elsewhere");
  for (const [name, why] of refusals) {
    const { code, err } = await here.sage(["backup", "--restore", name], { env });
    assert.notEqual(code, 0, name);
    assert.match(err.replaceAll(/\s+/g, " "), why, name);
    assert.deepEqual(readdirSync(env["SAGE_HOME"] ?? ""), [], name);
  }
  const engine = await here.sage(["backup", "x", "--engine", "postgres://nobody@127.0.0.1/none"]);
  assert.match(engine.err, /pg_dump/);
  assert.match((await here.sage(["backup", "x"], { env })).err, /no journal to save/);
  assert.match((await here.sage(["backup", "nowhere/x"])).err, /cannot be written/);
  assert.equal(existsSync(at("x")), false);
});

test("killed amid a backup or a restore: no half file has the final name, the journal is unharmed, and the next try works", async () => {
  using here = new Machine();
  await waiting(here);
  const before = (await here.sage(["inbox", "--json"])).out;
  const save = (env: Record<string, string> = {}) => here.sage(["backup", "saved"], { env });
  for (const point of ["backup:2:after", "link:1:before"] as const) {
    assert.equal((await save(killAt(point))).code, null, point);
    assert.equal(existsSync(join(here.cwd, "saved")), false, point);
    assert.equal((await here.sage(["inbox", "--json"])).out, before, point);
  }
  assert.equal((await save(killAt("link:1:after"))).code, null);
  const env = elsewhere(here, "elsewhere");
  const restore = (more: Record<string, string> = {}) =>
    here.sage(["backup", "--restore", "saved"], { env: { ...env, ...more } });
  for (const point of ["copy:1:after", "link:1:before"] as const) {
    assert.equal((await restore(killAt(point))).code, null, point);
    assert.equal(existsSync(join(env["SAGE_HOME"] ?? "", "journal.db")), false, point);
  }
  assert.equal((await restore(killAt("link:1:after"))).code, null);
  assert.equal((await here.sage(["inbox", "--json"], { env })).out, before, "it was whole when it got its name");
  assert.equal((await here.sage(["doctor"], { env })).code, (await here.sage(["doctor"])).code);
});

test("a full disk amid a backup: it says so, and there is no file", async (t) => {
  using here = new Machine();
  await waiting(here);
  const disk = join(here.dir, "disk");
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", disk]).status !== 0)
    return t.skip("no small disk can be made here");
  try {
    const { code, err } = await here.sage(["backup", join(disk, "saved")]);
    assert.notEqual(code, 0);
    assert.match(err, /free some space/);
    assert.deepEqual(readdirSync(disk), []);
  } finally {
    spawnSync("umount", [disk]);
  }
});

test("a long backup tells how far it is, and another process that writes does not begin it anew", async () => {
  using here = new Machine();
  const path = join(here.dir, "journal.db");
  const store = sqliteStore(path);
  const open = (id: string) => store.create(id, { cwd: `/${"x".repeat(2_000)}`, version: "0" });
  for (let n = 0; n < 200; n++) open(`s${n}`);
  const told: number[] = [];
  const target = join(here.dir, "saved");
  let others = 0;
  const progress = (done: number, total: number) => {
    assert.ok(done <= total);
    told.push(done);
    open(`other${others++}`);
  };
  await writeBackup(path, target, { folder: here.dir, names: () => [] }, { progress, rate: 20 });
  assert.ok(told.length > 3, `${told.length} steps`);
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
  );
  store.close();
  using db = new DatabaseSync(target);
  assert.deepEqual({ ...db.prepare("SELECT count(*) n FROM session").get() }, { n: 200 }, "a snapshot of one moment");
  assert.ok(others > 3);
  rmSync(target);
});
