import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  arrived,
  next,
  onEarlyLine,
  onInterrupt,
  wantedPrompt,
  type Around,
  type Event,
  type State,
} from "../../src/surfaces/plain/typed/state.ts";
import type { OpenRequest } from "../../src/view/session.ts";

const request = (id: string) => ({ request: { id }, inquiries: [] }) as unknown as OpenRequest;
const after = (...events: Event[]): State => events.reduce(next, arrived);
const idle: Around = { phase: "live", run: "idle", unsigned: [] };
const busy: Around = { ...idle, run: "running" };
const asked: Around = { ...busy, unsigned: [request("r1"), request("r2")] };
const joining: Around = { ...asked, phase: "joining" };

suite("what the next line is for", () => {
  const table: [string, Event[], Around, ReturnType<typeof wantedPrompt>][] = [
    ["nothing before the session is known", [], joining, undefined],
    ["a message once it is", [], idle, { for: "message" }],
    ["a message where the turn is paused, or nobody runs it", [], { ...idle, run: "stopped" }, { for: "message" }],
    ["nothing while the agent works", [], busy, undefined],
    [
      "the message prompt goes when the agent begins",
      [{ type: "prompted", prompt: { for: "message" } }],
      busy,
      { for: "nothing" },
    ],
    ["the first request, also while the agent works", [], asked, { for: "request", id: "r1" }],
    ["a request also while the link is lost", [], { ...asked, phase: "lost" }, { for: "request", id: "r1" }],
    ["no second prompt for a request that is shown", [shown("r1")], asked, undefined],
    ["nothing while an answer is on its way", [{ type: "sent" }], asked, undefined],
    [
      "the same request again when the host did not take the answer",
      [{ type: "sent" }, { type: "replied" }],
      asked,
      { for: "request", id: "r1" },
    ],
    [
      "a message after a cancelled turn",
      [
        { type: "interrupted", at: 1 },
        { type: "interrupt-replied", cancelled: true },
      ],
      idle,
      { for: "message" },
    ],
    ["nothing once the person leaves", [{ type: "left", why: "left" }], idle, undefined],
  ];
  for (const [when, events, around, prompt] of table)
    test(when, () => assert.deepEqual(wantedPrompt(after(...events), around), prompt));

  test("what is ending has its last word before the message prompt, and no request waits for it", () => {
    assert.equal(wantedPrompt(after(), idle, { ending: true }), undefined);
    assert.deepEqual(wantedPrompt(after(), asked, { ending: true }), { for: "request", id: "r1" });
  });
});

suite("Ctrl-C, and lines that nobody asked for", () => {
  test("Ctrl-C interrupts what there is, and leaves where there is nothing, or the second time", () => {
    const open = (around: Around) => ({ ...around, requests: around.unsigned });
    assert.equal(onInterrupt(after(), open(idle), 9), "leave");
    assert.equal(onInterrupt(after(), open(busy), 9), "interrupt");
    assert.equal(onInterrupt(after(), open({ ...asked, run: "idle" }), 9), "interrupt");
    assert.equal(onInterrupt(after(), open({ ...idle, phase: "joining" }), 9), "interrupt");
    const twice = after({ type: "interrupted", at: 100 });
    assert.equal(onInterrupt(twice, open(asked), 2_000), "leave");
    assert.equal(onInterrupt(twice, open(asked), 2_200), "interrupt");
  });

  test("that the turn was cancelled here is told once: until the turn has ended, or where nothing was cancelled", () => {
    const cancelling = after({ type: "interrupted", at: 1 });
    assert.equal(cancelling.cancelling, true);
    assert.equal(next(cancelling, { type: "interrupt-replied", cancelled: true }).cancelling, true);
    assert.equal(next(cancelling, { type: "interrupt-replied", cancelled: false }).cancelling, false);
    assert.equal(next(cancelling, { type: "turn-ended" }).cancelling, false);
  });

  test("a line typed while nothing is asked is a message, and never an answer", () => {
    assert.equal(onEarlyLine(after(), joining, "y"), "nothing");
    assert.equal(onEarlyLine(after(), idle, " "), "nothing");
    assert.equal(onEarlyLine(after(), busy, "go on"), "message");
    assert.equal(onEarlyLine(after(), asked, "y"), "too-early");
    assert.equal(onEarlyLine(after({ type: "sent" }), busy, "y"), "too-early");
  });
});

function shown(id: string): Event {
  return { type: "prompted", prompt: { for: "request", id } };
}
