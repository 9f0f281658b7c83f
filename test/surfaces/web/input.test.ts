import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InputRequest, PermissionRequest } from "../../../src/protocol/facts/request.ts";
import { createDrafts } from "../../../src/surfaces/web/page/state/drafts.ts";
import { begin, choicesFor, draftOf, letsRun, step, type Did } from "../../../src/surfaces/web/page/state/input.ts";
import { readKey } from "../../../src/surfaces/web/page/keyboard.ts";
import { fragmentFor, readPlace } from "../../../src/surfaces/web/page/state/place.ts";
import { lockOf, look, unseen } from "../../../src/surfaces/web/page/request/seen.ts";
import { bashRequest, questionRequest } from "./examples.ts";

const id = () => "x";

function play(request: InputRequest, ...acts: Did[]) {
  let state = begin(request);
  const sent: unknown[] = [];
  const problems: string[] = [];
  for (const act of acts) {
    const next = step(request, state, act, { id, alike: [request, bashRequest("b", { id: "r2" })] });
    state = next.state;
    sent.push(...(next.send ?? []));
    if (next.problem) problems.push(next.problem);
  }
  return { state, sent, problems };
}

describe("a permission", () => {
  const request = bashRequest("rm -r dist");
  const requestId = request.id;
  const choose = (choice: (Did & { type: "choose" })["choice"]): Did => ({ type: "choose", choice });

  test("one step allows nothing, the second does; a no takes one", () => {
    assert.deepEqual(play(request, choose("once")).sent, []);
    assert.deepEqual(play(request, choose("once"), { type: "confirm" }).sent, [
      { type: "respond", response: { type: "granted", requestId } },
    ]);
    assert.deepEqual(play(request, choose("once"), { type: "back" }, { type: "confirm" }).sent, []);
    assert.deepEqual(play(request, choose("no")).sent, [{ type: "respond", response: { type: "denied", requestId } }]);
  });

  test("every act that lets something run is known to do so, before its last step too", () => {
    const start = begin(request);
    for (const choice of ["once", "always", "outside", "acceptEdits", "edit", "comment"] as const)
      assert.equal(letsRun(choose(choice), start), true, choice);
    for (const choice of ["no", "reason", "stop", "together", "inquire"] as const)
      assert.equal(letsRun(choose(choice), start), false, choice);
    const confirm: Did = { type: "confirm" };
    for (const stage of ["comment", "edit", "always"] as const) assert.ok(letsRun(confirm, { ...start, stage }), stage);
    for (const armed of ["once", "outside", "acceptEdits", "allowAll"] as const)
      assert.ok(letsRun(confirm, { ...start, stage: "confirm", armed }), armed);
    for (const armed of ["stop", "refuseAll", "no"] as const)
      assert.ok(!letsRun(confirm, { ...start, stage: "confirm", armed }), armed);
    assert.ok(!letsRun(confirm, { ...start, stage: "inquire" }));
    assert.ok(letsRun({ type: "all", answer: "allowAll" }, start));
  });

  test("words go along: a reason, a comment, an edit; empty and unchanged ones do not", () => {
    const write = (field: "reason" | "comment" | "edit", text: string): Did => ({ type: "write", field, text });
    assert.deepEqual(play(request, choose("reason"), write("reason", " not now "), { type: "confirm" }).sent, [
      { type: "respond", response: { type: "denied", requestId, reason: "not now" } },
    ]);
    assert.deepEqual(play(request, choose("comment"), { type: "confirm" }).problems, ["empty"]);
    assert.deepEqual(play(request, choose("edit"), { type: "confirm" }).problems, ["unchanged"]);
    assert.deepEqual(play(request, choose("edit"), write("edit", "rm -r dist/a"), { type: "confirm" }).sent, [
      { type: "respond", response: { type: "granted", requestId, input: { command: "rm -r dist/a" } } },
    ]);
  });

  test("a rule is kept where it is offered, and nowhere else", () => {
    const always = [choose("always")];
    const rule = { rule: "Bash(rm -r dist)", behavior: "allow" };
    assert.deepEqual(play(request, ...always, { type: "place", destination: "local" }, { type: "confirm" }).sent, [
      { type: "respond", response: { type: "granted", requestId, rules: [{ ...rule, destination: "local" }] } },
    ]);
    assert.deepEqual(play(request, ...always, { type: "tick", n: 0 }, { type: "confirm" }).problems, ["no-rule"]);
    const elsewhere = play(request, ...always, { type: "place", destination: "user" }, { type: "confirm" });
    assert.deepEqual([elsewhere.problems, elsewhere.sent], [["place-gone"], []]);
    assert.ok(!choicesFor({ ...request, hard: true }, 1).main.includes("always"));
    assert.deepEqual(
      [request, { ...request, fixed: true } as const, { ...request, masked: 1 }].map((one) =>
        choicesFor(one, 1).more.includes("edit"),
      ),
      [true, false, false],
    );
  });

  test("requests that are alike are answered together, after a second step", () => {
    const all: Did = { type: "all", answer: "allowAll" };
    assert.deepEqual(play(request, choose("together"), all).sent, []);
    assert.deepEqual(play(request, choose("together"), all, { type: "confirm" }).sent, [
      { type: "respondAll", requestIds: ["r1", "r2"], answer: { type: "granted" } },
    ]);
    assert.equal(play(request, choose("together"), all, { type: "back" }).state.stage, "together");
  });

  test("an inquiry leaves the request as it is", () => {
    const asked = play(
      request,
      choose("inquire"),
      { type: "write", field: "inquiry", text: "why?" },
      { type: "confirm" },
    );
    assert.deepEqual(asked.sent, [{ type: "inquire", requestId, text: "why?", id: "x" }]);
    assert.equal(asked.state.stage, "choices");
  });

  test("a plan is approved into a mode; accepting edits of an ordinary edit changes the session's mode after it", () => {
    const plan: PermissionRequest = { ...request, tool: "ExitPlanMode", input: { plan: "# Do it" } };
    const accept = [choose("acceptEdits"), { type: "confirm" } as const];
    assert.deepEqual(play(plan, ...accept).sent, [
      { type: "respond", response: { type: "granted", requestId, mode: "acceptEdits" } },
    ]);
    assert.deepEqual(play(request, ...accept).sent, [
      { type: "respond", response: { type: "granted", requestId } },
      { type: "chooseMode", session: "s1", mode: "acceptEdits" },
    ]);
  });
});

describe("questions", () => {
  const request = questionRequest();
  const [one, several] = ["Which database should the service use?", "Which checks should run before a merge?"];

  test("one answer takes the place of the other; several come and go; all of them are sent", () => {
    const { sent } = play(
      request,
      { type: "pick", question: one, label: "SQLite" },
      { type: "pick", question: one, label: "Postgres" },
      { type: "pick", question: several, label: "Lint" },
      { type: "pick", question: several, label: "Types" },
      { type: "pick", question: several, label: "Tests" },
      { type: "pick", question: several, label: "Tests" },
      { type: "submit" },
    );
    const answers = { [one]: { selected: ["Postgres"] }, [several]: { selected: ["Types", "Lint"] } };
    assert.deepEqual(sent, [{ type: "respond", response: { type: "answers", requestId: "q1", answers } }]);
  });

  test("own words replace a single choice; some answers may be sent alone; none may not; a foreign label is no answer", () => {
    const own = play(
      request,
      { type: "pick", question: one, label: "SQLite" },
      { type: "other", question: one, text: "DuckDB" },
      { type: "pick", question: one, label: "nothing of the kind" },
      { type: "submit" },
    );
    const answers = { [one]: { selected: [], other: "DuckDB" } };
    assert.deepEqual(own.sent, [
      { type: "respond", response: { type: "answers", requestId: "q1", answers, partial: true } },
    ]);
    assert.deepEqual(play(request, { type: "submit" }).problems, ["no-answer"]);
    assert.deepEqual(play(request, { type: "decline" }).sent, [
      { type: "respond", response: { type: "denied", requestId: "q1" } },
    ]);
  });

  test("a draft from elsewhere is taken up as far as it fits", () => {
    const draft = {
      answers: { [one]: { selected: ["SQLite", "Postgres"] }, gone: { selected: ["x"] } },
      remark: "soon",
    };
    const state = begin(request, draft);
    assert.deepEqual(draftOf(request, state), { answers: { [one]: { selected: ["SQLite"] } }, remark: "soon" });
  });
});

describe("attention", () => {
  const at = (place: string, end = true, visible = true) => ({ end, visible, place });
  const may = { away: false, approver: true };

  test("the end counts when it was on a visible page for 300 ms without a break", () => {
    let seen = look(unseen(0), at("a"), 0);
    seen = look(seen, at("a"), 299);
    assert.equal(seen.seen, false);
    seen = look(seen, at("a", true, false), 350);
    seen = look(seen, at("a"), 400);
    assert.equal(look(seen, at("a"), 650).seen, false);
    assert.equal(look(seen, at("a"), 700).seen, true);
  });

  test("nothing is taken 500 ms after it appeared or moved, nor while away, nor from somebody who may only look", () => {
    const seen = { ...look(unseen(0), at("a"), 0), seen: true };
    for (const now of [0, 100, 400]) assert.equal(lockOf(seen, { ...may, allows: true, now }), "moving");
    assert.equal(lockOf(seen, { ...may, allows: true, now: 500 }), undefined);
    const moved = look(seen, at("b"), 1_000);
    assert.equal(lockOf(moved, { ...may, allows: false, now: 1_400 }), "moving");
    assert.equal(lockOf(moved, { ...may, allows: false, now: 1_500 }), undefined);
    assert.equal(lockOf({ ...moved, seen: false }, { ...may, allows: true, now: 9_000 }), "unseen");
    assert.equal(lockOf(moved, { ...may, away: true, allows: false, now: 9_000 }), "away");
    assert.equal(lockOf(moved, { ...may, approver: false, allows: true, now: 9_000 }), "not-approver");
  });
});

test("keys mean nothing when they repeat, come with a modifier, or are written into a text", () => {
  const plain = { repeat: false, modified: false, writing: false };
  assert.deepEqual(readKey({ key: "y", ...plain }), { type: "choose", choice: "once" });
  for (const more of [{ repeat: true }, { modified: true }, { writing: true }])
    for (const key of ["y", "Enter", "n", "j"]) assert.equal(readKey({ key, ...plain, ...more }), undefined);
  assert.deepEqual(readKey({ key: "Escape", ...plain, writing: true }), { type: "go", to: "back" });
  assert.equal(readKey({ key: "constructor", ...plain }), undefined);
});

test("an address leads to a place and back, and a broken one to the inbox", () => {
  for (const place of [
    { page: "inbox" },
    { page: "stats" },
    { page: "request", id: "k7/t0/3/1/permit0 好" },
    { page: "session", id: "k7" },
  ] as const)
    assert.deepEqual(readPlace(fragmentFor(place)), place);
  for (const broken of ["", "#/r/", "#/r/%E0%A4%A", "#/nowhere", "#k=abc"])
    assert.deepEqual(readPlace(broken), { page: "inbox" });
});

test("drafts are saved after a rest of 2 s and on leaving, at most one in 3 s, and after a gap", () => {
  let now = 0;
  let timers: { at: number; act(): void }[] = [];
  const saved: [number, string, unknown][] = [];
  const shelf = new Map<string, string>();
  let away = false;
  const pass = (ms: number) => {
    for (const end = now + ms; ;) {
      const [next] = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (!next) return void (now = end);
      timers = timers.filter((one) => one !== next);
      now = next.at;
      next.act();
    }
  };
  const drafts = createDrafts({
    save: (request, draft) => saved.push([now, request, draft]),
    away: () => away,
    shelf: {
      get: (name) => shelf.get(name),
      put: (name, value) => void (value === undefined ? shelf.delete(name) : shelf.set(name, value)),
      names: () => [...shelf.keys()],
    },
    timing: {
      now: () => now,
      later(ms, act) {
        const timer = { at: now + ms, act };
        timers.push(timer);
        return () => (timers = timers.filter((one) => one !== timer));
      },
    },
  });
  drafts.changed("r", { reason: "a" });
  pass(1_000);
  drafts.changed("r", { reason: "ab" });
  pass(2_000);
  assert.deepEqual(saved, [[3_000, "r", { reason: "ab" }]]);
  drafts.changed("r", { reason: "abc" });
  drafts.left("r");
  pass(2_999);
  assert.equal(saved.length, 1);
  pass(1);
  assert.deepEqual(saved[1], [6_000, "r", { reason: "abc" }]);
  assert.ok(drafts.isOwn("r", { reason: "abc" }));

  away = true;
  drafts.changed("r", { reason: "away" });
  drafts.changed("gone", { reason: "nobody asks any more" });
  pass(10_000);
  assert.deepEqual([saved.length, drafts.kept("r")], [2, { reason: "away" }]);
  away = false;
  drafts.back(new Set(["r"]));
  assert.deepEqual(saved.slice(2), [[16_000, "r", { reason: "away" }]]);
  assert.deepEqual([...shelf], [], "nothing stays in the browser");
});
