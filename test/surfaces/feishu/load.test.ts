import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../../../bench/feishu/load.ts";

test("thirty chats at once: every message ends its task, every click is acknowledged, nothing is lost or done twice", async () => {
  const { said, clicked, finished, turns, ran, refused } = await load({ chats: 30, perSecond: 15, seconds: 4 });
  assert.ok(said > 0);
  assert.deepEqual(
    { clicked, finished, turns, ran, refused },
    { clicked: said, finished: said, turns: said, ran: said, refused: [] },
  );
});
