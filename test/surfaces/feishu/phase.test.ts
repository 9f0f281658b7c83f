import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact, FactData, FactType } from "../../../src/protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../../src/protocol/facts/request.ts";
import { nextPhase, type Effect, type Happening, type Phase } from "../../../src/surfaces/feishu/session/phase.ts";
import type { ChatState } from "../../../src/surfaces/feishu/session/state.ts";

const request = { id: "s:t0/0/0/permit0", session: "s", kind: "text", prompt: "?" } as InputRequest;
const resolution = { requestId: request.id, outcome: "declined" } as Resolution;

function fact<T extends FactType>(type: T, data: unknown = {}, seq = 9): Fact<T> {
  return { session: "s", seq, key: "k", type, at: 0, data: data as FactData[T] };
}
const heard = (one: Fact, chat: ChatState = "EXECUTING"): Happening => ({ type: "fact", fact: one, chat });

const catching: Phase = { name: "catching-up", told: 5 };
const resting: Phase = { name: "resting" };
const working: Phase = { name: "working", draw: "none" };
const scheduled: Phase = { name: "working", draw: "scheduled" };
const queued: Phase = { name: "working", draw: "queued" };
const asking: Phase = { name: "asking" };
const left: Phase = { name: "left" };

const begun = fact("turn.begun");
const ended = fact("turn.ended");
const paused = fact("turn.interrupted", { to: "pause" });
const cancelled = fact("turn.interrupted", { to: "cancel" });
const usual: Effect = { do: "schedule", pace: "usual" };
const calm: Effect = { do: "schedule", pace: "calm" };
const stop: Effect = { do: "unschedule" };

const reminded = fact("input.reminded", { requestId: request.id, n: 2 });
const reminder: Effect & { do: "call" } = { do: "call", requestId: request.id, n: 2 };
const escalated = fact("input.escalated", { requestId: request.id, to: "Wang" });
const escalation: Effect & { do: "call" } = { do: "call", requestId: request.id, to: "Wang" };

const table: [string, Phase, Happening, Phase, Effect[]][] = [
  ["what is known already is not told again", catching, heard(fact("turn.ended", {}, 5)), catching, []],
  ["the newest ending is kept for later", catching, heard(ended), { ...catching, unsaid: ended }, []],
  ["a pause is an ending", catching, heard(paused), { ...catching, unsaid: paused }, []],
  [
    "requests of before are shown once everything is known",
    catching,
    heard(fact("input.requested", request)),
    catching,
    [],
  ],
  ["a reminder of before is kept for later", catching, heard(reminded), { ...catching, calls: [reminder] }, []],
  ["further people of before, too", catching, heard(escalated), { ...catching, calls: [escalation] }, []],
  [
    "a new card is a call in itself",
    { ...catching, told: Infinity },
    heard(reminded),
    { ...catching, told: Infinity },
    [],
  ],
  [
    "whatever was due is made up for, below its card",
    { ...catching, calls: [reminder, escalation] },
    { type: "ready", chat: "WAITING_CONFIRM" },
    asking,
    [{ do: "tidy", goesOn: true }, { do: "ask-again" }, reminder, escalation],
  ],
  ["people are called while it waits", asking, heard(escalated), asking, [escalation]],
  ["nothing is drawn before everything is known", catching, { type: "delta", chat: "EXECUTING" }, catching, []],
  [
    "a quiet session rests",
    catching,
    { type: "ready", chat: "IDLE" },
    resting,
    [{ do: "tidy", goesOn: false }, { do: "ask-again" }],
  ],
  [
    "a session that works is drawn after a moment",
    catching,
    { type: "ready", chat: "EXECUTING" },
    scheduled,
    [{ do: "tidy", goesOn: true }, { do: "ask-again" }, calm],
  ],
  [
    "an ending that nobody was told is told now",
    { ...catching, unsaid: ended },
    { type: "ready", chat: "WAITING_CONFIRM" },
    asking,
    [{ do: "tidy", goesOn: true }, { do: "ask-again" }, { do: "conclude", ending: ended }],
  ],
  [
    "a turn begins with a card of its own",
    resting,
    heard(begun),
    scheduled,
    [stop, { do: "new-card" }, { do: "schedule", pace: "at-once" }],
  ],
  ["a message alone changes nothing yet", resting, heard(fact("user.said")), resting, []],
  ["what streams is drawn soon", working, { type: "delta", chat: "EXECUTING" }, scheduled, [usual]],
  ["a picture that is on its way shows it too", scheduled, { type: "delta", chat: "EXECUTING" }, scheduled, []],
  ["one that waits for its turn as well", queued, heard(fact("call.finished")), queued, []],
  ["the time has come to draw", scheduled, { type: "draw-due" }, queued, [{ do: "draw" }]],
  ["a timer that comes too late draws nothing", asking, { type: "draw-due" }, asking, []],
  ["what happens while it is drawn needs another picture", queued, { type: "drawing" }, working, []],
  ["a drawing that comes too late changes nothing", resting, { type: "drawing" }, resting, []],
  [
    "a request stops the drawing and is asked",
    scheduled,
    heard(fact("input.requested", request), "WAITING_INPUT"),
    asking,
    [stop, { do: "ask", request, seq: 9 }],
  ],
  ["while it asks nothing else is drawn", asking, { type: "delta", chat: "WAITING_INPUT" }, asking, []],
  [
    "an answer folds the card, and the work goes on",
    asking,
    heard(fact("input.resolved", resolution)),
    scheduled,
    [{ do: "fold", resolution }, calm],
  ],
  [
    "another request is still open",
    asking,
    heard(fact("input.resolved", resolution), "WAITING_CONFIRM"),
    asking,
    [{ do: "fold", resolution }],
  ],
  [
    "a request that was decided at once disturbs no drawing",
    queued,
    heard(fact("input.resolved", resolution)),
    queued,
    [{ do: "fold", resolution }],
  ],
  ["the end is told", queued, heard(ended, "IDLE"), resting, [stop, { do: "conclude", ending: ended }]],
  ["a pause is told", working, heard(paused, "IDLE"), resting, [stop, { do: "conclude", ending: paused }]],
  ["a cancel is told by the end that follows it", working, heard(cancelled), working, []],
  [
    "a turn that cannot begin is told, and nothing works",
    resting,
    { type: "refused", text: "no model", chat: "IDLE" },
    resting,
    [{ do: "tell-refusal", text: "no model" }],
  ],
  [
    "who ran it is gone: a task of this chat goes on here",
    working,
    { type: "owner-gone", begunHere: true },
    working,
    [{ do: "resume" }],
  ],
  ["one of a terminal is the terminal's", working, { type: "owner-gone", begunHere: false }, working, []],
  [
    "a card that waits for weeks is sent anew",
    asking,
    { type: "look", chat: "WAITING_INPUT", old: true },
    asking,
    [{ do: "ask-again" }],
  ],
  [
    "a session that rests for long is left",
    resting,
    { type: "look", chat: "IDLE", old: true },
    resting,
    [{ do: "leave" }],
  ],
  ["one that rested a little is not", resting, { type: "look", chat: "IDLE", old: false }, resting, []],
  ["the end of the stream is the end", scheduled, { type: "ended" }, left, [stop]],
  ["after it nothing happens", left, heard(begun), left, []],
];

for (const [what, phase, happening, next, effects] of table)
  test(`following a session: ${what}`, () => {
    assert.deepEqual(nextPhase(phase, happening), { phase: next, effects });
  });
