import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { canonicalJson, withSortedKeys } from "../../src/base/canonical-json.ts";

/** The digests of approvals in journals were made of this text: it may never change. */
function asEver(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

test("a value reads the same however its keys were written, and as it did in every journal before", () => {
  const key = fc.oneof(fc.string(), fc.nat({ max: 20 }).map(String), fc.constantFrom("a", "b", "A", "é", "__proto__"));
  const plain = { withDate: false, withMap: false, withSet: false, withBigInt: false };
  fc.assert(
    fc.property(fc.anything({ ...plain, maxDepth: 4, key }), (value) => {
      assert.equal(JSON.stringify(withSortedKeys(value)), asEver(value));
    }),
    { numRuns: 300 },
  );
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: null }), canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }));
});

test("a value whose keys are in order is itself; one that is nested very deep takes no longer for it", () => {
  const ordered = { a: 1, b: { c: [1, { d: 2, e: 3 }] } };
  assert.equal(withSortedKeys(ordered), ordered);
  let deep: unknown = { b: 1, a: 2 };
  for (let n = 0; n < 500; n++) deep = n % 2 === 0 ? [deep] : { inner: deep };
  assert.equal(JSON.stringify(withSortedKeys(deep)), asEver(deep));
});
