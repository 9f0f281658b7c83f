// The clock of the server, as a process knows it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pool } from "pg";
import { createServerClock } from "../../src/host/cluster/server-clock.ts";

test("is told in whole milliseconds and never ahead of the server, also after that one was set back", async () => {
  const clock = createServerClock();
  for (const server of [1_000_000.4, 5_000_000.9, 400_000.2]) {
    const query = async () => ({ rows: [{ now: `${server}` }] });
    const asked = performance.now();
    await clock.look({ query } as unknown as Pool);
    const now = clock.now();
    assert.ok(Number.isInteger(now), `${now}`);
    assert.ok(now <= server + performance.now() - asked, `${now} for ${server}`);
    assert.ok(now >= Math.floor(server), `${now} for ${server}`);
  }
});
