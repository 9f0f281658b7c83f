import { said, type Inquired } from "../../../src/protocol/index.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type {
  InputRequest,
  PermissionRequest,
  PermissionSuggestion,
  Preview,
  RuleTrial,
} from "../../../src/protocol/index.ts";
import { backgroundOf, colorOf, createTheme } from "../../../src/surfaces/terminal/draw/theme.ts";
import { CURSOR_MARKER } from "../../../src/surfaces/terminal/draw/tui.ts";
import { colour, extras, keys, opened, permission, questions, text } from "./asked.ts";

const { up, down, left, right, enter, newline, esc, tab, space, erase, pageDown, paste } = keys;
/** As tmux sends it. */
const tmuxEnd = "\x1b[4~";
const requestId = "s/t0/0/0/ask0";

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

suite("nothing that was typed to somebody else answers", () => {
  const ways: [string, InputRequest, string[]][] = [
    ["question", questions(colour), ["1", enter, enter]],
    ["permission", permission("Bash", { command: "ls" }), ["1", enter]],
    ["text", text("Name?"), ["a", enter, enter]],
  ];
  for (const [name, request, answer] of ways) {
    test(`B4, ${name}: not before 300 ms of silence, however long the typing goes on`, () => {
      const asked = opened(request, { unarmed: true });
      for (let n = 0; n < 20; n++) asked.press(...answer);
      assert.deepEqual(asked.responses, []);
      asked.wait(299 - 50);
      asked.press(enter);
      assert.deepEqual(asked.responses, []);
      asked.wait(300);
      asked.press(...answer);
      assert.equal(asked.responses.length, 1);
    });

    test(`B4, ${name}: again after it was put aside and came back`, () => {
      const asked = opened(request);
      asked.press(esc);
      asked.panel.focused = false;
      asked.panel.focused = true;
      asked.press(...answer);
      assert.deepEqual(asked.responses, []);
    });

    test(`B4, ${name}: a paste decides nothing`, () => {
      const asked = opened(request);
      for (let n = 0; n < 5; n++) {
        asked.press(paste("1\r\ry\r\r"));
        asked.wait(1_000);
      }
      assert.deepEqual(asked.responses, []);
    });
  }

  test("a key that was held down when the panel came up is not a fresh one, and one held down later decides nothing", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    const [held, pressed] = ["\x1b[13;1:2u", "\x1b[13;1:1u"];
    asked.press(held, held);
    asked.press("1", held, held);
    assert.deepEqual(asked.responses, []);
    asked.press(pressed);
    assert.equal(asked.responses.length, 1);
    const question = opened(questions(colour, extras));
    question.press("\x1b[50;1:2u");
    assert.match(question.seen(), /\[Colour\]/);
    question.press("\x1b[50;1:1u");
    assert.match(question.seen(), /\[Extras\]/);
  });

  test("the sentence that a panel came into the middle of is given back, without what would send it", () => {
    const asked = opened(permission("Bash", { command: "ls" }), { unarmed: true });
    asked.type("a 1");
    asked.press(erase, up, enter, esc, paste("b"));
    asked.wait(1_000);
    asked.type("c2");
    asked.press(enter);
    assert.deepEqual(asked.early, ["a", " ", "1", erase, paste("b"), "c", "2"]);
    assert.deepEqual(asked.responses, []);
    const question = opened(questions(colour));
    question.type("mine");
    assert.deepEqual(question.early, [], "what answers is not given away");
  });

  test("a letter takes the choice back", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    asked.press("1", "x");
    asked.wait(1_000);
    asked.press(enter);
    assert.deepEqual(asked.responses, []);
    assert.match(asked.seen(), /Choose with/);
  });

  test("whoever types a sentence into a permission chooses nothing by its numbers", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    asked.type("use port 3001");
    asked.press(enter);
    assert.deepEqual(asked.responses, []);
    assert.doesNotMatch(asked.seen(), /❯/);
    assert.match(asked.seen(), /Typing does nothing here/);
  });

  test("a clock that is set back only costs a moment", () => {
    const asked = opened(questions(colour));
    asked.wait(-3_600_000);
    asked.press("1");
    asked.wait(400);
    asked.press("1", enter);
    assert.equal(asked.responses.length, 1);
  });
});

const suggestion = (
  rule: string,
  destination: PermissionSuggestion["destination"],
  more = {},
): PermissionSuggestion => ({
  type: "addRule",
  rule,
  behavior: "allow",
  destination,
  ...(destination !== "session" && { file: `/p/.sage/${destination}.json` }),
  ...more,
});
const offered = [
  suggestion("Bash(git push *)", "session"),
  suggestion("Bash(git push *)", "local"),
  suggestion("Bash(npm test)", "session", { note: said("exactly this") }),
  suggestion("Bash(npm test)", "local"),
];
const push = (more: Partial<PermissionRequest> = {}) =>
  permission("Bash", { command: "git push && npm test" }, { suggestions: offered, ...more });

suite("a permission", () => {
  test("nothing is chosen at first, and Enter alone does nothing; a risky one opens on no", () => {
    const asked = opened(push());
    asked.press(enter, enter, enter);
    assert.deepEqual(asked.responses, []);
    assert.match(asked.seen(), /Choose with/);
    const risky = opened(push({ hard: true, suggestions: [] }));
    assert.match(risky.seen(), /Careful: only a person can allow this\.[^]*❯ 2 No\n/);
    risky.press(enter);
    assert.deepEqual(risky.only(), { type: "denied", requestId });
  });

  test("each choice, by its number and Enter", () => {
    const after = (...pressed: string[]) => {
      const asked = opened(push());
      assert.doesNotMatch(asked.seen(), /Stop the turn/, "most people never need the others");
      asked.press(...pressed);
      return asked.only();
    };
    assert.equal(after("1"), undefined, "a number alone is no decision");
    assert.deepEqual(after("1", enter), { type: "granted", requestId });
    assert.deepEqual(after(down, enter), { type: "granted", requestId });
    assert.deepEqual(after("3", enter), { type: "denied", requestId });
    assert.deepEqual(after(tab, "4", enter, "n", "o", enter), { type: "denied", requestId, reason: "no" });
    assert.deepEqual(after(tab, "6", enter, "o", "k", enter), { type: "granted", requestId, comment: "ok" });
    assert.deepEqual(after(tab, "7", enter), { type: "cancelled", requestId });
    assert.deepEqual(after(tab, up, enter), { type: "cancelled", requestId });
    assert.deepEqual(after(tab, "５", enter, "!", enter), {
      type: "granted",
      requestId,
      input: { command: "git push && npm test!" },
    });
  });

  test("a call that its agent runs as it is, or that another program asks about, cannot be edited", () => {
    for (const more of [{ fixed: true }, { source: "outside" }] as const) {
      const asked = opened(push(more), { draft: { edit: "git push --force" } });
      asked.press(tab);
      assert.match(asked.seen(), /Stop the turn/);
      assert.doesNotMatch(asked.seen(), /Edit/);
    }
  });

  test("no reason, no comment, no change: nothing is sent", () => {
    const asked = opened(push());
    asked.press(tab, "4", enter, enter);
    assert.match(asked.seen(), /Nothing to send/);
    asked.press("6", enter, space, enter);
    asked.press("5", enter, enter);
    assert.match(asked.seen(), /Nothing changed/);
    asked.press(esc);
    assert.equal(asked.collapsed(), 0, "Esc goes back first");
    asked.press(esc);
    assert.equal(asked.collapsed(), 1);
    assert.deepEqual(asked.responses, []);
  });

  test("half a reason and half an edit are kept with the request, seen at their choices, and answer nothing", () => {
    const asked = opened(push());
    asked.press(tab, "4", enter);
    asked.type("not on 主干");
    asked.press(esc, "5", enter);
    asked.type(" --dry-run");
    asked.press(esc, esc);
    const edit = "git push && npm test --dry-run";
    assert.deepEqual(asked.drafts.at(-1), { reason: "not on 主干", edit });
    const again = opened(push(), { draft: { reason: "not on 主干", edit } });
    assert.match(again.seen(), /No, and say why\n\s+✎ not on 主干\n[^]*first\n\s+✎ git push && npm test --dry-run\n/);
    again.press(enter);
    assert.deepEqual(again.responses, []);
    again.press("5", enter, enter);
    assert.deepEqual(again.only(), { type: "granted", requestId, input: { command: edit } });
  });

  test("an input that is no command is edited as JSON, and must stay an object", () => {
    const asked = opened(permission("Fetch", { url: "http://a" }));
    asked.press(tab, "5", enter);
    assert.match(asked.seen(), /▏ \{\n\s+▏\s+"url": "http:\/\/a"/);
    asked.type("x");
    asked.press(enter);
    assert.match(asked.seen(), /Not a JSON object/);
    asked.press(...Array.from({ length: 60 }, () => erase));
    asked.press(paste(`{"url":\n"http://b"}`), enter);
    assert.deepEqual(asked.only(), { type: "granted", requestId, input: { url: "http://b" } });
  });

  test("a file's new text is edited as text, a hidden character in it is seen, and the rest of the input stays", () => {
    const input = { file_path: "/a", content: "one\ntw\u200bo" };
    const asked = opened(permission("Write", input));
    asked.press(tab, "6", enter);
    assert.match(asked.seen(), /Edit the content[^]*▏ one\n\s+▏ tw‹U\+200B›o/);
    asked.press(keys.left, erase, newline, enter);
    assert.deepEqual(asked.only(), { type: "granted", requestId, input: { file_path: "/a", content: "one\ntw\no" } });
  });

  test("always tells what the rule would have meant in the past, once that is known", () => {
    const trials = new Map<string, RuleTrial>();
    let ready = () => {};
    const asked = opened(push(), {
      tryRule: (rule, told) => {
        ready = told;
        return trials.get(rule);
      },
    });
    asked.press("2", enter);
    assert.doesNotMatch(asked.seen(), /Of the last/);
    const call = { id: "s/t0/0/0", session: "s", cwd: "/w", at: 0, tool: "Bash", decision: "asked" } as const;
    const refused = { ...call, input: { command: "git push --force \u001b[31morigin main" } };
    trials.set("Bash(git push *)", {
      ...{ rule: "Bash(git push *)", behavior: "allow", calls: 40, changed: 9, against: 1, surprising: [refused] },
    });
    ready();
    const seen = asked.seen().replace(/\s+/g, " ");
    assert.match(
      seen,
      /Of the last 40 calls it would have allowed 9 without asking; 1 of those a person refused: git push --force/,
    );
    assert.doesNotMatch(asked.seen(), /\u001b\[31morigin/, "nothing of the past reaches the screen raw");
  });

  test("B6: always shows the exact rules and files; they are chosen, edited, and kept where the person says", () => {
    const asked = opened(push());
    asked.press("2", enter);
    assert.match(asked.seen(), /\[x\] Bash\(git push \*\)\n\s+\[ \] Bash\(npm test\)\n\s+exactly this/);
    assert.match(asked.seen(), /‹› Applies to: this session\n❯ ✓ Always allow with this rule\n/);
    asked.press(up, right);
    assert.match(asked.seen(), /❯ ‹› Applies to: you, in this project\n\s+\/p\/\.sage\/local\.json/);
    asked.press(up, up, space, down, down, down);
    assert.match(asked.seen(), /❯ ✓ Always allow with these 2 rules/);
    asked.press(enter);
    assert.deepEqual(asked.only(), {
      type: "granted",
      requestId,
      rules: [
        { rule: "Bash(git push *)", behavior: "allow", destination: "local" },
        { rule: "Bash(npm test)", behavior: "allow", destination: "local" },
      ],
    });
  });

  test("B6: a rule is edited before it is kept, and without a rule nothing is allowed", () => {
    const asked = opened(push());
    asked.press("2", enter, down, space, up, enter);
    assert.match(asked.seen(), /Choose or write a rule first/);
    assert.deepEqual(asked.responses, []);
    asked.press(down, "e", erase, erase);
    asked.type("origin)");
    asked.press(enter, down);
    assert.match(asked.seen(), /\[ \] Bash\(git push \*\)[^]*❯ ✓ Always allow with this rule/);
    asked.press(enter);
    assert.deepEqual(asked.only(), {
      type: "granted",
      requestId,
      rules: [{ rule: "Bash(git push origin)", behavior: "allow", destination: "session" }],
    });
  });

  test("what is needed together is ticked together; what cannot be kept in a place is not", () => {
    const together = opened(push({ suggestions: offered.map((one) => ({ ...one, together: true as const })) }));
    together.press("2", enter);
    assert.match(together.seen(), /\[x\] Bash\(git push \*\)[^]*\[x\] Bash\(npm test\)/);
    const asked = opened(push({ suggestions: offered.slice(0, 3) }));
    asked.press("2", enter, down, down, space, down, down, enter, down, enter);
    assert.match(asked.seen(), /cannot be saved there/);
    assert.deepEqual(asked.responses, []);
  });

  test("B6: a rule is on one row, and no character of it hides", () => {
    const asked = opened(push({ suggestions: [suggestion("Bash(a\n  ✓ Allow\u202e)", "session")] }));
    asked.press("2", enter);
    assert.match(asked.seen(), /\[x\] Bash\(a‹U\+000A› {2}✓ Allow‹U\+202E›\)\n/);
  });

  test("no rule can allow what only a person may", () => {
    assert.doesNotMatch(opened(push({ hard: true })).seen(), /Always/);
  });

  test("B3: what runs is first and whole, the agent's words about it are last", () => {
    const asked = opened(
      permission(
        "Bash",
        { command: "cat a | sh\nrm -rf \u202e\u200bdist\t ", description: "List files" },
        {
          description: "List files",
          agent: ["Execute", "Explore"],
          parts: [
            { text: "cat a", behavior: "allow", reason: said("only reads") },
            { text: "sh", behavior: "ask", reason: said("no rule"), writes: [{ path: "/etc/x", outside: true }] },
          ],
        },
      ),
    );
    assert.doesNotMatch(asked.seen(), /List files|only reads/);
    asked.press(tab);
    const seen = asked.seen();
    const order = [
      "Permission needed",
      "│ cat a | sh",
      "│ rm -rf ‹U+202E›‹U+200B›dist⇥␠",
      "│ → /etc/x",
      "Careful: removes files, writes outside the workspace.",
      "│ no rule covers it",
      "Asked by Execute › Explore",
      "│ cat a\n    allowed: only reads",
      "│ sh\n  ▸ asks: no rule",
      "The agent says (not verified):\n│ List files",
      "26 characters, 2 lines",
      "1 Allow once",
    ].map((part) => seen.indexOf(part));
    assert.ok(
      order.every((at, n) => at > (order[n - 1] ?? -1)),
      `${JSON.stringify(order)}\n${seen}`,
    );
  });

  test("an edit is shown as the lines it changes, in colour, with the file it really is", () => {
    const preview: Preview = {
      path: "/real/a.txt",
      firstLine: 7,
      lines: [
        { mark: " ", text: "same" },
        { mark: "-", text: "old" },
        { mark: "+", text: "new\x1b[31m" },
      ],
    };
    const request = permission(
      "Edit",
      { file_path: "/link/a.txt", old_string: "old", new_string: "new\x1b[31m" },
      { preview },
    );
    assert.match(
      opened(request).seen(),
      /│ \/link\/a\.txt\n│ → \/real\/a\.txt\n│ 7 {3}same\n│ 8 - old\n│ 8 \+ new‹U\+001B›\[31m/,
    );
    const painted = opened(request, { color: "16" }).painted();
    assert.match(painted, /\x1b\[91m8 - \x1b\[39m\x1b\[91mold\x1b\[39m/);
    assert.match(painted, /\x1b\[32m8 \+ \x1b\[39m\x1b\[32mnew\x1b\[39m\x1b\[7m‹U\+001B›\x1b\[27m/);
  });

  test("B2: it cannot be allowed before its end was on the screen, and says so; no is always free", () => {
    const long = Array.from({ length: 5_000 }, (_, n) => `echo ${n}`).join("\n");
    const asked = opened(permission("Bash", { command: long }), { rows: 24 });
    assert.match(
      asked.seen(),
      /rows 1–\d+ of 500\d[^]*Scroll to the end \(End\) to allow this[^]*Allow once \(locked\)/,
    );
    asked.press(tab);
    for (const choice of ["1", "2", "5", "6"]) asked.press(choice, enter, enter);
    assert.deepEqual(asked.responses, []);
    assert.match(asked.seen(), /Scroll to the end \(End\) to allow this/);
    asked.press(pageDown, pageDown, pageDown, "1", enter);
    assert.deepEqual(asked.responses, []);
    asked.press(tmuxEnd);
    assert.match(asked.seen(), /no rule covers it\n[^]*1 Allow once\n/);
    assert.doesNotMatch(asked.seen(), /Scroll to the end/);
    asked.press(keys.home, "1", enter);
    assert.equal(asked.only()?.type, "granted");
    const other = opened(permission("Bash", { command: long }), { rows: 24 });
    other.press("3", enter);
    assert.equal(other.only()?.type, "denied");
  });

  test("what is said about it may go on below: only what will run must have been seen", () => {
    const why = Array.from({ length: 50 }, (_, n) => `reason ${n}`).join("\n");
    const asked = opened(permission("Bash", { command: "ls" }, { why: said(why) }), { rows: 20 });
    assert.match(asked.seen(), /│ ls\n[^]*rows 1–\d+ of 53[^]*1 Allow once\n/);
    asked.press("1", enter);
    assert.equal(asked.only()?.type, "granted");
  });

  test("page by page every row is seen", () => {
    const long = Array.from({ length: 100 }, (_, n) => `echo row${n}.`).join("\n");
    const asked = opened(permission("Bash", { command: long }), { rows: 24 });
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      for (const [row] of asked.seen().matchAll(/row\d+\./g)) seen.add(row);
      asked.press(pageDown);
    }
    assert.equal(seen.size, 100);
  });

  test("which of how many, how old, and until when", () => {
    const deadline = { at: 300_000, timeoutMs: 300_000, policy: "cancel" as const };
    const asked = opened(push({ deadline }), { queue: { position: 1, total: 3 }, at: 120_000 });
    assert.match(
      asked.seen(),
      /Permission needed \(1 of 3\) ·[^]*asked 2 min ago[^]*\(3 min left\), then the turn is cancelled/,
    );
    asked.panel.update({ position: 2, total: 2 });
    asked.wait(180_000);
    assert.match(asked.seen(), /\(2 of 2\)[^]*overdue/);
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

suite("the size of a screen", () => {
  const requests = [
    questions(colour, extras, { ...colour, question: "x ".repeat(2_000) }),
    push({ input: { command: "echo 一二三 ".repeat(300) } }),
    text("y ".repeat(3_000)),
  ];
  for (const rows of [4, 8, 12, 24])
    test(`never more than ${rows} rows, and where the person is is among them`, () => {
      for (const request of requests) {
        const asked = opened(request, { rows });
        for (const key of [down, down, tab, "a", down, "2", enter, down, tab, down, down]) {
          asked.press(key);
          const lines = asked.lines(40);
          assert.ok(lines.length <= rows, `${lines.length} rows for ${request.kind}`);
          if (request.kind !== "permission")
            assert.ok(
              lines.some((line) => line.includes(CURSOR_MARKER)),
              `${request.kind}:\n${lines.join("\n")}`,
            );
        }
      }
    });

  test("where rows are few, one of them is for the keys; each question starts at its top", () => {
    const long = { ...colour, question: "x\n".repeat(50) };
    const asked = opened(questions(long, { ...long, question: `first\n${long.question}` }), { rows: 14 });
    assert.match(asked.seen(30), /Enter confirm · Esc later$/);
    asked.press(pageDown, pageDown, tab);
    assert.match(asked.seen(), /│ first\n/);
  });

  test("the caret is there also where deleting joined what stands around it", () => {
    const asked = opened(text("?"));
    asked.press(paste("🇩X🇪"), left, erase);
    const [line = ""] = asked.lines().filter((one) => one.includes("🇩"));
    assert.ok(line.endsWith(`▏ ${CURSOR_MARKER}🇩🇪`), JSON.stringify(line));
  });

  test("the caret of a long text stays on the screen, and the rows that are not are counted", () => {
    const asked = opened(text("?"));
    asked.press(paste(Array.from({ length: 30 }, (_, n) => `line${n}`).join("\n")));
    assert.match(asked.seen(), /↑ 24\n[^]*line29\n/);
    asked.press(...Array.from({ length: 29 }, () => up));
    assert.match(asked.seen(), /▏ line0\n[^]*↓ 24/);
  });
});

suite("colours", () => {
  test("none, 16, 256 or all of them, as the terminal says", () => {
    assert.equal(colorOf({ NO_COLOR: "1", COLORTERM: "truecolor" }), "none");
    assert.equal(colorOf({ NO_COLOR: "", TERM: "xterm" }), "16");
    assert.equal(colorOf({ TERM: "dumb" }), "none");
    assert.equal(colorOf({ TERM: "screen-256color" }), "256");
    assert.equal(colorOf({ TERM: "xterm", COLORTERM: "24bit" }), "true");
    assert.equal(backgroundOf({ COLORFGBG: "0;15" }), "light");
    assert.equal(backgroundOf({ COLORFGBG: "15;0" }), "dark");
    assert.equal(backgroundOf({}), "dark");
  });

  test("without colour nothing is coloured; dark and light differ", () => {
    const none = createTheme({ color: "none", background: "dark" });
    assert.equal(none.danger("x") + none.added("y"), "xy");
    assert.equal(none.bold("x"), "\x1b[1mx\x1b[22m");
    const panel = opened(push({ hard: true })).painted();
    assert.doesNotMatch(panel, /\x1b\[(3|4|9|10)\d/);
    const dark = createTheme({ color: "true", background: "dark" });
    assert.equal(dark.danger("x"), "\x1b[38;2;255;135;135mx\x1b[39m");
    assert.notEqual(dark.danger("x"), createTheme({ color: "true", background: "light" }).danger("x"));
    assert.equal(createTheme({ color: "256", background: "light" }).accent("x"), "\x1b[38;5;25mx\x1b[39m");
  });
});

test("? asks about the request: it stays open, the reply stands above the choices, and nothing that is typed there decides", () => {
  let told: Inquired | undefined;
  for (const request of [permission("Bash", { command: "make" }), questions(colour)]) {
    told = undefined;
    const panel = opened(request, { inquiry: () => told });
    assert.match(panel.seen(), /\? ask about it/);
    panel.press("?");
    assert.match(panel.seen(), /Ask about it; the request stays open:/);
    panel.press("y", "1", "\x1b"); // Esc leaves the question, and keeps it
    assert.deepEqual([panel.responses, panel.inquiries, panel.collapsed()], [[], [], 0]);
    panel.press("？", "?", "\r");
    assert.deepEqual([panel.responses, panel.inquiries], [[], ["y1?"]]);
    const made = { requestId: request.id, inquiry: "q", text: "为什么？", by: "Ada", surface: "feishu" };
    told = { made };
    assert.match(panel.seen(), /Inquiry by Ada[^\n]*为什么？[^]*The agent is asked/);
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const text = Array.from({ length: 30 }, (_, n) => `- line ${n} \x1b[31mred`).join("\n");
    told = {
      made,
      reply: {
        ...{ requestId: request.id, inquiry: "q", text, looks: [] },
        model: "m",
        usage,
        modelCalls: 1,
        cost: { usd: 0.5 },
        at: 1,
      },
    };
    assert.match(panel.seen(), /The agent replies \(\$0\.5000\):[^]*line 0[^]*line 7/);
    assert.doesNotMatch(panel.seen(), /line 8|\x1b/);
    panel.press("?", "\r");
    assert.match(panel.seen(), /Nothing to send/);
    assert.deepEqual(panel.inquiries, ["y1?"]);
  }
});
