import assert from "node:assert/strict";
import { test } from "node:test";
import { watchEscalations } from "../../src/host/recovery.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("a process that runs no session measures the time of what others asked, also when they are gone: people are called once, and silence ends it", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const daemon = sqliteStore(path);
  const stop = watchEscalations(daemon);
  const ask = async (promptTimeout: number) => {
    const timeoutPolicy = { escalate: ["Wang"], end: "deny" as const };
    const script = [{ calls: [bash("touch ran")] }, { text: "done" }];
    const options = { promptTimeout, timeoutPolicy };
    return sageWith({ script, dir: here.dir, store: sqliteStore(path), options });
  };
  const left = await ask(150);
  await left.say("go");
  const [request] = await left.open();
  await left.host.close();
  const told = () =>
    daemon.load(left.session).flatMap((fact) => {
      if (fact.type === "input.escalated") return [fact.data.to];
      return fact.type === "input.resolved" ? [fact.data.outcome, fact.data.by] : [];
    });
  await until(() => daemon.resolution(request!.id) !== undefined);
  assert.deepEqual(told(), ["Wang", "timed_out", "deadline"]);
  assert.ok(!daemon.load(left.session).some(({ type }) => type === "call.started"), "nothing ran");

  await using alive = await ask(100);
  await alive.say("go");
  await alive.outcome(); // both measure
  assert.equal(daemon.load(alive.session).filter(({ type }) => type === "input.escalated").length, 1);
  stop();
  daemon.close();
});
