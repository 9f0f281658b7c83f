// The folder of a session was moved: Sage says where it was, and works at the new place once a person names it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine, mark } from "../support/cli.ts";

type Listed = { id: string; cwd: string };

const listed = async (here: Machine) => JSON.parse((await here.sage(["sessions", "--json"])).out) as Listed[];

/** A session with an open request in a folder that was moved from `before` to `after`. */
async function movedAway(here: Machine) {
  const [before, after] = [join(here.dir, "before"), join(here.dir, "之后")];
  mkdirSync(before);
  const model = here.script(
    { calls: [mark] },
    { calls: [bash("ls -A .")] },
    { calls: [bash("touch later")] },
    { text: "all done" },
  );
  assert.equal((await here.sage(["-p", "go", "--cwd", before, "--model", model])).code, 3);
  const [session] = await listed(here);
  const [request] = await here.pending();
  const id = session?.id ?? "";
  const early = await here.sage(["-p", "--resume", id, "--cwd", here.cwd]);
  assert.equal(early.code, 2);
  assert.match(early.err.replaceAll(/\s+/g, " "), /works in .*before, which is still there/);
  renameSync(before, after);
  return { id, request: request?.id ?? "", before, after };
}

test("without a new place: each way to go on says where the folder was, and nothing runs", async () => {
  using here = new Machine();
  const { id, request, before } = await movedAway(here);
  const ways: [string[], RegExp][] = [
    [["-p", "--resume", id], /is gone: .*before\. If it was moved.*--resume \w+ --cwd <folder>/],
    [["--resume", id], /is gone: .*before/],
    [["-p", "--resume", id, "--cwd", before], /no such directory/],
    [["answer", request, "--yes", "--run"], /is gone: .*before/],
  ];
  for (const [args, why] of ways) {
    const { code, err } = await here.sage(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err.replaceAll(/\s+/g, " "), why, args.join(" "));
  }
  const zh = await here.sage(["-p", "--resume", id], { env: { SAGE_LANG: "zh" } });
  assert.match(zh.err.replaceAll(/\s+/g, ""), /的目录不见了：.*before.*--cwd<目录>/);
  assert.deepEqual(await here.facts("session.moved"), []);
  assert.deepEqual(await here.facts("call.started"), []);
});

test("with --cwd: recorded, the approved call runs at the new place, its rules count once trusted, and every list names it", async () => {
  using here = new Machine();
  const { id, request, before, after } = await movedAway(here);
  mkdirSync(join(after, ".sage"));
  writeFileSync(
    join(after, ".sage", "settings.json"),
    JSON.stringify({ permissions: { allow: ["Bash(touch:*)", "Edit(./later)"] } }),
  );
  const first = await here.sage(["-p", "--resume", id, "--cwd", after]);
  assert.equal(first.code, 3, "what nobody trusted allows nothing");
  assert.deepEqual(
    (await here.facts("session.moved")).map(({ data: { cwd, was, surface } }) => ({ cwd, was, surface })),
    [{ cwd: after, was: before, surface: "cli" }],
  );
  assert.deepEqual(
    (await here.pending()).map((open) => open.id),
    [request],
    "the same request",
  );
  assert.equal((await listed(here))[0]?.cwd, after);

  const trusted = await here.sage(["trust", "--yes"], { under: ["env", "-C", after] });
  assert.equal(trusted.code, 0, trusted.err);
  await here.sage(["answer", request, "--yes"]);
  const again = await here.sage(["-p", "--resume", id]);
  assert.equal(again.code, 3, "the yes was for a file of the old place");
  assert.match(again.err.replaceAll(/\s+/g, " "), /changed since it was judged: it would also write ran\.txt/);
  await here.sage(["answer", (await here.pending())[0]?.id ?? "", "--yes"]);
  const last = await here.sage(["-p", "--continue"], { under: ["env", "-C", after] });
  assert.deepEqual([last.code, last.out, existsSync(before)], [0, "all done\n", false], last.err);
  assert.equal(readFileSync(join(after, "ran.txt"), "utf8"), "ran\n");
  assert.ok(existsSync(join(after, "later")), "by a rule of the new folder");
  assert.equal((await here.facts("session.moved")).length, 1);

  const why = await here.sage(["why", id]);
  assert.match(why.out, /Session \w+ in .*之后[^]*Record of session \w+ intact/);
  assert.match((await here.sage(["export", id, "--format", "html"])).out, /moved from .*before.* to .*之后/);
  const fork = /^\w+/.exec((await here.sage(["sessions", "fork", id])).out)?.[0];
  assert.equal((await listed(here)).find((row) => row.id === fork)?.cwd, after, "a fork works there, too");
});
