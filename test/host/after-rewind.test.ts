// A message that comes while another process rewinds its session: that process runs no turn, so whoever heard the message does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { endedKey, rewindKey } from "../../src/protocol/key.ts";
import { sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("a message said while its session is rewound is taken up when the rewind is over, and not before", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  await using sage = await sageWith({ script: [{ text: "one" }, { text: "two" }], dir: here.dir, store });
  await sage.say("first");
  await sage.outcome();
  await until(() => !store.session(sage.session)?.owned, "the session to be let go");

  const elsewhere = sqliteStore(here.path("journal.db"));
  const log = openSession(elsewhere, sage.session);
  const what = { turn: 0, what: "files", by: "Lin", surface: "cli" } as const;
  const data = { ...what, heard: 0, upTo: 0, next: 1, files: [] };
  log.branch("").decide(rewindKey(0), "session.rewound", () => data);
  await log.flush();
  await sage.host.send({ type: "say", session: sage.session, text: "second", by: "Lin", surface: "test" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(sage.facts().filter(({ type }) => type === "turn.begun").length, 1, "it is still being rewound");
  log.branch("").decide(endedKey(rewindKey(0)), "rewind.ended", () => ({ restored: [], problems: [] }));
  await log.release();
  await until(() => sage.facts().filter(({ type }) => type === "turn.ended").length === 2, "the second turn");
  elsewhere.close();
});
