import assert from "node:assert/strict";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { changesSince as look } from "../../src/agent/call/perform/recover.ts";
import { reason, said } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { workspace } from "../support/sage.ts";

const never = new AbortController().signal;

/** The change as a person reads it. */
async function changesSince(cwd: string, since: number, signal: AbortSignal): Promise<string> {
  return sentence(reason("lost-call", { known: said(""), changes: await look(cwd, since, signal) }), "en").trim();
}

/** A folder as it was for a while, and the moment in which a call begins. */
async function folder(here: ReturnType<typeof workspace>, names: readonly string[]): Promise<number> {
  for (const name of names) {
    mkdirSync(dirname(here.path(name)), { recursive: true });
    writeFileSync(here.path(name), "old");
  }
  await sleep(60);
  return Date.now();
}

test("names what was changed, added and removed since, and nothing that is ignored or was there before", async () => {
  using here = workspace();
  const since = await folder(here, ["a.txt", "src/b.ts", "src/gone.ts", "build/old.o", "docs/same.md", ".gitignore"]);
  mkdirSync(here.path(".git"));
  writeFileSync(here.path(".gitignore"), "build/\n");
  writeFileSync(here.path("a.txt"), "new");
  writeFileSync(here.path("中文.txt"), "新的");
  writeFileSync(here.path("build/new.o"), "new");
  rmSync(here.path("src/gone.ts"));
  assert.equal(
    await changesSince(here.dir, since, never),
    [
      "Changed in the working directory since it was started, by it or by others:",
      "  .gitignore",
      "  a.txt",
      "  中文.txt",
      "Something was removed or renamed in:",
      "  src",
    ].join("\n"),
  );
});

test("says so when nothing was changed, and when it cannot tell", async () => {
  using here = workspace();
  const since = await folder(here, ["a.txt"]);
  assert.match(await changesSince(here.dir, since, never), /^Nothing in the working directory has changed/);
  assert.match(
    await changesSince(here.path("gone"), since, never),
    /^Cannot tell which files changed since then: ENOENT/,
  );
});

test("a file moved here keeps its old time, and is seen all the same; one whose time is rounded too", async () => {
  using here = workspace();
  const since = await folder(here, ["a.txt", "b.txt"]);
  utimesSync(here.path("a.txt"), new Date(0), new Date(0));
  assert.match(await changesSince(here.dir, since, never), /^ {2}a\.txt$/m);
});

test("a name cannot look like something else, and many are counted", async () => {
  using here = workspace();
  const since = await folder(here, []);
  writeFileSync(here.path("a\nNothing has changed.\u202etxt"), "");
  for (let n = 10; n < 50; n++) writeFileSync(here.path(`f${n}`), "");
  const text = await changesSince(here.dir, since, never);
  assert.match(text, /^ {2}a‹U\+000A›Nothing has changed\.‹U\+202E›txt$/m);
  assert.match(text, /^ {2}and 21 more$/m);
  assert.equal(text.split("\n").length, 22);
});

test("whoever leaves meanwhile is not held up", async () => {
  using here = workspace();
  await assert.rejects(changesSince(here.dir, 0, AbortSignal.abort(new Error("leaving"))), /leaving/);
});
