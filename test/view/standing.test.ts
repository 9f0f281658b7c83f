import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { ToolResult } from "../../src/protocol/facts/message.ts";
import type { Verdict } from "../../src/protocol/facts/permission.ts";
import type { InputRequest, Resolution } from "../../src/protocol/facts/request.ts";
import type { Standing } from "../../src/protocol/host/receipt.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { standingOf, type CallRecord } from "../../src/view/transcript/standing.ts";

const verdict = (behavior: Verdict["behavior"], more: Partial<Verdict> = {}): Verdict => ({
  behavior,
  reason: said(""),
  effect: "writes",
  digest: "d",
  ...more,
});
const request: InputRequest = {
  kind: "permission",
  id: "s/t0/0/0/permit0",
  session: "s",
  at: 1,
  source: "approval",
  agent: [],
  why: said(""),
  digest: "d",
  tool: "Bash",
  input: {},
  suggestions: [],
  hard: false,
};
const frame = { requestId: request.id, by: "ana", surface: "tui", at: 2 };
const answered = (response: Omit<InputResponse, "requestId">, by = "ana"): Resolution =>
  ({ ...frame, by, outcome: "answered", response: { ...response, requestId: request.id } }) as Resolution;
const asked = (resolution?: Resolution) => [resolution ? { request, resolution } : { request }];
const good: ToolResult = { ok: true, text: "" };
const bad: ToolResult = { ok: false, text: "" };
const ended = { startedAt: 1, endedAt: 2 };

const table: [string, Partial<CallRecord>, Standing][] = [
  ["nothing is known of it yet", {}, "new"],
  ["it is allowed and has not begun", { verdict: verdict("allow") }, "new"],
  ["a person is asked", { verdict: verdict("ask"), asked: asked() }, "waiting"],
  ["a person allowed it, and it has not begun", { asked: asked(answered({ type: "granted" })) }, "new"],
  ["it has begun", { verdict: verdict("allow"), runs: [{ startedAt: 1 }] }, "running"],
  ["a subagent begins when it is allowed", { verdict: verdict("allow", { effect: "waits" }) }, "running"],
  ["it ended well", { result: good, runs: [ended] }, "done"],
  ["it ended badly", { result: bad, runs: [{ ...ended, ok: false }] }, "failed"],
  ["a subagent failed", { result: bad, verdict: verdict("allow", { effect: "waits" }) }, "failed"],
  ["a rule denied it", { result: bad, verdict: verdict("deny", { rule: "Bash(rm *)" }) }, "refused-by-rule"],
  [
    "a person allowed an edit that a rule denies",
    { result: bad, verdict: verdict("deny"), asked: asked(answered({ type: "granted", input: {} } as never)) },
    "refused-by-rule",
  ],
  [
    "a person denied it",
    { result: bad, verdict: verdict("ask"), asked: asked(answered({ type: "denied" })) },
    "refused-by-person",
  ],
  [
    "a person denied the very same call before",
    { result: { ...bad, refused: true }, verdict: verdict("deny", { digest: "", repeated: true }) },
    "refused-by-person",
  ],
  ["there is no such tool", { result: bad, verdict: verdict("deny", { digest: "" }) }, "invalid"],
  [
    "a flag denied it in a person's place",
    { result: bad, verdict: verdict("ask"), asked: asked(answered({ type: "denied" }, "auto")) },
    "refused-by-rule",
  ],
  [
    "nobody could be asked",
    { result: bad, verdict: verdict("ask"), asked: asked({ ...frame, outcome: "no_surface", reason: said("") }) },
    "not-run",
  ],
  ["the turn was stopped before it began", { result: bad, verdict: verdict("allow"), turnStopped: true }, "not-run"],
  ["the turn was stopped while it ran", { result: bad, runs: [{ ...ended, ok: false, stopped: true }] }, "stopped"],
  [
    "the turn was stopped while a subagent ran",
    { result: bad, verdict: verdict("allow", { effect: "waits" }), turnStopped: true },
    "stopped",
  ],
  ["Sage was killed while it ran", { runs: [{ startedAt: 1, unknown: true }] }, "unknown"],
  ["nobody could say how it ended", { result: bad, runs: [{ startedAt: 1, unknown: true }] }, "unknown"],
  ["a person says that it is done", { result: good, runs: [{ startedAt: 1, unknown: true }] }, "done"],
  ["the turn ended while it ran", { runs: [{ startedAt: 1 }], turnEnded: true }, "unknown"],
  ["the turn ended before it began", { verdict: verdict("allow"), turnEnded: true }, "not-run"],
];

suite("how a call stands", () => {
  test("a result that says how its call ended is believed; a call that could not run is called invalid", () => {
    const record = { asked: [], runs: [{ startedAt: 1, endedAt: 2 }] };
    assert.equal(standingOf({ ...record, result: { ...bad, end: "stopped" } }), "stopped");
    assert.equal(standingOf({ ...record, result: { ...bad, end: "not-run" } }), "not-run");
    const impossible = { verdict: verdict("deny", { digest: "" }), result: { ...bad, end: "not-run" as const } };
    assert.equal(standingOf({ ...record, runs: [], ...impossible }), "invalid");
  });

  for (const [when, record, standing] of table)
    test(`${when}: ${standing}`, () => {
      assert.equal(standingOf({ asked: [], runs: [], ...record }), standing);
    });
});
