import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  isSecond,
  isSwallowed,
  joining,
  next,
  stopIn,
  type Event,
  type State,
} from "../../../src/surfaces/terminal/state.ts";

const after = (...events: Event[]): State => events.reduce(next, joining);
const joined: Event = { type: "joined" };
const ctrlC = (stop: (Event & { type: "stop" })["stop"], at = 100): Event => ({
  ...{ type: "stop", key: "interrupt" },
  ...{ stop, at },
});

suite("the person at the terminal", () => {
  test("the hint says what the last key led to, until the next key or the end of it", () => {
    const table: [Event[], State["hint"]][] = [
      [[], "none"],
      [[joined, ctrlC("ask")], "again"],
      [[joined, ctrlC("interrupt")], "interrupting"],
      [[joined, ctrlC("cancel")], "cancelling"],
      [[joined, { type: "stop", key: "escape", stop: "waits", at: 1 }], "waits"],
      [[joined, ctrlC("interrupt"), { type: "stopped" }], "none"],
      [[joined, ctrlC("ask"), { type: "key" }], "none"],
      [[joined, ctrlC("clear")], "none"],
      [[joined, ctrlC("shell")], "interrupting"],
      [[joined, ctrlC("cancel"), { type: "key" }], "cancelling"],
      [[joined, ctrlC("cancel"), { type: "stopped" }, ctrlC("ask"), { type: "key" }], "none"],
    ];
    for (const [events, hint] of table) assert.equal(after(...events).hint, hint);
  });

  test("a second Ctrl-C counts for two seconds; one that cleared the editor, and Esc, are no first one", () => {
    assert.equal(isSecond(after(joined, ctrlC("ask", 100)), 2_000), true);
    assert.equal(isSecond(after(joined, ctrlC("ask", 100)), 2_100), false);
    assert.equal(isSecond(after(joined, ctrlC("clear", 100)), 101), false);
    assert.equal(isSecond(after(joined, { ...ctrlC("interrupt"), key: "escape" } as Event), 101), false);
  });

  test("any other key between two Ctrl-C makes the second a first one", () => {
    const typed = after(joined, ctrlC("ask", 100), { type: "key" });
    assert.equal(isSecond(typed, 101), false);
    assert.equal(isSecond(next(typed, ctrlC("ask", 200)), 201), true);
    // The request that the person cancelled is gone by their own hand: what they type meanwhile counts.
    const cancelled = after(joined, ctrlC("cancel", 900), { type: "key" }, { type: "taken", at: 1_000 });
    assert.equal(isSwallowed(cancelled, 1_001), false);
  });

  test("keys on their way to a panel that was answered elsewhere are swallowed until there is silence", () => {
    const taken = after(joined, { type: "taken", at: 1_000 });
    assert.equal(isSwallowed(taken, 1_200), true);
    assert.equal(isSwallowed(next(taken, { type: "swallowed", at: 1_200 }), 1_450), true);
    assert.equal(isSwallowed(taken, 1_300), false);
    assert.equal(isSwallowed(after(joined, ctrlC("interrupt", 900), { type: "taken", at: 1_000 }), 1_001), false);
  });

  test("before the session is there Ctrl-C leaves, and leaving is for good", () => {
    const nothing = { working: true, shell: true, waiting: true, typed: true, again: false };
    assert.equal(stopIn(joining, "interrupt", nothing), "leave");
    assert.equal(stopIn(joining, "escape", nothing), "nothing");
    assert.equal(stopIn(after(joined), "interrupt", nothing), "clear");
    const left = after({ type: "left", end: { why: "left" } }, joined);
    assert.deepEqual([left.phase, left.end.why], ["leaving", "left"]);
  });
});
