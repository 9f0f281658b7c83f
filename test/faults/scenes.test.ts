import assert from "node:assert/strict";
import { test } from "node:test";
import { show } from "./checker.ts";
import { play, sceneNames } from "./scenes.ts";

for (const name of sceneNames)
  test(`scene ${name}: nothing lost, nothing twice`, async () => {
    const violations = await play(name);
    assert.deepEqual(violations, [], show(violations));
  });
