// The journal is removed, replaced or emptied under a living process, may only be read, or is shared with another pid namespace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine, mark } from "../support/cli.ts";
import { until } from "../support/until.ts";

const journalOf = (here: Machine) => join(here.env["SAGE_HOME"] ?? "", "journal.db");

/** A turn whose first command waits until somebody lets it go on; a second one would follow. */
async function working(here: Machine) {
  const model = here.script(
    { calls: [bash("echo one >> ran.txt; until [ -e go ]; do sleep 0.02; done")] },
    { calls: [bash("echo two >> ran.txt")] },
    { text: "all done" },
  );
  const running = here.start(["-p", "go", "--yes", "--model", model]);
  running.end();
  await until(() => here.file("ran.txt") === "one\n");
  return running;
}

for (const [what, take] of [
  ["removed", (path: string) => [path, `${path}-wal`, `${path}-shm`].forEach((file) => rmSync(file, { force: true }))],
  [
    "replaced by a copy",
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
] as const)
  test(`the journal is ${what} while a turn runs: nothing more is done, and Sage says why it stops`, async () => {
    using here = new Machine();
    const running = await working(here);
    take(journalOf(here));
    writeFileSync(join(here.cwd, "go"), "");
    const { code, out, err } = await running.ended;
    assert.equal(here.file("ran.txt"), "one\n", "nothing is done that nobody could read about");
    assert.notEqual(code, 0);
    assert.doesNotMatch(out, /all done/);
    assert.match(err, /removed or replaced while Sage had it open/);
  });

const take = (here: Machine) => {
  const path = journalOf(here);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
};

test("the journal is removed at a prompt of plain lines: Sage stops by itself, says so, and promises nothing", async () => {
  using here = new Machine();
  const running = here.start(["--model", here.script({ text: "hello" })]);
  running.type("hi\n");
  await running.until("hello");
  take(here);
  const { code, out, err } = await running.ended;
  assert.notEqual(code, 0);
  assert.match(err, /removed or replaced while Sage had it open/);
  assert.doesNotMatch(out + err, /Session saved/);
});

test("the journal is removed under a drawn screen at work: it ends, says what is lost, and promises nothing", async () => {
  using here = new Machine();
  const running = here.terminal(["--model", here.script({ calls: [bash("sleep 600")] })], { env: { SAGE_PLAIN: "" } });
  await running.until("What would you like");
  running.type("go\r");
  await running.until("sleep 600");
  take(here);
  assert.notEqual(await running.code, 0);
  assert.match(running.screen().replaceAll(/\s+/g, " "), /removed or replaced while Sage had it open/);
  assert.doesNotMatch(running.screen(), /Session saved/);
});

test("a journal of 0 bytes is no new one: every command refuses it and leaves it as it is", async () => {
  using here = new Machine();
  const model = here.script({ text: "done" });
  await here.sage(["-p", "go", "--model", model]);
  const path = journalOf(here);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
  writeFileSync(path, "", { mode: 0o600 });
  for (const args of [["-p", "go", "--model", model], ["inbox"], ["sessions"], ["doctor"]]) {
    const { code, out, err } = await here.sage(args);
    assert.notEqual(code, 0, args.join(" "));
    assert.match(out + err, /is empty: its content is lost/, args.join(" "));
  }
  assert.equal(statSync(path).size, 0);
});

test("a journal that may only be read: inbox, why, sessions and export tell of it, and an answer is refused", async (t) => {
  using here = new Machine();
  await here.sage(["-p", "go", "--model", here.script({ calls: [mark] }, { text: "done" })]);
  const [request] = await here.pending();
  const home = here.env["SAGE_HOME"] ?? "";
  // Root may write everything but a disk that is mounted so.
  const mounted = process.getuid?.() === 0;
  if (mounted && spawnSync("mount", ["--bind", home, home]).status !== 0)
    return t.skip("root may write everything here");
  if (mounted) spawnSync("mount", ["-o", "remount,ro,bind", home]);
  else for (const file of [journalOf(here), home]) chmodSync(file, file === home ? 0o500 : 0o400);
  try {
    const inbox = await here.sage(["inbox"]);
    assert.equal(inbox.code, 0, inbox.err);
    assert.match(inbox.out, /echo ran >> ran\.txt/);
    for (const args of [["why", request?.session ?? ""], ["sessions"], ["export", request?.session ?? ""]]) {
      const { code, err } = await here.sage(args);
      assert.equal(code, 0, err);
    }
    const refused = await here.sage(["answer", request?.id ?? "", "--yes"]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /cannot be opened for writing/);
  } finally {
    if (mounted) spawnSync("umount", [home]);
    else chmodSync(home, 0o700);
  }
  assert.equal((await here.pending()).length, 1);
});

test("a process in another pid namespace takes no living owner for dead", async (t) => {
  const inside = ["unshare", "--pid", "--fork", "--mount-proc"];
  if (spawnSync(inside[0] ?? "", [...inside.slice(1), "true"]).status !== 0)
    return t.skip("no pid namespace can be made here");
  using here = new Machine();
  const running = await working(here);
  const listed = await here.sage(["sessions", "--json"], { under: inside });
  const [session] = JSON.parse(listed.out) as { id: string; state: string }[];
  assert.equal(session?.state, "running");
  const taken = await here.sage(["-p", "--resume", session.id, "--model", here.script({ text: "mine" })], {
    under: inside,
  });
  assert.notEqual(taken.code, 0);
  assert.doesNotMatch(taken.out, /mine/);
  writeFileSync(join(here.cwd, "go"), "");
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, out.trim(), here.file("ran.txt")], [0, "all done", "one\ntwo\n"], err);
  assert.ok(existsSync(journalOf(here)));
});
