import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import {
  joining,
  next,
  onEarlyLine,
  onInterrupt,
  wantedPrompt,
  type Event,
  type State,
} from "../../src/surfaces/plain/typed/state.ts";

const request = (id: string) => ({ id }) as InputRequest;
const after = (...events: Event[]): State => events.reduce(next, joining);
const joined: Event = { type: "joined", requests: [], signed: [] };
const asked: Event = { type: "requested", request: request("r1") };
const idle = { busy: false };

suite("what the next line is for", () => {
  const table: [string, Event[], { busy: boolean }, ReturnType<typeof wantedPrompt>][] = [
    ["nothing before the session is known", [], idle, undefined],
    ["a message once it is", [joined], idle, { for: "message" }],
    ["nothing while the agent works", [joined], { busy: true }, undefined],
    [
      "the message prompt goes when the agent begins",
      [joined, { type: "prompted", prompt: { for: "message" } }],
      { busy: true },
      { for: "nothing" },
    ],
    ["a request, also while the agent works", [joined, asked], { busy: true }, { for: "request", id: "r1" }],
    [
      "the first of two requests",
      [joined, asked, { type: "requested", request: request("r2") }],
      idle,
      { for: "request", id: "r1" },
    ],
    [
      "the next one when the first is answered elsewhere",
      [joined, asked, { type: "requested", request: request("r2") }, { type: "resolved", id: "r1" }],
      idle,
      { for: "request", id: "r2" },
    ],
    ["no second prompt for a request that is shown", [joined, asked, shown("r1")], idle, undefined],
    ["nothing while an answer is on its way", [joined, asked, { type: "sent" }], idle, undefined],
    [
      "the same request again when the host did not take the answer",
      [joined, asked, { type: "sent" }, { type: "replied" }],
      idle,
      { for: "request", id: "r1" },
    ],
    [
      "a message when the host took it",
      [joined, asked, { type: "sent" }, { type: "replied", ended: "r1" }],
      idle,
      { for: "message" },
    ],
    [
      "a message after a cancelled turn",
      [joined, asked, { type: "interrupted", at: 1 }, { type: "interrupt-replied", cancelled: true }],
      idle,
      { for: "message" },
    ],
    ["nothing once the person leaves", [joined, { type: "left", why: "left" }], idle, undefined],
  ];
  for (const [when, events, given, prompt] of table)
    test(when, () => assert.deepEqual(wantedPrompt(after(...events), given), prompt));
});

suite("Ctrl-C, and lines that nobody asked for", () => {
  test("Ctrl-C interrupts what there is, and leaves where there is nothing, or the second time", () => {
    assert.equal(onInterrupt(after(joined), { now: 9, working: false }), "leave");
    assert.equal(onInterrupt(after(joined), { now: 9, working: true }), "interrupt");
    assert.equal(onInterrupt(after(joined, asked), { now: 9, working: false }), "interrupt");
    assert.equal(onInterrupt(after(), { now: 9, working: false }), "interrupt");
    const twice = after(joined, asked, { type: "interrupted", at: 100 });
    assert.equal(onInterrupt(twice, { now: 2_000, working: true }), "leave");
    assert.equal(onInterrupt(twice, { now: 2_200, working: true }), "interrupt");
  });

  test("that the turn was cancelled here is told once: until the turn has ended, or where nothing was cancelled", () => {
    const cancelling = after(joined, { type: "interrupted", at: 1 });
    assert.equal(cancelling.cancelling, true);
    assert.equal(next(cancelling, { type: "interrupt-replied", cancelled: true }).cancelling, true);
    assert.equal(next(cancelling, { type: "interrupt-replied", cancelled: false }).cancelling, false);
    assert.equal(next(cancelling, { type: "turn-ended" }).cancelling, false);
  });

  test("a line typed while nothing is asked is a message, and never an answer", () => {
    assert.equal(onEarlyLine(after(), "y"), "nothing");
    assert.equal(onEarlyLine(after(joined), " "), "nothing");
    assert.equal(onEarlyLine(after(joined), "go on"), "message");
    assert.equal(onEarlyLine(after(joined, asked), "y"), "too-early");
    assert.equal(onEarlyLine(after(joined, { type: "sent" }), "y"), "too-early");
  });
});

function shown(id: string): Event {
  return { type: "prompted", prompt: { for: "request", id } };
}
