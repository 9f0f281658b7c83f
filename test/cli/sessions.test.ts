import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { SessionSummary } from "../../src/protocol/host/host.ts";
import { Machine, bash, mark } from "../support/cli.ts";
import { killAtCommit } from "../support/kill.ts";

const listed = async (here: Machine, ...args: string[]) =>
  JSON.parse((await here.sage(["sessions", ...args, "--json"])).out) as SessionSummary[];

test("sessions are found by what was said, renamed, forked and deleted; receipts stay", async () => {
  using here = new Machine();
  const model = here.script({ text: "looking into 解析器 100%_\\", calls: [mark] }, { text: "done" });
  assert.equal((await here.sage(["-p", 'mend the "parser"', "--model", model])).code, 3);
  assert.equal((await here.sage(["-p", "something else", "--model", here.script({ text: "ok" })])).code, 0);
  const [other, first] = await listed(here);
  const id = first?.id ?? "";
  assert.deepEqual([other?.title, first?.title], ["something else", 'mend the "parser"']);
  for (const text of ["PARSER", '"parser"', "解析器", "100%_\\"])
    assert.deepEqual(
      (await listed(here, "--search", text)).map((one) => one.id),
      [id],
      text,
    );
  assert.deepEqual(await listed(here, "--search", "1000"), []);
  assert.match((await here.sage(["sessions", "--search", "解析器"])).out, /… looking into 解析器/);
  assert.match((await here.sage(["sessions", "--search", "nope", "--lang", "zh"])).out, /没有会话包含“nope”/);

  assert.match((await here.sage(["sessions", "rename", id.slice(0, 5), "我的", "会话"])).out, /“我的 会话”/);
  const { out } = await here.sage(["sessions", "fork", id]);
  assert.match(out, /continues from \w+[^]*--resume/);
  const fork = /^\w+/.exec(out)?.[0] ?? "";
  assert.equal((await listed(here)).find((one) => one.id === fork)?.title, "我的 会话 (fork)");
  assert.equal((await here.sage(["-p", "go on", "--resume", fork])).code, 0);

  const undecided = await here.sage(["sessions", "delete", id]);
  assert.equal(undecided.code, 2, "nobody agreed");
  assert.match(undecided.err, /--yes/);
  const deleted = await here.sage(["sessions", "delete", id, "--yes"]);
  assert.match(deleted.out, /我的 会话\n1 open request cancelled\.\n1 session deleted/);
  assert.equal(
    (await listed(here)).some((one) => one.id === id),
    false,
  );
  assert.equal((await here.sage(["inbox"])).out, "No open requests.\n");
  assert.match(
    (await here.sage(["why", id])).out,
    /This session was deleted[^]*not run[^]*cancelled \(the session was deleted\)/,
  );
  assert.equal((await here.sage(["doctor"])).code, 0);
  assert.equal((await here.sage(["--resume", id])).code, 2);

  for (const args of [
    ["sessions", "delet", id],
    ["sessions", "fork"],
    ["sessions", "fork", fork, "--at", "t7"],
    ["sessions", "rename", fork],
  ])
    assert.equal((await here.sage(args)).code, 2, args.join(" "));
  const inside = await here.sage(["sessions", "delete", fork, "--yes"], { env: { SAGE_INSIDE: "1" } });
  assert.match(inside.err, /this is for a person/);
});

test("retention and gc tell what they remove, and remove nothing that is open or named", async () => {
  using here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  const output = join(home, "output");
  const long = here.script({ calls: [bash("yes a line of output | head -c 80000")] }, { text: "ok" });
  const run = ["-p", "go", "--yes", "--model", long];
  assert.equal((await here.sage(run)).code, 0);
  assert.equal((await here.sage(run)).code, 0);
  const all = () => readdirSync(join(output, "kept"), { recursive: true, encoding: "utf8" });
  const files = () => all().filter((path) => path.endsWith(".txt"));
  const kept = files();
  assert.equal(kept.length, 2, "each session keeps its own");
  for (const path of kept) assert.match(path, /^\w{8}\/[0-9a-f]{32}\.txt$/);
  const stray = join(output, "unfinished-0123456789abcdef.txt");
  writeFileSync(stray, "half");
  for (const path of [stray, ...kept.map((one) => join(output, "kept", one))]) utimesSync(path, 1, 1);

  assert.match((await here.sage(["sessions", "gc", "--dry-run"])).out, /output files removed: 1 .*\n\(--dry-run/);
  assert.ok(existsSync(stray));
  const store = sqliteStore(join(home, "journal.db"));
  const [running = { id: "" }] = store.sessions();
  const epoch = store.claim(running.id);
  assert.match((await here.sage(["sessions", "gc"])).out, /output files removed: 1[^]*not compacted: it is in use/);
  store.release(running.id, epoch);
  store.close();
  assert.match((await here.sage(["sessions", "gc"])).out, /journal: \d/);
  assert.match((await here.sage(["sessions", "gc", "--dry-run"])).out, /^nothing to remove.*\n\(--dry-run/);
  assert.ok(!existsSync(stray));
  assert.deepEqual(files(), kept);

  const [first, second] = await listed(here);
  await here.sage(["sessions", "delete", first?.id ?? "", "--yes"]);
  assert.deepEqual(
    files(),
    kept.filter((path) => !path.startsWith(first?.id ?? "?")),
  );
  await here.sage(["sessions", "delete", second?.id ?? "", "--yes"]);
  assert.deepEqual(all(), []);

  assert.equal((await here.sage(["-p", "wait", "--model", here.script({ calls: [mark] })])).code, 3);
  assert.equal((await here.sage(["-p", "hi", "--model", here.script({ text: "hi" })])).code, 0);
  const { DatabaseSync } = await import("node:sqlite");
  {
    using db = new DatabaseSync(join(home, "journal.db"));
    db.exec("UPDATE session SET last_at=last_at-100*86400000");
  }
  assert.equal((await listed(here)).length, 2, "for ever, unless the settings say so");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify({ retention: { sessions: "90d" } }));
  const told = await here.sage(["sessions"]);
  assert.match(told.err, /1 session past retention deleted[^]*kept because a turn is open: \w+/);
  assert.match(told.out, /waiting for you \(1\)/);
  assert.equal((await here.sage(["sessions"])).err, "", "once");
  writeFileSync(join(home, "settings.json"), JSON.stringify({ retention: { sessions: "soon" } }));
  assert.match((await here.sage(["sessions"])).err, /90d/);
});

test("a journal that cannot be read is told with what to do, and left as it is", async () => {
  using here = new Machine();
  const home = here.env["SAGE_HOME"] ?? "";
  mkdirSync(home, { mode: 0o700 });
  const journal = join(home, "journal.db");
  writeFileSync(journal, "not a database, but somebody's notes\n".repeat(100));
  for (const args of [["sessions"], ["inbox"], ["why"], ["export"], ["sessions", "gc"]]) {
    const { code, err } = await here.sage(args);
    assert.notEqual(code, 0);
    assert.match(err, /journal\.db is damaged or not a journal .*; keep a copy, and set SAGE_HOME/, args.join(" "));
  }
  const { readFileSync } = await import("node:fs");
  assert.match(readFileSync(journal, "utf8"), /^not a database/);
});

test("deleting that is killed half-way leaves the session, without its request, to be deleted again", async () => {
  using here = new Machine();
  await here.sage(["-p", "go", "--model", here.script({ calls: [mark] })]);
  const id = (await listed(here))[0]?.id ?? "";
  // The first commit cancels the request, the second takes the session out.
  const { code } = await here.sage(["sessions", "delete", id, "--yes"], { env: killAtCommit(2, "before") });
  assert.equal(code, null, "it was killed");
  assert.deepEqual([await here.outcomes(), (await listed(here)).length], [["cancelled"], 1]);
  assert.equal((await here.sage(["sessions", "delete", id, "--yes"])).code, 0);
  assert.match((await here.sage(["why", id])).out, /This session was deleted[^]*│ echo ran[^]*would change/);
});
