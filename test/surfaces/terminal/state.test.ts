import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  isSecond,
  isSwallowed,
  arrived,
  next,
  stopIn,
  type Event,
  type State,
} from "../../../src/surfaces/terminal/input.ts";

const after = (...events: Event[]): State => events.reduce(next, arrived);
const ctrlC = (stop: (Event & { type: "stop" })["stop"], at = 100): Event => ({
  ...{ type: "stop", key: "interrupt" },
  ...{ stop, at },
});

suite("the person at the terminal", () => {
  test("the hint says what the last key led to, until the next key or the end of it", () => {
    const table: [Event[], State["hint"]][] = [
      [[], "none"],
      [[ctrlC("ask")], "again"],
      [[ctrlC("interrupt")], "interrupting"],
      [[ctrlC("cancel")], "cancelling"],
      [[{ type: "stop", key: "escape", stop: "waits", at: 1 }], "waits"],
      [[ctrlC("interrupt"), { type: "stopped" }], "none"],
      [[ctrlC("ask"), { type: "key" }], "none"],
      [[ctrlC("clear")], "none"],
      [[ctrlC("shell")], "interrupting"],
      [[ctrlC("cancel"), { type: "key" }], "cancelling"],
      [[ctrlC("cancel"), { type: "stopped" }, ctrlC("ask"), { type: "key" }], "none"],
    ];
    for (const [events, hint] of table) assert.equal(after(...events).hint, hint);
  });

  test("a second Ctrl-C counts for two seconds; one that cleared the editor, and Esc, are no first one", () => {
    assert.equal(isSecond(after(ctrlC("ask", 100)), 2_000), true);
    assert.equal(isSecond(after(ctrlC("ask", 100)), 2_100), false);
    assert.equal(isSecond(after(ctrlC("clear", 100)), 101), false);
    assert.equal(isSecond(after({ ...ctrlC("interrupt"), key: "escape" } as Event), 101), false);
  });

  test("any other key between two Ctrl-C makes the second a first one", () => {
    const typed = after(ctrlC("ask", 100), { type: "key" });
    assert.equal(isSecond(typed, 101), false);
    assert.equal(isSecond(next(typed, ctrlC("ask", 200)), 201), true);
    // The request that the person cancelled is gone by their own hand: what they type meanwhile counts.
    const cancelled = after(ctrlC("cancel", 900), { type: "key" }, { type: "taken", at: 1_000 });
    assert.equal(isSwallowed(cancelled, 1_001), false);
  });

  test("keys on their way to a panel that was answered elsewhere are swallowed until there is silence", () => {
    const taken = after({ type: "taken", at: 1_000 });
    assert.equal(isSwallowed(taken, 1_200), true);
    assert.equal(isSwallowed(next(taken, { type: "swallowed", at: 1_200 }), 1_450), true);
    assert.equal(isSwallowed(taken, 1_300), false);
    assert.equal(isSwallowed(after(ctrlC("interrupt", 900), { type: "taken", at: 1_000 }), 1_001), false);
  });

  test("before the session is there Ctrl-C leaves, and leaving is for good", () => {
    const nothing = { working: true, shell: true, waiting: true, queued: true, typed: true, again: false };
    assert.equal(stopIn("joining", "interrupt", nothing), "leave");
    assert.equal(stopIn("joining", "escape", nothing), "nothing");
    assert.equal(stopIn("live", "interrupt", nothing), "clear");
    const left = after({ type: "left", end: { why: "left" } });
    assert.deepEqual([left.phase, left.end.why], ["leaving", "left"]);
  });
});
