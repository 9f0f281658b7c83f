import assert from "node:assert/strict";
import { test } from "node:test";
import { findHabits, risen } from "../../scripts/ratchet.ts";

const source = `
// What this is.
import { File } from "./file.ts";
/** Whether it is: a colleague would say it differently. */
export const MOST_TRIES = 3;
export function nameOf(rules: string[]): string[] {
  const [one = ""] = rules;
  return [...[one, "b"], ...rules.map((rule) => rule.length > 2 ? rule : "")];
}
export const long = () => {
${"  //\n".repeat(110)}};
`;

test("each habit is counted where it stands", () => {
  const found = findHabits([
    { path: "src/a.ts", text: source },
    { path: "src/b.ts", text: "export function nameOf({ one }: { one: string }) { return { ...{ one } }; }" },
  ]);
  const counts = Object.fromEntries(Object.entries(found).map(([habit, places]) => [habit, places.length]));
  assert.deepEqual(
    { ...counts, "lines of source": 0 },
    {
      "comments that begin with What, Who, One, Those, So or Whether": 2,
      "locals called `one`": 2,
      "spreads that only steer the formatter": 2,
      "functions of one name in several files": 1,
      "limits called MOST_, LONGEST_, LARGEST_, PATIENCE_ or LOOK_": 1,
      "globals that are shadowed": 1,
      "functions over 100 lines": 1,
      "source files": 2,
      "lines of source": 0,
    },
  );
  assert.deepEqual(found["locals called `one`"], ["src/a.ts:7", "src/b.ts:1"]);
});

test("a count above its limit is named, one below is not", () => {
  const found = findHabits([{ path: "src/a.ts", text: source }]);
  const limits = Object.fromEntries(Object.entries(found).map(([habit, places]) => [habit, places.length]));
  assert.deepEqual(risen(found, limits), []);
  assert.deepEqual(risen(found, { ...limits, "source files": 0, "lines of source": 1_000 }), [
    "source files: 1, and there may be 0",
  ]);
});
