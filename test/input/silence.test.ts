import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silenceOptions } from "../../src/config/settings/silence.ts";
import { awakeAt, reminders } from "../../src/input/ask.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { silenceLines } from "../../src/view/request/silence.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { enforcedUntilNow } from "../support/enforced.ts";
import { until } from "../support/until.ts";

const MINUTE = 60_000;
const at = (hours: number, minutes = 0) => new Date(2026, 10, 15, hours, minutes).getTime();
const night = { from: 22 * 60, to: 8 * 60 };

suite("if nobody answers", () => {
  test("quiet hours move a call to their end, over midnight and by day", () => {
    const quiet = { hours: { Wang: night, Zhao: { from: 12 * 60, to: 13 * 60 } }, approvers: ["Wang"] };
    assert.equal(awakeAt("Wang", at(23, 30), quiet), at(24 + 8));
    assert.equal(awakeAt("Wang", at(7, 59), quiet), at(8));
    assert.equal(awakeAt("Wang", at(8), quiet), at(8));
    assert.equal(awakeAt("Zhao", at(12, 15), quiet), at(13));
    assert.equal(awakeAt("Lin", at(23), quiet), at(23));
  });

  test("reminders: once late in the wait, or as often as was said and never after the end", () => {
    const now = Date.now();
    const deadline = { at: now + 60 * MINUTE, timeoutMs: 60 * MINUTE, policy: "deny" as const };
    assert.deepEqual(reminders(deadline, undefined, undefined), [now + 45 * MINUTE]);
    assert.equal(reminders(deadline, 25 * MINUTE, undefined).length, 2);
    assert.equal(reminders(undefined, MINUTE, undefined).length, 10);
    assert.deepEqual(reminders(undefined, undefined, undefined), []);
    assert.deepEqual(reminders({ ...deadline, at: now + MINUTE, timeoutMs: MINUTE }, undefined, undefined), []);
  });

  test("the settings of a run, of a tool and of a rule: the most particular word counts, and every request says it", async () => {
    using here = workspace();
    const people = {
      Lin: { ids: ["account:lin"], roles: ["approver" as const] },
      Wang: { ids: ["account:wang"], roles: ["approver" as const], quiet: "22:00-08:00" },
    };
    const policy = { escalate: ["Wang"], end: "deny" as const };
    const tools = { AskUserQuestion: { after: "2h", policy: { default: { type: "denied" as const } } } };
    const options = silenceOptions({ silence: { after: "10m", policy, remind: "3m", tools }, people });
    assert.deepEqual(options.quiet, { hours: { Wang: night }, approvers: ["Lin", "Wang"] });
    const rule: Rule = {
      ...{ behavior: "ask", text: "Bash(touch:*)", source: "user" },
      silence: { timeoutMs: 5 * MINUTE, timeoutPolicy: "fail" },
    };
    const calls = [bash("make"), askUser(question("Which?")), bash("touch a")];
    await using sage = await sageWith({ script: [{ calls }, { text: "over" }], dir: here.dir, rules: [rule], options });
    await sage.say("go");
    const [made, asked, touched] = (await sage.open(3)) as [InputRequest, InputRequest, InputRequest];
    assert.deepEqual([made.deadline?.policy, made.deadline?.escalation?.map(({ to }) => to)], ["deny", ["Wang"]]);
    assert.ok((made.deadline?.timeoutMs ?? 0) >= 20 * MINUTE && (made.remind?.length ?? 0) >= 6);
    assert.deepEqual(asked.deadline?.policy, { default: { type: "denied", requestId: "" } });
    assert.deepEqual([touched.deadline?.policy, touched.deadline?.timeoutMs], ["fail", 5 * MINUTE]);
    const t = texts("en");
    assert.match(
      silenceLines(made, t).join("\n"),
      /^If nobody answers, Wang is asked at [^]*\nWaits until .*, then it is refused\.$/,
    );
    assert.deepEqual(silenceLines({}, t), ["Waits until somebody answers."]);
    for (const { id } of [made, asked, touched]) await sage.answer({ type: "denied", requestId: id });
    await sage.outcome();
  });

  test("reminders and further people are facts, written once over restarts, and silence grants nothing", async (t) => {
    using here = workspace();
    const path = here.path("journal.db");
    const options = { promptTimeout: 60 * MINUTE, timeoutPolicy: { escalate: ["Wang", "Zhao"], end: "deny" as const } };
    const script = [{ calls: [bash("touch a")] }, { text: "over" }];
    const first = await sageWith({ script, dir: here.dir, store: sqliteStore(path), options });
    await first.say("go");
    const [request] = await first.open();
    const { session } = first;
    await first.host.close();
    const called = (facts: readonly { type: string; key: string }[]) =>
      facts.flatMap(({ type, key }) => (type === "input.reminded" || type === "input.escalated" ? [key] : []));
    const start = Date.now();
    const expected = [
      [61, ["escalated/t0/0/0/permit0/0"]],
      [121, ["escalated/t0/0/0/permit0/0", "escalated/t0/0/0/permit0/1"]],
      [170, ["escalated/t0/0/0/permit0/0", "escalated/t0/0/0/permit0/1", "reminded/t0/0/0/permit0/0"]],
    ] as const;
    for (const [minutes, keys] of expected)
      for (const _again of [1, 2]) {
        t.mock.timers.reset();
        t.mock.timers.enable({ apis: ["Date"], now: start + minutes * MINUTE });
        const store = sqliteStore(path);
        enforcedUntilNow(store);
        const sage = await sageWith({ script, dir: here.dir, store, options });
        await sage.host.send({ type: "resume", session });
        await until(() => called(store.load(session)).length >= keys.length);
        assert.deepEqual(called(store.load(session)).toSorted(), [...keys].toSorted());
        await sage.host.close();
      }
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ["Date"], now: start + 181 * MINUTE });
    const store = sqliteStore(path);
    enforcedUntilNow(store);
    await using last = await sageWith({ script, dir: here.dir, store, options });
    await last.host.run(session);
    const end = store.resolution(request?.id ?? "");
    assert.ok(end?.outcome === "timed_out" && end.response?.type === "denied");
    assert.ok(!store.load(session).some(({ type }) => type === "call.started"));
    assert.equal(called(store.load(session)).length, 3);
  });
});
