import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { colour, extras, keys, opened, questions, text } from "./asked.ts";
import { up, down, left, right, enter, newline, esc, tab, space, paste, requestId } from "./pressed.ts";

suite("a question", () => {
  test("T9: one is chosen, looked at once more, and submitted", () => {
    const asked = opened(questions(colour));
    assert.match(asked.seen(), /❯ 1 \( \) Red/);
    asked.press(down, enter);
    assert.deepEqual(asked.responses, [], "choosing is not submitting");
    assert.match(asked.seen(), /\[Review\][^]*→ Blue[^]*❯ ✓ Submit/);
    asked.press(enter);
    assert.deepEqual(asked.responses, [
      { type: "answers", requestId, answers: { "Which colour?": { selected: ["Blue"] } } },
    ]);
    assert.match(asked.seen(), /Sending…/);
    asked.press(enter, enter);
    assert.equal(asked.responses.length, 1, "it is sent once");
  });

  test("one that offers nothing to choose from shows a field", () => {
    const asked = opened(questions({ ...colour, options: [] }));
    assert.match(asked.seen(), /✎ Your answer:/);
    assert.doesNotMatch(asked.seen(), /Something else/);
    asked.type("newFile.js 2");
    asked.press(enter, enter);
    assert.deepEqual(asked.only(), {
      type: "answers",
      requestId,
      answers: { "Which colour?": { selected: [], other: "newFile.js 2" } },
    });
  });

  test("of several answers Enter ticks one, and after a tick goes on instead of taking it away", () => {
    const asked = opened(questions(extras, colour));
    asked.press("2", enter);
    assert.match(asked.seen(), /Which colour\?/);
    asked.press(left);
    assert.match(asked.seen(), /2 \[x\] Docs[^]*Space tick · Enter next/);
    asked.press(up, enter);
    assert.match(asked.seen(), /❯ 1 \[x\] Tests[^]*2 \[x\] Docs/);
  });

  test("T9: several are ticked and unticked, with words besides, in the order in which they stand", () => {
    const asked = opened(questions(extras));
    asked.press(down, down, space, up, enter, up, space, space);
    asked.press(down, down, down);
    asked.type("a 1 b");
    assert.match(asked.seen(), /\[ \] Tests[^]*\[x\] Docs[^]*\[x\] 中文[^]*\[x\] Also:\n\s+▏ a 1 b/);
    asked.press(enter, enter);
    assert.deepEqual(asked.only(), {
      type: "answers",
      requestId,
      answers: { "Which extras?": { selected: ["Docs", "中文"], other: "a 1 b" } },
    });
  });

  test("M3: whoever begins to type is in the text row, where digits and arrows are text", () => {
    const asked = opened(questions(colour, extras));
    asked.type("port");
    asked.press(space);
    asked.type("81");
    asked.press(left, "0", right, keys.home, "a");
    assert.match(asked.seen(), /\(•\) Other:\n\s+▏ aport 801/);
    asked.press(down, "2");
    assert.match(asked.seen(), /\[Extras\]/, "a digit elsewhere chooses and goes on");
    asked.press(left);
    assert.match(asked.seen(), /2 \(•\) Blue[^]*3 \( \) Other:\n\s+▏ aport 801/, "the words are kept, and not counted");
    asked.press(down, enter, tab);
    assert.match(asked.seen(), /\[Review\][^]*“aport 801”/, "Enter on the words makes them the answer again");
    assert.deepEqual(asked.responses, []);
  });

  test("M5: the same keys do the same on every tab, and the ones that work are shown", () => {
    const asked = opened(questions(colour, extras));
    assert.match(asked.seen(), /Enter confirm · Esc later · ↑↓ move · 1–9 choose · ←→ questions/);
    asked.press(right);
    assert.match(asked.seen(), /\[Extras\][^]*Space tick/);
    asked.press(right);
    assert.match(asked.seen(), /\[Review\]/);
    asked.press(left, left, left);
    assert.match(asked.seen(), /\[Colour\]/);
    asked.press(up);
    assert.match(asked.seen(), /❯ 3[^]*Enter next · Esc later · ↑↓ move · Alt-Enter new line/);
  });

  test("what is not answered is said, and submitting a part is a choice of its own", () => {
    const asked = opened(questions(colour, extras));
    asked.press("1", tab);
    assert.match(asked.seen(), /Which extras\?\n\s+→ no answer[^]*❯ → Go to the unanswered question/);
    asked.press(enter);
    assert.match(asked.seen(), /\[Extras\]/);
    asked.press(tab, down, down);
    assert.match(asked.seen(), /❯ ✓ Submit 1 of 2 answers/);
    asked.press(enter);
    assert.deepEqual(asked.only(), {
      type: "answers",
      requestId,
      answers: { "Which colour?": { selected: ["Red"] } },
      partial: true,
    });
  });

  test("an empty answer is no answer: blanks are none, and nothing cannot be submitted", () => {
    const asked = opened(questions(colour));
    asked.press(up, space, space, enter);
    assert.match(asked.seen(), /no answer[^]*Submit \(no answer yet\)/);
    asked.press(down, down, enter);
    assert.deepEqual(asked.responses, []);
    assert.equal(asked.collapsed(), 0);
  });

  test("not to answer is an explicit choice, with the remark as its reason; so is stopping the turn", () => {
    const asked = opened(questions(colour));
    asked.press(tab, down);
    asked.type("later");
    asked.press(enter, down, enter);
    assert.deepEqual(asked.only(), { type: "denied", requestId, reason: "later" });
    const stopped = opened(questions(colour));
    stopped.press(tab, up, enter);
    assert.deepEqual(stopped.only(), { type: "cancelled", requestId });
  });

  test("a remark goes with the answers", () => {
    const asked = opened(questions(colour));
    asked.press("1", up);
    asked.type("but not too red");
    asked.press(enter, enter);
    assert.deepEqual(asked.only(), {
      type: "answers",
      requestId,
      answers: { "Which colour?": { selected: ["Red"] } },
      remark: "but not too red",
    });
  });

  test("lesson 6, 7: Esc puts it aside with a draft, and a draft from anywhere is taken up where something is missing", () => {
    const first = opened(questions(colour, extras));
    first.press("2", space, down, down, down);
    first.type("还有");
    first.press(esc);
    assert.equal(first.collapsed(), 1);
    assert.deepEqual(first.responses, []);
    const answers = {
      "Which colour?": { selected: ["Blue"] },
      "Which extras?": { selected: ["Tests"], other: "还有" },
    };
    assert.deepEqual(first.drafts, [{ answers }]);
    first.press(esc);
    assert.equal(first.drafts.length, 1, "what is kept already is not kept again");

    const half = opened(questions(colour, extras), { draft: { answers: { "Which colour?": { selected: ["Blue"] } } } });
    assert.match(half.seen(), /Colour ✓[^]*\[Extras\]/);
    const whole = opened(questions(colour, extras), { draft: { answers, remark: "r" } });
    assert.match(whole.seen(), /\[Review\][^]*→ Blue[^]*→ Tests, “还有”[^]*▏ r/);
    const strange = opened(questions(colour), {
      draft: { answers: { "Which colour?": { selected: ["Green"] }, "Gone?": { selected: [] } } },
    });
    assert.match(strange.seen(), /\[Colour\][^]*\( \) Red/, "what does not fit is left out");
  });

  test("a draft is kept while the person thinks, and when the panel is taken away", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const asked = opened(questions(colour, extras));
    asked.press("2");
    assert.deepEqual(asked.drafts, []);
    t.mock.timers.tick(500);
    assert.deepEqual(asked.drafts, [{ answers: { "Which colour?": { selected: ["Blue"] } } }]);
    asked.press(space);
    asked.panel.dispose();
    assert.equal(asked.drafts.length, 2);
    t.mock.timers.tick(5_000);
    assert.equal(asked.drafts.length, 2);
  });

  test("recovery: why it is asked is shown, the command for what it is, and only the options answer", () => {
    const command = `Bash was interrupted: rm -rf \u202edist${" ".repeat(200)}~`;
    const request: InputRequest = {
      ...questions({
        question: command,
        header: "Interrupted",
        multiSelect: false,
        options: ["rerun", "done", "stop"].map((label) => ({ label, description: `${label} it` })),
      }),
      source: "recovery",
      why: said("Sage was stopped while this ran."),
    };
    const asked = opened(request);
    assert.match(asked.seen(), /rm -rf ‹U\+202E›dist‹U\+0020×200›~[^]*│ Sage was stopped while this ran/);
    assert.doesNotMatch(asked.seen(), /Other:/);
    asked.type("xyz");
    asked.press(paste("rerun"));
    asked.wait(1_000);
    asked.press("2", enter);
    assert.deepEqual(asked.only(), {
      type: "answers",
      requestId,
      answers: { [command]: { selected: ["done"] } },
    });
    const draft = { answers: { [command]: { selected: [], other: "words" } }, remark: "words" };
    assert.match(opened(request, { draft }).seen(), /1 \( \) rerun/, "words from elsewhere do not count either");
  });

  test("a refused answer stays on the screen with the reason, and can be given again", () => {
    const asked = opened(questions(colour));
    asked.press("1", enter);
    asked.panel.refused("somebody\x1b[2J else was faster");
    assert.match(asked.seen(), /somebody‹U\+001B›\[2J else was faster/);
    asked.press(enter);
    assert.equal(asked.responses.length, 1, "what was pressed before the reason could be read does not count");
    asked.wait(1_000);
    asked.press(enter);
    assert.equal(asked.responses.length, 2);
  });
});

suite("a request for text", () => {
  test("several lines, sent by an explicit choice", () => {
    const asked = opened(text("Describe it"));
    asked.type("第一行");
    asked.press(newline, "b", "\n", "c", enter);
    assert.deepEqual(asked.responses, []);
    assert.match(asked.seen(), /▏ 第一行\n\s+▏ b\n\s+▏ c\n❯ ✓ Send/);
    asked.press(enter);
    assert.deepEqual(asked.only(), { type: "text", requestId, text: "第一行\nb\nc" });
  });

  test("nothing and blanks are not sent; a draft is kept and restored; declining is explicit", () => {
    const asked = opened(text("Name?"));
    asked.press(enter, down, enter, up, space, enter, down, enter);
    assert.deepEqual(asked.responses, []);
    asked.press(up, "a", esc);
    assert.deepEqual(asked.drafts, [{ text: " a" }]);
    const again = opened(text("Name?"), { draft: { text: " a" } });
    again.press("b", enter, down, enter);
    assert.deepEqual(again.only(), { type: "denied", requestId });
    assert.match(again.seen(), /▏ {2}ab/);
  });
});
