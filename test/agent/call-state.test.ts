import assert from "node:assert/strict";
import { test } from "node:test";
import { driftBetween, weighAgain } from "../../src/agent/call/judge/drift.ts";
import {
  firstState,
  nextState,
  type Again,
  type CallEvent,
  type CallState,
} from "../../src/agent/call/judge/call-state.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Verdict } from "../../src/protocol/facts/permission.ts";
import type { Resolution } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";

const verdict = (behavior: Verdict["behavior"], more: Partial<Verdict> = {}): Verdict => ({
  behavior,
  reason: said(behavior),
  effect: "writes",
  digest: "d",
  ...more,
});
const frame = { requestId: "s/t0/0/0/permit0", by: "Lin", surface: "test", at: 0 };
const granted = (more: Partial<InputResponse & { type: "granted" }> = {}): Resolution => ({
  ...frame,
  outcome: "answered",
  response: { type: "granted", requestId: frame.requestId, ...more },
});
const resolved = (resolution: Resolution, own = false): CallEvent => ({ type: "resolved", resolution, own });

const ask = verdict("ask");
const both = verdict("ask", { consent: { approvals: 2 } });
const asking: CallState = { at: "asking", number: 2, verdict: ask, run: 0 };
const rules = { by: "rules" } as const;
const person = { by: "person" } as const;
const allowed: CallState = { at: "allowed", number: 2, verdict: ask, approval: person, waited: true, run: 0 };
const look: Again = { because: "last-look", approval: person };
const looking: CallState = { at: "judging", number: 3, shown: ask, again: look, run: 1 };
const ruled: CallState = { at: "judging", number: 3, shown: ask, again: { because: "ruled" }, run: 0 };
const changed = { by: "person", who: { by: "Lin", surface: "test" } } as const;
const input = { command: "ls" };
const so = 'When the person approved it before, they said: "so"';
const edited: CallState = {
  at: "judging",
  number: 3,
  run: 0,
  shown: ask,
  again: { because: "edited", input, changed, comment: "so" },
};
const yes = verdict("allow");
const no = verdict("deny");
const denied: Resolution = { ...frame, outcome: "answered", response: { type: "denied", requestId: "" } };
const superseded: Resolution = { ...frame, outcome: "superseded", reason: said("a rule") };
const late: Resolution = { ...frame, outcome: "timed_out", reason: said("late") };
const result = { ok: true, text: "" };

const table: [string, CallState, CallEvent, CallState][] = [
  ["a yes", asking, resolved(granted()), { ...allowed, waited: true }],
  [
    "a yes with a word",
    asking,
    resolved(granted({ comment: "go" })),
    { ...allowed, approval: { by: "person", comment: "go" } },
  ],
  ["a yes to something else", asking, resolved(granted({ input, comment: "so" })), edited],
  ["a no", asking, resolved(denied), { at: "over", end: { how: "not-approved", resolution: denied } }],
  ["silence", asking, resolved(late), { at: "over", end: { how: "not-approved", resolution: late } }],
  ["a rule that decides it", asking, resolved(superseded), ruled],
  [
    "an answer to the tool's own question",
    asking,
    resolved(denied, true),
    { at: "over", end: { how: "answered", verdict: ask, resolution: denied } },
  ],
  [
    "an edit that may run",
    edited,
    { type: "judged", verdict: yes, stale: false },
    {
      at: "allowed",
      number: 3,
      verdict: yes,
      approval: { by: "person", comment: "so" },
      waited: false,
      run: 0,
    },
  ],
  ["an edit that asks", edited, { type: "judged", verdict: ask, stale: false }, { ...asking, number: 3, talk: so }],
  [
    "an edit that a rule refuses",
    edited,
    { type: "judged", verdict: no, stale: false },
    { at: "over", end: { how: "refused", verdict: no }, talk: so },
  ],
  [
    "a new rule that allows it",
    ruled,
    { type: "judged", verdict: yes, stale: false },
    { at: "allowed", number: 3, verdict: yes, approval: rules, waited: false, run: 0 },
  ],
  [
    "its turn comes and nothing has happened since",
    allowed,
    { type: "turn-came", fresh: true },
    { at: "running", number: 2, verdict: ask, approval: person, run: 0 },
  ],
  [
    "its turn comes and something may have changed",
    { ...allowed, run: 1 },
    { type: "turn-came", fresh: false },
    { at: "judging", number: 3, shown: ask, again: look, run: 1 },
  ],
  [
    "the last look finds it as it was",
    looking,
    { type: "judged", verdict: yes, stale: false },
    { at: "running", number: 3, verdict: yes, approval: person, run: 1 },
  ],
  [
    "the last look was taken by an attempt that was killed: it is taken again",
    looking,
    { type: "judged", verdict: yes, stale: true },
    { at: "allowed", number: 3, verdict: yes, approval: person, waited: true, run: 1 },
  ],
  [
    "the last look finds a difference; a run that went before still counts",
    looking,
    { type: "judged", verdict: ask, stale: false },
    { ...asking, number: 3, run: 1 },
  ],
  [
    "it ends",
    { at: "running", number: 2, verdict: yes, approval: rules, run: 0 },
    { type: "ended", result },
    { at: "over", end: { how: "ran", result } },
  ],
  [
    "it was cut off and is to run again",
    { at: "running", number: 2, verdict: yes, approval: rules, run: 0 },
    { type: "rerun", talk: "again" },
    { at: "allowed", number: 2, verdict: yes, approval: rules, waited: true, run: 1, talk: "again" },
  ],
  [
    "a yes with proof",
    asking,
    resolved({ ...granted(), signed: "device" }),
    { ...allowed, approval: { by: "person", signed: true } },
  ],
  [
    "a call that took proof was cut off: whoever wants it again has none",
    { at: "running", number: 2, verdict: yes, approval: { by: "person", signed: true }, run: 0 },
    { type: "rerun", talk: "again" },
    { at: "allowed", number: 2, verdict: yes, approval: rules, waited: true, run: 1, talk: "again" },
  ],
  [
    "a call that takes two people was cut off: their yes was for one run",
    { at: "running", number: 2, verdict: both, approval: person, run: 0 },
    { type: "rerun", talk: "again" },
    { at: "allowed", number: 2, verdict: both, approval: rules, waited: true, run: 1, talk: "again" },
  ],
  [
    "a yes without the signatures it takes",
    { ...asking, verdict: both },
    { ...(resolved(granted()) as CallEvent & { type: "resolved" }), unsigned: true },
    { at: "judging", number: 3, shown: both, again: { because: "ruled" }, run: 0 },
  ],
];

test("the way of a call: every state and what follows it", async (t) => {
  for (const [name, state, event, expected] of table)
    await t.test(name, () => assert.deepEqual(nextState(state, event), expected));
  assert.deepEqual(firstState(no), { at: "over", end: { how: "refused", verdict: no } });
  assert.deepEqual(firstState(ask), { at: "asking", number: 0, verdict: ask, run: 0 });
  for (const [allowedBy, by] of [
    [undefined, "rules"],
    ["hook", "hook"],
    ["person", "person"],
  ] as const) {
    const one = verdict("allow", allowedBy ? { allowedBy } : {});
    const expected = { at: "allowed", number: 0, verdict: one, approval: { by }, waited: false, run: 0 };
    assert.deepEqual(firstState(one), expected);
  }
  assert.throws(() => nextState(asking, { type: "turn-came", fresh: true }), /does not expect "turn-came"/);
});

const never = () => undefined;

test("what counts as a difference, and what this session wrote itself", () => {
  const file = (before: string, operand = "/w/a") => verdict("ask", { operand, before, digest: `${operand}${before}` });
  assert.deepEqual(driftBetween(file("1"), file("1"), never), []);
  assert.deepEqual(driftBetween(file("1"), file("2"), never), [{ what: "file", path: "/w/a" }]);
  assert.deepEqual(
    driftBetween(file("1"), file("2"), () => "2"),
    [],
    "its own write",
  );
  assert.deepEqual(
    driftBetween(file("1"), file("2", "/w/b"), () => "2"),
    [{ what: "file", path: "/w/b" }],
    "another file, be it its own",
  );
  const script = (hash: string) => verdict("ask", { scripts: { "/w/x.sh": hash }, digest: hash });
  assert.deepEqual(driftBetween(script("1"), script("2"), never), [{ what: "script", path: "/w/x.sh" }]);
  assert.deepEqual(driftBetween(script("1"), verdict("ask"), never), [{ what: "script", path: "/w/x.sh" }]);
  assert.deepEqual(
    driftBetween(script("1"), script("2"), () => "2"),
    [],
  );
  const link = (to?: string) => verdict("ask", to === undefined ? {} : { links: { "/w/l": to } });
  assert.deepEqual(driftBetween(link(), link("/etc"), never), [{ what: "link", path: "/w/l", to: "/etc" }]);
  assert.deepEqual(driftBetween(link("/a"), link("/b"), never), [{ what: "link", path: "/w/l", from: "/a", to: "/b" }]);
  assert.deepEqual(driftBetween(link("/a"), link(), never), [{ what: "link", path: "/w/l", from: "/a" }]);
  const part = (...paths: string[]) =>
    verdict("ask", {
      parts: [{ text: "rm *", behavior: "ask", reason: said(""), writes: paths.map((path) => ({ path })) }],
    });
  assert.deepEqual(driftBetween(part("/w/a"), part("/w/a", "/w/b"), never), [{ what: "writes", paths: ["/w/b"] }]);
  assert.deepEqual(driftBetween(part("/w/a", "/w/b"), part("/w/a"), never), [], "less than was approved");
  assert.deepEqual(driftBetween(verdict("ask"), verdict("ask", { digest: "e" }), never), [{ what: "tool" }]);
  const newer = verdict("ask", { digest: "3:d" });
  assert.deepEqual(driftBetween(newer, verdict("ask", { digest: "2:d" }), never), [{ what: "version" }]);
});

test("the last look weighs: a rule's yes needs a rule's yes again, a person's and a hook's hold while nothing differs", () => {
  const at = (approval: (Again & { because: "last-look" })["approval"]): Again => ({
    because: "last-look",
    approval,
  });
  const behavior = (now: Verdict, shown: Verdict, approval: Parameters<typeof at>[0]) =>
    weighAgain(now, shown, at(approval), never).behavior;
  const other = verdict("ask", { links: { "/w/l": "/etc" } });
  assert.equal(behavior(verdict("allow"), verdict("allow"), rules), "allow");
  assert.equal(behavior(verdict("ask"), verdict("allow"), rules), "ask");
  assert.equal(behavior(verdict("deny"), verdict("allow"), rules), "deny");
  assert.equal(behavior(verdict("allow", { links: { "/w/l": "/w/b" } }), verdict("allow"), rules), "allow");
  for (const approval of [person, { by: "hook" } as const]) {
    assert.equal(behavior(verdict("ask"), verdict("ask"), approval), "allow");
    assert.equal(behavior(other, verdict("ask"), approval), "ask");
    assert.equal(behavior(verdict("deny"), verdict("ask"), approval), "deny");
    assert.equal(behavior(verdict("ask", { hard: true, reason: said("protected") }), verdict("ask"), approval), "ask");
    assert.equal(behavior(verdict("ask", { hard: true }), verdict("ask", { hard: true }), approval), "allow");
  }
});
