import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { createMemoryEntries } from "../../src/host/cluster/gateways/memory-entries.ts";
import { openSurfaceStores } from "../../src/host/surface-store.ts";
import { workspace } from "../support/sage.ts";

test("what a surface keeps is there after a restart, is nobody else's, and only its owner may read the file", () => {
  using dir = workspace();
  const path = dir.path("state/surfaces.db");
  const first = openSurfaceStores(path);
  const mine = first.of("feishu");
  mine.set("card/2", { id: "二" });
  mine.set("card/1", { id: "one" });
  mine.set("cards", 3);
  first.of("web").set("card/1", "other");
  first.close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const again = openSurfaceStores(path).of("feishu");
  assert.deepEqual(again.get("card/1"), { id: "one" });
  assert.deepEqual(again.list("card/"), [
    { key: "card/1", value: { id: "one" } },
    { key: "card/2", value: { id: "二" } },
  ]);
  assert.equal(again.delete("card/1"), true);
  assert.equal(again.delete("card/1"), false);
  assert.equal(again.get("card/1"), undefined);
});

test("a claim is given once, also across restarts, until its time is over", () => {
  using dir = workspace();
  let now = 1_000;
  const path = dir.path("surfaces.db");
  const first = openSurfaceStores(path, () => now);
  assert.equal(first.of("feishu").claim("om_1", 500), true);
  assert.equal(first.of("feishu").claim("om_1", 500), false);
  first.close();
  const second = openSurfaceStores(path, () => now);
  assert.equal(second.of("feishu").claim("om_1", 500), false);
  assert.equal(second.of("other bot").claim("om_1", 500), true);
  now += 500;
  assert.equal(second.of("feishu").claim("om_1", 500), true);
  second.close();
});

/** In a file, and as a gateway has it in memory over a database. */
const kinds = {
  file: (dir: string, now?: () => number) => openSurfaceStores(`${dir}/surfaces.db`, now).of("feishu"),
  memory: (_: string, now = Date.now) => createMemoryEntries([], { now }).store,
};

for (const [kind, open] of Object.entries(kinds)) {
  test(`${kind}: what has a time is gone after it`, () => {
    using dir = workspace();
    let now = 0;
    const store = open(dir.dir, () => now);
    store.set("name/ou_1", "Lin", { ttlMs: 100 });
    store.set("name/ou_2", "Mei");
    now = 100;
    assert.equal(store.get("name/ou_1"), undefined);
    assert.deepEqual(store.list("name/"), [{ key: "name/ou_2", value: "Mei" }]);
    assert.deepEqual([store.claim("name/ou_1", 50), store.claim("name/ou_1", 50)], [true, false]);
    now += 10 * 60_000;
    store.set("name/ou_0", "Kai");
    assert.deepEqual(
      store.list("name/").map(({ value }) => value),
      ["Kai", "Mei"],
    );
  });

  test(`${kind}: a claim and what it is for are written together or not at all`, () => {
    using dir = workspace();
    const store = open(dir.dir);
    store.set("kept", 1);
    assert.throws(() =>
      store.atomically(() => {
        store.claim("om_1", 1_000);
        store.set("inbox/om_1", { text: "hello" });
        store.delete("kept");
        throw new Error("the disk is full");
      }),
    );
    assert.deepEqual([store.list(""), store.claim("om_1", 1_000)], [[{ key: "kept", value: 1 }], true]);
  });
}

test("a memory hands over its changes once, the last one of each key, and nothing of what was undone", () => {
  const memory = createMemoryEntries([{ key: "old", value: "1", leftMs: Infinity }], { now: () => 0 });
  const { store } = memory;
  store.set("a", 1);
  store.set("a", "二", { ttlMs: 100 });
  store.set("b", 1);
  store.delete("b");
  store.delete("old");
  store.delete("never");
  assert.throws(() =>
    store.atomically(() => {
      store.set("a", 3);
      throw new Error("undone");
    }),
  );
  assert.deepEqual(memory.changes(), [
    { key: "a", value: '"二"', ttlMs: 100 },
    { key: "b", value: undefined, ttlMs: 0 },
    { key: "old", value: undefined, ttlMs: 0 },
  ]);
  assert.deepEqual(memory.changes(), []);
});
