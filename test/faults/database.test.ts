// T2: the journal of a story that was cut off by a power failure, at every frame of its log and in the middle of one. (Flipped bytes,
// strangers' files, newer versions, folders and files that may not be read: test/journal/sqlite.test.ts.)
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { dice, roundsOf, seed, thorough } from "./rounds.ts";
import { attend, reply, story, tell } from "./story.ts";
import { createWorld, type World } from "./world.ts";
import { wordsOf } from "../support/worded.ts";

const HEADER = 32;

/** The story up to a kill in its middle, and the two files it left. */
async function broken(world: World): Promise<{ db: Buffer; wal: Buffer; keys: string[] }> {
  const process = world.boot({ fault: { point: "commit", nth: 30, side: "after" } });
  await process.send({ type: "open", session: "s", cwd: world.dir });
  await process.send({ type: "say", session: "s", text: "go", id: "first", by: "Lin", surface: "a" });
  const person = attend(world, process, "s", (request) => reply(request, "done"));
  await process.died;
  const files = { db: readFileSync(world.path), wal: readFileSync(`${world.path}-wal`) }; // before anybody tidies up
  await person.leave();
  const keys = world.facts("s").map(({ key }) => key);
  await process.bury();
  return { ...files, keys };
}

test("a journal that was cut at any frame, or inside one, is what was committed up to some point, and its story goes on", async () => {
  using here = workspace();
  using whole = createWorld({ dir: here.dir, script: () => story });
  const { db, wal, keys } = await broken(whole);
  const frame = 24 + db.readUInt16BE(16);
  const frames = Math.floor((wal.length - HEADER) / frame);
  assert.ok(frames > 20, `${frames} frames`);
  const roll = dice(seed);
  const edges = Array.from({ length: frames + 1 }, (_, n) => HEADER + n * frame);
  const anywhere = Array.from({ length: roundsOf(4) }, () => roll.below(wal.length));
  const cuts = [...(thorough ? edges : edges.filter((_, n) => n % Math.ceil(frames / 8) === 0)), ...anywhere];
  const lengths = new Set<number>();
  for (const at of cuts) {
    using there = workspace();
    using world = createWorld({ dir: there.dir, script: () => story });
    writeFileSync(world.path, db);
    writeFileSync(`${world.path}-wal`, wal.subarray(0, at));
    const store = sqliteStore(world.path);
    const left = store.session("s") ? store.load("s", { verified: true }).map(({ key }) => key) : [];
    assert.deepEqual(left, keys.slice(0, left.length), `cut at ${at}: the beginning of what was written`);
    assert.deepEqual(store.lookAtIndexes(), { missing: 0, stale: 0 });
    lengths.add(left.length);
    store.close();
    const raw = new DatabaseSync(world.path);
    raw.exec("DELETE FROM process"); // the process that was killed has the number of this one, which lives
    raw.close();
    await tell(world, { faults: [] });
    const violations = check(world.history());
    assert.deepEqual(violations, [], `cut at ${at}\n${show(violations)}`);
  }
  assert.ok(lengths.size > 3, "some cuts lost something");
});

test("whatever byte of the journal is changed, it is read as written or refused, and nothing crashes", async () => {
  using here = workspace();
  using whole = createWorld({ dir: here.dir, script: () => story });
  await tell(whole, { faults: [] });
  const raw = new DatabaseSync(whole.path);
  raw.exec("PRAGMA wal_checkpoint(TRUNCATE)"); // all of it lies in the one file then
  raw.close();
  const store = sqliteStore(whole.path);
  const facts = JSON.stringify(store.load("s"));
  store.close();
  const bytes = readFileSync(whole.path);
  const roll = dice(seed);
  let refused = 0;
  const inside = bytes.indexOf("content of save-0"); // one byte that is surely part of a fact
  assert.ok(inside > 0);
  const places = [inside, ...Array.from({ length: roundsOf(24) }, () => roll.below(bytes.length))];
  for (const at of places) {
    using there = workspace();
    const path = there.path("journal.db");
    const damaged = Buffer.from(bytes);
    damaged[at] = damaged[at]! ^ (1 << roll.below(8));
    writeFileSync(path, damaged);
    try {
      const store = sqliteStore(path);
      try {
        if (store.session("s")) assert.equal(JSON.stringify(store.load("s", { verified: true })), facts, `byte ${at}`);
      } finally {
        store.close();
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      refused++;
      assert.match(
        wordsOf(error),
        /damaged|changed after it was written|newer Sage|another program|malformed|no such/i,
        `byte ${at}`,
      );
    }
  }
  assert.ok(refused > 0, "some of them were noticed");
});
