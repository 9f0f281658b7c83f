import type { InputRequest, Question } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { readForm, readText } from "../../../src/surfaces/feishu/input.ts";
import { mayAnswer, mayApprove, mayStop, mayTalk } from "../../../src/surfaces/feishu/bot/people.ts";
import { readCode, readDecision, route, stateOf } from "../../../src/surfaces/feishu/session/state.ts";
import { speechesFrom } from "../../../src/surfaces/feishu/cards/speech.ts";

const [english] = speechesFrom("en");
const { t } = english;
const frame = { session: "s", at: 0, agent: [], digest: "", why: said("") } as const;
const permission: InputRequest = {
  ...{ ...frame, id: "s/p", source: "approval", kind: "permission", tool: "Bash", input: { command: "ls" } },
  ...{ suggestions: [], hard: false },
};
const text: InputRequest = { ...frame, id: "s/t", source: "tool", kind: "text", prompt: "Name?" };
const question = (over: Partial<Question> = {}): Question => ({
  question: "Which?",
  header: "h",
  options: ["Red", "Blue", "Green"].map((label) => ({ label, description: "" })),
  multiSelect: false,
  ...over,
});
const asks = (...questions: Question[]): InputRequest & { kind: "question" } => ({
  ...{ ...frame, id: "s/q", source: "tool", kind: "question", questions },
});

test("the state follows from the facts and the first request that waits", () => {
  assert.equal(stateOf({ working: false, open: [] }), "IDLE");
  assert.equal(stateOf({ working: true, open: [] }), "EXECUTING");
  assert.equal(stateOf({ working: true, open: [text, permission] }), "WAITING_INPUT");
  assert.equal(stateOf({ working: true, open: [permission, text] }), "WAITING_CONFIRM");
  assert.equal(stateOf({ working: true, open: [asks(question())] }), "WAITING_CONFIRM");
  assert.equal(stateOf({ working: true, open: [asks(question({ options: [] }))] }), "WAITING_INPUT");
});

test("a message is a task, a note, an answer or a decision, by the state and the card that is quoted", () => {
  const to = (...args: Parameters<typeof route>) => {
    const found = route(...args);
    return found.to === "hint" ? found.hint : found.to;
  };
  assert.equal(to("IDLE", { text: "go" }, []), "task");
  assert.equal(to("EXECUTING", { text: "and this" }, []), "queue");
  assert.equal(to("WAITING_INPUT", { text: "a.ts" }, [text]), "answer");
  assert.equal(to("WAITING_INPUT", { text: "a.ts" }, [text, asks(question())]), "replyToCard");
  assert.equal(to("WAITING_INPUT", { text: "a.ts", meant: text }, [text, asks(question())]), "answer");
  assert.equal(to("WAITING_CONFIRM", { text: "2" }, [asks(question())]), "answer");
  assert.equal(to("WAITING_CONFIRM", { text: "yes" }, [permission]), "useCard");
  assert.equal(to("WAITING_CONFIRM", { text: "yes", meant: permission }, [permission]), "useCard");
  // A word without a card might allow what was not yet there when it was typed.
  assert.equal(to("WAITING_CONFIRM", { text: "/allow" }, [permission]), "quoteCard");
  assert.equal(to("WAITING_CONFIRM", { text: "/deny facade is wrong" }, [permission]), "decide");
  assert.equal(to("WAITING_CONFIRM", { text: "/deny" }, [permission, { ...permission, id: "s/other" }]), "quoteCard");
  assert.equal(to("WAITING_CONFIRM", { text: "/allow", meant: permission }, [permission]), "decide");
  assert.equal(to("WAITING_CONFIRM", { text: "/allow", meant: "closed" }, [permission]), "notThis");
  assert.equal(to("WAITING_CONFIRM", { text: "a", meant: "closed" }, [permission]), "notThis");
  assert.equal(to("WAITING_INPUT", { text: "/allow", meant: text }, [text]), "quoteCard");
  // Quoting an old card with something new to do is a task.
  assert.equal(to("IDLE", { text: "again, please", meant: "closed" }, []), "task");
  assert.equal(to("IDLE", { text: "/deny", meant: "closed" }, []), "notThis");
});

test("decisions and codes are read to the letter", () => {
  assert.deepEqual(readDecision("/allow"), { allow: "once" });
  assert.deepEqual(readDecision(" /Allow Always "), { allow: "always" });
  assert.deepEqual(readDecision("/allow 始终"), { allow: "always" });
  assert.deepEqual(readDecision("/allow Outside"), { allow: "outside" });
  assert.deepEqual(readDecision("/allow 沙箱外"), { allow: "outside" });
  assert.deepEqual(readDecision("/deny 用 git rm\n而不是 rm"), { deny: "用 git rm\n而不是 rm" });
  for (const none of ["allow", "/allowed", "/allow it", "please /allow", "/denyx"])
    assert.equal(readDecision(none), undefined);
  assert.deepEqual(readCode("/allow #482913 always"), { code: "482913", rest: "/allow always", sure: true });
  assert.deepEqual(readCode("/allow ＃４８２９１３"), { code: "482913", rest: "/allow", sure: true });
  assert.deepEqual(readCode("/answer 482913 2"), { code: "482913", rest: "2", sure: true });
  assert.deepEqual(readCode("/answer #482913\na\nb"), { code: "482913", rest: "a\nb", sure: true });
  // A reason may begin with a number: it is a code only if a card has it.
  assert.deepEqual(readCode("/deny 404404 is the wrong port"), {
    code: "404404",
    rest: "/deny is the wrong port",
    sure: false,
  });
  for (const none of ["/allow always", "/deny facade is wrong", "/deny 4829134", "/deny 48291"])
    assert.equal(readCode(none), undefined);
});

test("answers in words: numbers, labels, own words, one line for each question, from any keyboard", () => {
  const read = (request: InputRequest, typed: string) => {
    const found = readText(request, typed);
    return "problem" in found
      ? found.problem(english)
      : found.response.type === "answers"
        ? found.response.answers
        : found.response;
  };
  assert.deepEqual(read(asks(question()), "２"), { "Which?": { selected: ["Blue"] } });
  assert.deepEqual(read(asks(question()), "blue"), { "Which?": { selected: ["Blue"] } });
  assert.deepEqual(read(asks(question()), "a dark one"), { "Which?": { selected: [], other: "a dark one" } });
  assert.deepEqual(read(asks(question()), "1 and more"), { "Which?": { selected: [], other: "1 and more" } });
  assert.equal(read(asks(question()), "7"), "No option 7; choose 1 to 3.");
  assert.equal(read(asks(question()), "1,2"), t.oneOnly);
  const several = question({ multiSelect: true });
  assert.deepEqual(read(asks(several), "1，3 还有文档"), {
    "Which?": { selected: ["Red", "Green"], other: "还有文档" },
  });
  const two = asks(question(), question({ question: "And?", multiSelect: true }));
  assert.deepEqual(read(two, "1: 2\n2: 1,2"), {
    "Which?": { selected: ["Blue"] },
    "And?": { selected: ["Red", "Blue"] },
  });
  assert.deepEqual(read(two, "2\n1"), { "Which?": { selected: ["Blue"] }, "And?": { selected: ["Red"] } });
  assert.equal(read(two, "2"), t.needLines(2));
  assert.equal(read({ ...asks(question()), source: "recovery" }, "whatever"), t.onlyOptions);
  assert.equal(read({ ...asks(question({ multiSelect: true })), source: "recovery" }, "1 and so"), t.onlyOptions);
  assert.deepEqual(read(text, " 文件.js "), { type: "text", requestId: "s/t", text: "文件.js" });
  assert.equal(read(text, "  "), t.toast.empty);
  // Nothing is offered, so a number is a text like any other.
  assert.deepEqual(read(asks(question({ options: [] })), "42"), { "Which?": { selected: [], other: "42" } });
  const odd = asks(question({ question: "__proto__" }));
  assert.deepEqual(Object.entries(read(odd, "2")), [["__proto__", { selected: ["Blue"] }]]);
  assert.deepEqual(JSON.parse(JSON.stringify(readForm(odd, { q0: "o1" }))).response.answers, read(odd, "2"));
});

test("a form: missing, empty and strange fields, a choice and other words", () => {
  const two = asks(question(), question({ question: "And?", multiSelect: true }));
  const read = (form: Record<string, unknown>) => {
    const found = readForm(two, form);
    return "problem" in found ? { problem: found.problem(english) } : found;
  };
  assert.deepEqual(read({ q0: "o1", q0_other: "", q1: ["o0", "o2"], q1_other: "also docs", remark: "soon" }), {
    response: {
      type: "answers",
      requestId: "s/q",
      answers: { "Which?": { selected: ["Blue"] }, "And?": { selected: ["Red", "Green"], other: "also docs" } },
      remark: "soon",
    },
  });
  assert.deepEqual(read({ q0_other: "mine", q1: [], q1_other: "x" }), {
    response: {
      type: "answers",
      requestId: "s/q",
      answers: { "Which?": { selected: [], other: "mine" }, "And?": { selected: [], other: "x" } },
    },
  });
  assert.deepEqual(read({}), { problem: t.toast.fill(1) });
  assert.deepEqual(read({ q0: "o9", q1: ["o0"] }), { problem: t.toast.fill(1) });
  assert.deepEqual(read({ q0: "other", q0_other: " ", q1: ["o0"] }), { problem: t.toast.fill(1) });
  assert.deepEqual(read({ q0: "o1", q1: { toString: "o0" } }), { problem: t.toast.fill(2) });
  assert.deepEqual(read({ q0: "o1", q0_other: "x", q1: ["o0"] }), { problem: t.oneOnly });
});

test("talking is not approving, and nobody without an id or from elsewhere is anybody", () => {
  const people = { talk: ["ou_mei"], approve: ["ou_lin"], tenant: "here" };
  const [lin, mei] = ["ou_lin", "ou_mei"].map((openId) => ({ openId, tenantKey: "here" }));
  if (!lin || !mei) throw new Error("both are there");
  assert.deepEqual([mayTalk(people, mei), mayApprove(people, mei)], [true, false]);
  assert.deepEqual([mayTalk(people, lin), mayApprove(people, lin)], [true, true]);
  assert.equal(mayAnswer(people, mei, permission, mei.openId), false, "asking for a task gives no right to approve");
  assert.equal(mayAnswer(people, mei, text, mei.openId), true);
  assert.equal(mayAnswer(people, mei, text, "ou_other"), false);
  assert.equal(mayAnswer(people, mei, { ...asks(question()), source: "recovery" }, mei.openId), false);
  assert.equal(mayStop(people, mei, "ou_other"), false);
  for (const nobody of [
    { openId: "", tenantKey: "here" },
    { openId: "ou_lin", tenantKey: "elsewhere" },
  ]) {
    assert.equal(mayApprove(people, nobody), false);
    assert.equal(mayTalk({ ...people, talk: "anyone" }, nobody), false);
  }
});
