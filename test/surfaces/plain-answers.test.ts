import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Answers } from "../../src/protocol/facts/answer.ts";
import type { InputRequest, Question } from "../../src/protocol/facts/request.ts";
import { begin, editable, hear, type Dialog } from "../../src/surfaces/plain/input.ts";
import { dialogLines } from "../../src/surfaces/plain/asking.ts";
import { t, style, frame, permission, colour, questions } from "./plain-requests.ts";

const extras: Question = { ...colour, question: "Which extras?", multiSelect: true };

suite("what a typed line comes to", () => {
  const rule = { type: "addRule", rule: "Bash(ls)", behavior: "allow", destination: "session" } as const;
  const request = permission("Bash", { command: "ls" }, { suggestions: [rule] });
  const requestId = request.id;
  const choose = (line: string) => hear(request, { at: "choices" }, line, t);

  test("own words are offered where they are taken, and nowhere else: Sage's own questions have fixed answers", () => {
    const own = { ...questions(colour), source: "recovery" as const };
    const dialog = begin(own, undefined);
    assert.doesNotMatch(dialogLines(own, dialog, style()).join("\n"), /your own/);
    assert.match(dialogLines(questions(colour), dialog, style()).join("\n"), /your own/);
    for (const typed of ["something else", '"1"', "3", "1 2"]) {
      const step = hear(own, dialog, typed, t);
      assert.deepEqual(step, { type: "again", message: "Choose an option from 1 to 2." }, typed);
    }
    // Nothing can be added to such an answer either, so no remark is asked for.
    assert.equal(hear(own, dialog, "1", t).type, "respond");
    assert.equal(hear(questions(colour), dialog, "1", t).type, "next");
  });

  test("a call that its agent runs as it is cannot be edited", () => {
    const fixed = { ...request, fixed: true as const };
    const shown = (one: typeof request) => dialogLines(one, { at: "choices" }, style()).join("\n");
    assert.deepEqual(
      [shown(request), shown(fixed)].map((text) => text.includes(t.edit)),
      [true, false],
    );
    assert.equal(choose("e").type, "next");
    assert.deepEqual(hear(fixed, { at: "choices" }, "e", t), {
      type: "again",
      message: t.noChoice("e", "y, a, n, r, c, s, ?"),
    });
  });

  test("a question that offers nothing takes a text, also one that looks like a number or a letter with a meaning", () => {
    const asked = questions({ ...colour, options: [] });
    const dialog = begin(asked, undefined);
    assert.match(dialogLines(asked, dialog, style()).join("\n"), /Type your answer on one line/);
    for (const typed of ["newFile.js", "42", "1 2"]) {
      const step = hear(asked, dialog, typed, t);
      const answers = step.type === "next" && "answers" in step.dialog ? step.dialog.answers : {};
      assert.deepEqual(answers, { [colour.question]: { selected: [], other: typed } }, typed);
    }
  });

  test("B6: any rule that is offered, any place that is offered, or a rule of one's own", () => {
    const offer = (rule: string, destination: "session" | "local" = "session") =>
      ({ type: "addRule", rule, behavior: "allow", destination }) as const;
    const asked = permission(
      "Bash",
      { command: "ls; id" },
      { suggestions: [offer("Bash(ls)"), offer("Bash(ls)", "local"), offer("Bash(id)"), offer("Bash(id)", "local")] },
    );
    const kept = (line: string, request = asked) => {
      const step = hear(request, { at: "choices" }, line, t);
      if (step.type === "again") return step.message;
      if (step.type === "next") return step.dialog;
      if (step.type === "inquire" || step.type === "respondAll") return step;
      return step.response.type === "granted"
        ? step.response.rules?.map((one) => `${one.rule} ${one.destination}`)
        : step;
    };
    assert.deepEqual(kept("a"), ["Bash(ls) session"]);
    assert.deepEqual(kept("ａ ２"), ["Bash(id) session"]);
    assert.deepEqual(kept("a2 local"), ["Bash(id) local"]);
    assert.deepEqual(kept("a local"), ["Bash(ls) local"]);
    assert.deepEqual(kept("a all local"), ["Bash(ls) local", "Bash(id) local"]);
    assert.deepEqual(kept("a 2,1"), ["Bash(id) session", "Bash(ls) session"]);
    assert.deepEqual(kept("a = Bash(ls -l = x)"), ["Bash(ls -l = x) session"]);
    assert.deepEqual(kept("A local ＝ Bash(ｌｓ)"), ["Bash(ｌｓ) local"]);
    assert.deepEqual(kept("a 2 local ="), { at: "rule", rule: "Bash(id)", destination: "local" });
    assert.equal(kept("a 3"), t.noChoice("3"));
    assert.equal(kept("a everywhere"), t.noChoice("everywhere"));
    assert.equal(kept("a user"), t.noPlace("user"));
    const both = { ...asked, suggestions: asked.suggestions.map((one) => ({ ...one, together: true as const })) };
    assert.deepEqual(
      kept("a", both),
      ["Bash(ls) session", "Bash(id) session"],
      "one without the other does not allow it",
    );
    assert.deepEqual(kept("a 2", both), ["Bash(id) session"]);
    assert.ok(dialogLines(both, { at: "choices" }, style()).includes(`  a  ${t.always(2)}`));
    for (const none of ["allow", "always", "=", "a b"]) assert.equal(typeof kept(none), "string", none);
    assert.equal(kept("a = Bash(x)", { ...asked, hard: true }), t.noRule);
    assert.deepEqual(hear(asked, { at: "rule", rule: "Bash(id)", destination: "local" }, "Bash(id -u)", t), {
      type: "respond",
      response: {
        type: "granted",
        requestId: asked.id,
        rules: [{ rule: "Bash(id -u)", behavior: "allow", destination: "local" }],
      },
    });
  });

  test("one letter is one decision, from any keyboard", () => {
    for (const yes of ["y", "Y ", "yes", "ｙ", "是"])
      assert.deepEqual(choose(yes), { type: "respond", response: { type: "granted", requestId } });
    assert.deepEqual(choose("n"), { type: "respond", response: { type: "denied", requestId } });
    assert.deepEqual(choose("s"), { type: "respond", response: { type: "cancelled", requestId } });
    assert.deepEqual(choose("a"), {
      type: "respond",
      response: {
        type: "granted",
        requestId,
        rules: [{ rule: "Bash(ls)", behavior: "allow", destination: "session" }],
      },
    });
  });

  test("an empty line, a sentence and a rule that is not offered decide nothing", () => {
    for (const nothing of ["", "   ", "yes please", "sure", "ok"]) assert.equal(choose(nothing).type, "again");
    assert.deepEqual(hear(permission("Bash", { command: "ls" }), { at: "choices" }, "a", t), {
      type: "again",
      message: t.noRule,
    });
  });

  test("a reason, a comment and an edit come on a line of their own; an empty one goes back", () => {
    const then = (at: Dialog["at"] & ("reason" | "comment" | "edit"), line: string) => hear(request, { at }, line, t);
    assert.deepEqual(choose("r"), { type: "next", dialog: { at: "reason" } });
    assert.deepEqual(then("reason", "use pnpm"), {
      type: "respond",
      response: { type: "denied", requestId, reason: "use pnpm" },
    });
    assert.deepEqual(then("comment", "go"), {
      type: "respond",
      response: { type: "granted", requestId, comment: "go" },
    });
    assert.deepEqual(then("edit", "ls -l"), {
      type: "respond",
      response: { type: "granted", requestId, input: { command: "ls -l" } },
    });
    assert.deepEqual(then("edit", "ls"), { type: "next", dialog: { at: "choices" }, note: t.unchanged });
    for (const at of ["reason", "comment", "edit"] as const)
      assert.deepEqual(then(at, " "), { type: "next", dialog: { at: "choices" } });
  });

  test("an input that is no command is edited as JSON", () => {
    const write = permission("Write", { file_path: "a", content: "b" });
    const edit = (line: string) => hear(write, { at: "edit" }, line, t);
    assert.equal(editable(write), '{"file_path":"a","content":"b"}');
    assert.equal(editable(permission("Bash", { command: "a\nb" })), undefined);
    assert.deepEqual(edit('{"file_path":"c","content":"b"}'), {
      type: "respond",
      response: { type: "granted", requestId, input: { file_path: "c", content: "b" } },
    });
    assert.equal(edit("[1]").type, "again");
    assert.equal(edit("{").type, "again");
  });

  const answering = (line: string, asked = colour) => {
    const step = hear(
      questions(asked, { ...colour, question: "Another?" }),
      { at: "question", n: 0, answers: {} },
      line,
      t,
    );
    return step.type === "next" && "answers" in step.dialog ? step.dialog.answers[asked.question] : step;
  };

  test("a number or a label picks an option, anything else is the person's own answer", () => {
    assert.deepEqual(answering("2"), { selected: ["Blue"] });
    assert.deepEqual(answering("２"), { selected: ["Blue"] });
    assert.deepEqual(answering("red"), { selected: ["Red"] });
    assert.deepEqual(answering("浅绿色"), { selected: [], other: "浅绿色" });
    assert.deepEqual(answering('"7"'), { selected: [], other: "7" });
    assert.deepEqual(answering("7"), { type: "again", message: t.noOption("7", 2) });
    assert.deepEqual(answering(""), { type: "again", message: t.emptyLine });
    for (const two of ["1,2", "1 2", "１，２"])
      assert.deepEqual(answering(two), { type: "again", message: t.onlyOne(two) });
    assert.deepEqual(answering("2 of them"), { selected: [], other: "2 of them" });
  });

  test("where several may be picked, numbers and words go together", () => {
    assert.deepEqual(answering("1,2", extras), { selected: ["Red", "Blue"] });
    assert.deepEqual(answering("２、1", extras), { selected: ["Blue", "Red"] });
    assert.deepEqual(answering("1 and a bit of green", extras), { selected: ["Red"], other: "and a bit of green" });
    assert.deepEqual(answering("blue", extras), { selected: ["Blue"] });
    assert.deepEqual(answering("1 9", extras), { type: "again", message: t.noOption("9", 2) });
  });

  test("question after question, each a draft; then a remark; then the whole answer", () => {
    const asked = questions(colour, extras);
    const first = hear(asked, begin(asked, undefined), "1", t);
    const answers: Answers = { "Which colour?": { selected: ["Red"] } };
    assert.deepEqual(first, { type: "next", dialog: { at: "question", n: 1, answers }, draft: { answers } });
    const resumed = begin(asked, { answers: { ...answers, "Which extras?": { selected: ["Gone"] } } });
    assert.deepEqual(resumed, { at: "question", n: 1, answers });
    const all = { ...answers, "Which extras?": { selected: ["Blue"] } };
    assert.deepEqual(hear(asked, resumed, "2", t), {
      type: "next",
      dialog: { at: "remark", answers: all },
      draft: { answers: all },
    });
    assert.deepEqual(hear(asked, { at: "remark", answers: all }, "", t), {
      type: "respond",
      response: { type: "answers", requestId, answers: all },
    });
    assert.deepEqual(hear(asked, resumed, "p", t), {
      type: "respond",
      response: { type: "answers", requestId, answers, partial: true },
    });
  });

  test("a letter is a command at a question and a word in a remark; b goes back", () => {
    const asked = questions(colour, extras);
    const answers: Answers = { "Which colour?": { selected: ["Red"] } };
    assert.deepEqual(hear(asked, { at: "question", n: 1, answers }, "b", t), {
      type: "next",
      dialog: { at: "question", n: 0, answers: {} },
      draft: { answers: {} },
    });
    assert.deepEqual(hear(asked, begin(asked, undefined), "b", t), { type: "again", message: t.noneBefore });
    for (const remark of ["d", "s", "b"])
      assert.deepEqual(hear(asked, { at: "remark", answers }, remark, t), {
        type: "respond",
        response: { type: "answers", requestId, answers, remark },
      });
  });

  test("a question can be declined or stop the turn, and nothing answered is not submitted", () => {
    const asked = questions(colour);
    const say = (line: string) => hear(asked, begin(asked, undefined), line, t);
    assert.deepEqual(say("d"), { type: "respond", response: { type: "denied", requestId } });
    assert.deepEqual(say("s"), { type: "respond", response: { type: "cancelled", requestId } });
    assert.deepEqual(say("p"), { type: "again", message: t.nothingYet });
  });

  test("a text is asked for in the same way", () => {
    const asked: InputRequest = { ...frame, kind: "text", source: "mcp", prompt: "Name?" };
    const say = (line: string) => hear(asked, begin(asked, undefined), line, t);
    assert.deepEqual(say("灯塔"), { type: "respond", response: { type: "text", requestId, text: "灯塔" } });
    assert.equal(say("").type, "again");
    assert.deepEqual(say("d"), { type: "respond", response: { type: "denied", requestId } });
  });
});
