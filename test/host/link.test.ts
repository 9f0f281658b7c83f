// The table behind following another process: whom to call, when to tell that it cannot be reached, and when that it has stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isCertain,
  mayBeDying,
  nextLink,
  seenOver,
  unlinked,
  type Connection,
  type Link,
  type LinkEvent,
} from "../../src/host/socket/following.ts";

const none = (misses = 0): Connection => ({ name: "none", misses });
const calling = (to: string, misses = 0): Connection => ({ name: "calling", to, misses });
const open = (to: string): Connection => ({ name: "open", to });
const owner = (name: string | undefined): LinkEvent => ({ type: "looked", here: false, owner: name });
const here: LinkEvent = { type: "looked", here: true, owner: undefined };
const answered: LinkEvent = { type: "answered" };
const hungUp: LinkEvent = { type: "hungUp" };
const after = (...events: LinkEvent[]) => events.reduce(nextLink, unlinked);

test("the owner is called, kept while it has let go, left for another one, and not needed by whoever runs the session", () => {
  const rows: [events: LinkEvent[], connection: Connection][] = [
    [[], none()],
    [[owner(undefined)], none()],
    [[owner("a")], calling("a")],
    [[owner("a"), owner("a")], calling("a")],
    [[owner("a"), answered], open("a")],
    [[owner("a"), answered, owner("a")], open("a")],
    [[owner("a"), answered, owner(undefined)], open("a")],
    [[owner("a"), answered, owner(undefined), owner("a")], open("a")],
    [[owner("a"), answered, owner("b")], calling("b")],
    [[owner("a"), answered, here], none()],
    [[owner("a"), hungUp], none(1)],
    [[owner("a"), hungUp, owner("a")], calling("a", 1)],
    [[owner("a"), hungUp, owner("a"), hungUp], none(2)],
    [[owner("a"), hungUp, owner("a"), answered, hungUp], none(1)],
    [[owner("a"), hungUp, owner(undefined)], none(0)],
    [[answered], none()],
    [[hungUp], none()],
  ];
  for (const [events, connection] of rows)
    assert.deepEqual(after(...events).connection, connection, JSON.stringify(events));
});

test("nothing is told while the owner is called or may be dying; after three misses it cannot be reached", () => {
  const at = (connection: Connection): Link => ({ ...unlinked, owner: "a", followed: true, connection });
  const rows: [Connection, certain: boolean, dying: boolean, live: boolean][] = [
    [calling("a"), false, false, false],
    [open("a"), true, false, true],
    [none(1), false, true, false],
    [none(2), false, true, false],
    [none(3), true, false, false],
    [calling("a", 3), false, false, false],
    [none(4), true, false, false],
  ];
  for (const [connection, certain, dying, live] of rows) {
    const link = at(connection);
    const told = [isCertain(link), mayBeDying(link), seenOver(link, () => true)];
    assert.deepEqual(told, [certain, dying, { live, stopped: false }], JSON.stringify(connection));
  }
});

test("stopped: it was followed, nobody runs it, a turn is open, and no person has paused it", () => {
  const gone = after(owner("a"), answered, hungUp, owner(undefined));
  const isOpen = (turn: boolean) => () => turn;
  assert.deepEqual(seenOver(gone, isOpen(true)), { live: true, stopped: true });
  assert.deepEqual(seenOver(gone, isOpen(false)), { live: true, stopped: false });
  assert.deepEqual(seenOver(after(owner(undefined)), isOpen(true)), { live: true, stopped: false }, "never followed");
  const paused = nextLink(gone, { type: "interrupted" });
  assert.equal(seenOver(paused, isOpen(true)).stopped, false);
  assert.equal(seenOver(nextLink(paused, { type: "wentOn" }), isOpen(true)).stopped, true);
  assert.equal(seenOver(nextLink(gone, here), isOpen(true)).stopped, false, "it runs here now");
});
