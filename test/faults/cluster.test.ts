// A short sample of `npm run test:cluster`: real processes on a real PostgreSQL, some of which are killed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPostgres } from "../support/postgres.ts";
import { play } from "./cluster/play.ts";

test(
  "workers and gateways that are killed lose nothing and do nothing twice",
  { skip: !hasPostgres && "no PostgreSQL is installed" },
  async () => {
    const { found, kills } = await play({
      ...{ seed: 7, rounds: 1, gateways: 1, workers: 2, sessions: 2, faults: 3, paceMs: 250, sparesDatabase: true },
    });
    assert.deepEqual(found, []);
    assert.ok(kills > 0);
  },
);
