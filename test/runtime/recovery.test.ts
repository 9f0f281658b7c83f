import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { recover } from "../../src/runtime/recovery.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

test("a turn that a person paused stays paused; one that broke off goes on; one that ended is left alone", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const script = [{ calls: [bash("sleep 30")] }, { text: "done" }];
  const rules = [{ behavior: "allow", text: "Bash", source: "user" } as const];
  const begun = async () => {
    const sage = await sageWith({ script, dir: here.dir, store: sqliteStore(path), rules });
    await sage.say("go");
    while (!sage.facts().some(({ type }) => type === "call.started"))
      await new Promise((resolve) => setTimeout(resolve, 5));
    return sage;
  };
  const paused = await begun();
  await paused.host.send({ type: "interrupt", session: paused.session, by: "Lin", surface: "test" });
  await paused.outcome();
  await paused.host.close();
  const broken = await begun();
  await broken.host.close();

  await using next = await sageWith({ script: [{ text: "nothing to do" }], dir: here.dir, store: sqliteStore(path) });
  await next.say("hello");
  await next.outcome();
  const sent: unknown[] = [];
  const host: typeof next.host = {
    ...next.host,
    send(command) {
      sent.push(command);
      return Promise.resolve({ ok: true } as never);
    },
  };
  const recovered = await recover(next.store, host, [paused.session, broken.session, next.session, "unknown"]);
  assert.deepEqual([recovered.resumed, recovered.waiting], [1, 0]);
  assert.deepEqual(sent, [{ type: "resume", session: broken.session }]);
});
