// A call that was cut off: the model reads what the person chose, in the person's words, and what really happened.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { startRunner } from "../support/process.ts";
import { allow, bash, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const cases = [
  ["done", "done", /ended since[^]*The person said: "use done\.md 吧"\nThe person says that it is done\./],
  [
    "rerun",
    "run again",
    /\(This call had begun before and was cut off\. The person had it run again\.\)\nThe person said: "use done\.md 吧"/,
  ],
  ["stop", "stopped", /The person said: "use done\.md 吧"\nIt was not run again/],
] as const;

for (const [choice, name, expected] of cases)
  test(`recovery, ${name}: a remark reaches the model, and a command that ended by itself was not killed`, async () => {
    using here = workspace();
    const command = `touch ${here.path("began")}; sleep 1; touch ${here.path("over")}`;
    const script = [{ calls: [bash(command)] }, { text: "done" }];
    writeFileSync(here.path("script.json"), JSON.stringify(script));
    const first = startRunner([here.dir, "s"], { env: { ANSWER: "self" } });
    await until(() => existsSync(here.path("began")));
    first.child.kill("SIGKILL");
    await first.ended;
    const store = sqliteStore(here.path("journal.db"));
    await using sage = await sageWith({ dir: here.dir, store, session: "s", script, rules: [allow("Bash")] });
    assert.deepEqual(await sage.host.send({ type: "resume", session: "s" }), { ok: true });
    const answer = async (label: string, remark?: string) => {
      const [request] = await sage.open();
      assert.ok(request?.kind === "question");
      const answers = { [request.questions[0]?.question ?? ""]: { selected: [label] } };
      const response = { type: "answers" as const, requestId: request.id, answers };
      await sage.answer({ ...response, ...(remark !== undefined && { remark }) });
    };
    // Killed or not is told by what happened: by the time of the answer the command has ended by itself.
    const [running] = await sage.open();
    assert.equal(running?.id, "s/t0/0/0/lost0.running");
    await until(() => existsSync(here.path("over")));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await answer("kill");
    await answer(choice, "use done.md 吧");
    await sage.outcome();
    assert.match(sage.result(0, 0), expected);
    assert.doesNotMatch(sage.result(0, 0), /was killed/);
  });
