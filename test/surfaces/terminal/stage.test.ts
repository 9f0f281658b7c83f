import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Entry, Scroll } from "../../../src/surfaces/terminal/screen/scroll.ts";
import { createStage } from "../../../src/surfaces/terminal/screen/stage.ts";

const lines = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`);

/** A stage over entries that a test puts there: `done` ones may go, the last one is still growing. */
function stage() {
  let done: Entry[] = [];
  let growing: Entry[] = [];
  const entry = (rows: string[]): Entry => ({
    item: { type: "text", key: rows[0] ?? "", within: [], text: rows.join("\n"), done: false, restarts: 0 },
    gap: false,
    from: 0,
    frozen: 0,
    restarts: 0,
  });
  const scroll: Pick<Scroll, "take" | "live"> = {
    live: () => growing,
    take: () => done.splice(0),
  };
  const { compose } = createStage({
    scroll: scroll as Scroll,
    rowsOf: ({ item }) => (item.type === "text" && item.text !== "" ? item.text.split("\n") : []),
    bottom: () => ["editor"],
    above: (rows) => `${rows} above`,
  });
  return {
    compose,
    finish: (rows: string[]) => void (done = [...done, entry(rows)]),
    grow: (rows: string[]) => {
      growing = [entry(rows)];
      return growing[0];
    },
  };
}

suite("a screen put together", () => {
  test("what is finished goes above, what grows stays and is never taller than the window", () => {
    const at = stage();
    at.finish(["a", "b"]);
    at.grow(lines("x", 3));
    assert.deepEqual(at.compose(80, 10, undefined), { above: ["a", "b"], live: ["x0", "x1", "x2", "editor"] });
    const entry = at.grow(lines("x", 12));
    const tall = at.compose(80, 10, undefined);
    assert.deepEqual(tall, { above: ["x0", "x1", "x2"], live: [...lines("x", 12).slice(3), "editor"] });
    assert.equal(entry?.frozen, 3);
    assert.deepEqual(at.compose(80, 10, undefined).above, [], "and only once");
  });

  test("rows that no frame has shown are drawn with the window's new size, however many they are", () => {
    const at = stage();
    at.grow([]);
    at.compose(80, 10, undefined);
    at.finish(lines("a", 40)); // all of it between two frames, the second of another size
    const { above } = at.compose(80, 8, 8);
    assert.deepEqual(above, lines("a", 40));
  });

  test("a reply that grew by more than a window between two sizes loses no row", () => {
    const at = stage();
    at.grow(lines("x", 2));
    at.compose(80, 10, undefined);
    at.grow(lines("x", 30));
    const { above, live } = at.compose(80, 10, 10);
    assert.deepEqual([...above, ...live], [...lines("x", 30), "editor"]);
  });
});
