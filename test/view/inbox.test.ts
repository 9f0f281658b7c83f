import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InboxEvent } from "../../src/protocol/host/host.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { emptyInbox, foldInbox, openIn, vanished } from "../../src/view/request/inbox.ts";
import { bashRequest, fact, questionRequest, session, snapshot } from "../surfaces/web/examples.ts";

const tell = (one: Fact): InboxEvent => ({ type: "fact", fact: one });

test("facts change what waits: a request comes, is asked about, approved in part, half answered, and ends", () => {
  const first = bashRequest("make", { id: "r1" });
  const second = questionRequest();
  let inbox = foldInbox(emptyInbox, snapshot([first], [session("s1", "one")]));
  for (const one of [
    fact("s2", "open", "session.opened", { cwd: "/two", version: "1" }),
    fact("s2", "said/1", "user.said", { text: "two", by: "you", surface: "tui" }),
    fact("s2", "t0/0/0/permit0", "input.requested", second),
    fact("s2", "t0/0/0/permit0", "input.requested", second),
    fact("s1", "draft/1", "draft.saved", { requestId: "r1", draft: { reason: "no" }, by: "lin", surface: "feishu" }, 5),
    fact("s1", "approved/1", "input.approved", { requestId: "r1", digest: "d", by: "lin", surface: "feishu", at: 6 }),
    fact("s1", "i", "inquiry.made", { requestId: "r1", inquiry: "i", text: "why?", by: "lin", surface: "feishu" }),
  ])
    inbox = foldInbox(inbox, tell(one));
  assert.deepEqual(
    openIn(inbox).map(({ request }) => request.id),
    ["r1", "q1"],
  );
  const { draftBy, approvals, inquiries } = inbox.requests.get("r1") ?? {};
  assert.deepEqual(draftBy, { by: "lin", surface: "feishu", at: 5 });
  assert.deepEqual([approvals?.length, inquiries?.length], [1, 1]);
  assert.deepEqual(
    [inbox.sessions.get("s2")?.title, inbox.sessions.get("s2")?.state, inbox.sessions.get("s2")?.pending],
    ["two", "waiting", 1],
  );

  const end = {
    requestId: "q1",
    outcome: "cancelled",
    reason: reason("said", { text: "" }),
    by: "lin",
    surface: "tui",
    at: 7,
  } as const;
  for (let n = 0; n < 2; n++)
    inbox = foldInbox(inbox, tell(fact("s2", "t0/0/0/permit0.resolved", "input.resolved", end)));
  assert.deepEqual(
    openIn(inbox).map(({ request }) => request.id),
    ["r1"],
  );
  assert.equal(inbox.sessions.get("s2")?.state, "running");
});

test("a session whose turn is interrupted for a message waits on while a request of it is open", () => {
  const message = { key: "said/1", text: "hey" };
  const now = fact("s1", "now/1", "turn.interrupted", { to: "now", message, by: "lin", surface: "tui" });
  const waits = snapshot([questionRequest()], [{ ...session("s1", "one"), state: "waiting", pending: 1 }]);
  const told = [waits, snapshot([], [{ ...session("s1", "one"), pending: 0 }])].map((event) =>
    foldInbox(foldInbox(emptyInbox, event), tell(now)),
  );
  assert.deepEqual(
    told.map(({ sessions }) => sessions.get("s1")?.state),
    ["waiting", "running"],
  );
});

test("a snapshot says all that is open: what is missing in it has ended, unless it is not all", () => {
  const known = foldInbox(emptyInbox, snapshot([bashRequest("a", { id: "a" }), bashRequest("b", { id: "b" })], []));
  const next = snapshot([bashRequest("b", { id: "b" })], []);
  assert.deepEqual(
    vanished(known, next).map(({ request }) => request.id),
    ["a"],
  );
  assert.deepEqual(vanished(known, { ...next, more: 3 }), []);
  assert.deepEqual([...foldInbox(known, next).requests.keys()], ["b"]);
});
