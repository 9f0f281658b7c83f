import { said, reasonFrom } from "../../src/protocol/index.ts";
import { entryLines } from "../../src/cli/rule-lines.ts";
import { sentencesFitted } from "../../src/cli/stdout.ts";
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test } from "node:test";
import type {
  Answers,
  Delta,
  Fact,
  FactData,
  FactType,
  InputRequest,
  PermissionRequest,
  Preview,
  Question,
  ToolInput,
} from "../../src/protocol/index.ts";
import { errorOf, noUsage, reason, refusalOf } from "../../src/protocol/index.ts";
import { attachPlain } from "../../src/surfaces/plain/index.ts";
import { errorBecause } from "../../src/texts/error.ts";
import { createDesk } from "../../src/surfaces/terminal/desk.ts";
import type { Panel } from "../../src/surfaces/terminal/panels/panel.ts";
import { sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { begin, editable, hear, type Dialog } from "../../src/surfaces/plain/input.ts";
import { createPaint, type Style } from "../../src/view/lines/paint.ts";
import { dialogLines } from "../../src/surfaces/plain/choices.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { headline } from "../../src/texts/resolution.ts";
import { columns, exact, fitted, framed } from "../../src/view/lines/safe.ts";
import { createView, type Piece } from "../../src/surfaces/plain/view.ts";
import { languageOf } from "../../src/texts/language.ts";
import { texts } from "../../src/texts/texts.ts";

const t = texts("en");
const style = (width?: number): Style => ({ t, paint: createPaint(false), width });

const frame = { id: "s/t0/0/0/permit0", session: "s", at: 0, agent: [], why: said("no rule covers it"), digest: "" };
const permission = (tool: string, input: ToolInput, more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  ...frame,
  kind: "permission",
  source: "approval",
  tool,
  input,
  suggestions: [],
  hard: false,
  ...more,
});
const colour: Question = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cool" },
  ],
};
const extras: Question = { ...colour, question: "Which extras?", multiSelect: true };
const questions = (...asked: Question[]): InputRequest => ({
  ...frame,
  kind: "question",
  source: "tool",
  questions: asked,
});

suite("what may run is seen for what it is", () => {
  test("B1, B2: every row has the margin, also where it wraps, and nothing is lost", () => {
    const rows = framed("rm -rf /tmp/一二三四五六七八九十 && echo done\n── Permission needed ──", style(24));
    assert.ok(rows.every((row) => /^ {2}[│┊] /.test(row)));
    assert.ok(rows.every((row) => columns(row) <= 24));
    assert.equal(
      rows.map((row) => row.slice(4)).join(""),
      "rm -rf /tmp/一二三四五六七八九十 && echo done── Permission needed ──",
    );
    assert.equal(rows.map((row) => row[2]).join(""), "│┊┊│┊");
  });

  test("commands break their sentences between words, and leave columns, drawings, JSON and commands as they are", () => {
    const sentence = "✓ hash chain intact in 1 session; 0 match an anchor outside";
    assert.equal(sentencesFitted(sentence, 40), "✓ hash chain intact in 1 session; 0\n  match an anchor outside");
    for (const line of [
      "Resume with:  sage --resume abcdefgh --model provider/name",
      `█▀▀▀▀▀█ ${"▀".repeat(40)}`,
      `  │ ${"word ".repeat(20)}`,
      `"text": "${"word ".repeat(20)}"`,
    ])
      assert.equal(sentencesFitted(line, 40), line);
  });

  test("B1: what stands for a character has a look that no text can have, and is not torn in two", () => {
    const painted = { ...style(20), paint: createPaint(true) };
    assert.deepEqual(exact("echo 12345\u202e \x1b[7mx", painted), [
      "  │ echo 12345",
      "  ┊ \x1b[7m‹U+202E›\x1b[27m ",
      "  ┊ \x1b[7m‹U+001B›\x1b[27m[7mx",
    ]);
  });

  for (const width of [20, 200]) {
    test(`B2: at ${width} columns five thousand lines and ten thousand blanks hide nothing`, () => {
      const command = Array.from({ length: 5_000 }, (_, n) => `echo ${n}`).join("\n");
      const lines = requestLines(
        permission("Bash", { command: `${command}${" ".repeat(10_000)}; rm -r x` }),
        style(width),
      );
      assert.match(lines[1] ?? "", / · 58,898 characters, 5,000 lines ─/);
      const shown = lines.filter((line) => /^ {2}[│┊] /.test(line)).map((line) => line.slice(4));
      assert.deepEqual(shown.slice(0, 3), ["echo 0", "echo 1", "echo 2"]);
      assert.ok(shown.join("").includes("echo 4998echo 4999‹U+0020×10000›; rm -r x"));
      assert.ok(lines.slice(2).every((line) => columns(line) <= width || !/^ {2}[│┊]/.test(line)));
    });
  }

  for (const width of [60, 80, 100])
    test(`at ${width} columns a request's title is on one row`, () => {
      const [, title = ""] = requestLines(permission("Bash", { command: "ls" }), style(width));
      assert.deepEqual(fitted([title], width), [title]);
    });

  test("B3: a prompt leads with the action and puts the agent's own words below, marked as such and capped", () => {
    const description = `List files${" really".repeat(100)}`;
    const parts = [
      { text: "ls", behavior: "allow" as const, reason: reasonFrom("reads inside the workspace") },
      { text: "rm -r dist", behavior: "ask" as const, reason: reasonFrom("") },
    ];
    const request = permission(
      "Bash",
      { command: "ls; rm -r dist", description, timeout: 5 },
      { description, parts, agent: ["explorer", "cleaner"] },
    );
    const lines = requestLines(request, style(), { place: "1 of 3" });
    assert.deepEqual(lines.slice(1), [
      "── Permission needed (1 of 3) ─────────────────────────────",
      "Run this command?",
      "  │ ls; rm -r dist",
      "Careful: removes files.",
      "Why:",
      "  │ no rule covers it",
      "Commands:",
      "  │ ls",
      "    allowed: reads inside the workspace",
      "  │ rm -r dist",
      "  ▸ asks",
      "Asked by explorer › cleaner",
      "The agent says (not verified):",
      `  │ ${description.slice(0, 300)}`,
      "  … 410 more characters",
      "Waits until somebody answers.",
    ]);
  });

  test("an edit is shown as the hunk it makes, a file that cannot be shown says so, anything else is JSON", () => {
    const body = (tool: string, input: ToolInput, more: Partial<PermissionRequest> = {}) =>
      requestLines(permission(tool, input, more), style()).slice(2, -3);
    const edit = { file_path: "a.ts", old_string: "one\ntwo", new_string: "three", replace_all: true };
    const preview: Preview = {
      path: "/w/a.ts",
      firstLine: 3,
      lines: [
        { mark: " ", text: "\tzero" },
        { mark: "-", text: "one" },
        { mark: "+", text: "three" },
        { mark: "-", text: "one", line: 9 },
        { mark: "+", text: "three", open: true },
      ],
    };
    assert.deepEqual(body("Edit", edit, { preview }), [
      "Edit this file?",
      "  │ a.ts",
      "  │ → /w/a.ts",
      "  │ 3   ⇥   zero",
      "  │ 4 - one",
      "  │ 4 + three",
      "  │ ⋮",
      "  │ 9 - one",
      "  │ 9 + three‹EOF›",
      "  │ replace_all: true",
    ]);
    assert.deepEqual(body("Edit", edit), [
      "Edit this file?",
      "  │ a.ts",
      "  │ - one",
      "  │ - two",
      "  │ + three",
      "  │ replace_all: true",
    ]);
    const binary: Preview = { path: "/w/a.ts", firstLine: 1, lines: [], omitted: "binary" };
    assert.deepEqual(body("Write", { file_path: "/w/a.ts", content: "one\n" }, { preview: binary }), [
      "Write this file?",
      "  │ /w/a.ts",
      `  ${t.omitted.binary}`,
      "  │ + one",
    ]);
    assert.deepEqual(body("mcp__x__y", { b: { d: 1, c: "x" }, a: [] }), [
      "Run mcp__x__y?",
      "  │ a: []",
      "  │ b: {",
      '  │   "c": "x",',
      '  │   "d": 1',
      "  │ }",
    ]);
  });

  test("where it writes, that it leaves the workspace, what only a person may allow, and the deadline are told", () => {
    const writes = [{ path: "/etc/hosts", outside: true as const }, { path: "/w/a" }];
    const parts = [{ text: "tee a /etc/hosts", behavior: "ask" as const, reason: reasonFrom(""), writes }];
    const deadline = { at: Date.now() + 300_500, timeoutMs: 300_000, policy: "cancel" as const };
    const lines = requestLines(
      permission("Bash", { command: "tee a /etc/hosts" }, { parts, hard: true, deadline }),
      style(),
    );
    assert.deepEqual(lines.slice(4, 6), [
      "  │ → /etc/hosts",
      "Careful: writes outside the workspace, only a person can allow this.",
    ]);
    assert.match(lines.at(-1) ?? "", /^Waits until .+ \(5 min left\), then the turn is cancelled\.$/);
  });

  test("B6: the rules that “always” would keep are shown with their notes and files; without one there is no such choice", () => {
    const choices = (request: InputRequest) => dialogLines(request, { at: "choices" }, style());
    const local = "/w/.sage/settings.local.json";
    const rule = { type: "addRule", behavior: "allow", destination: "session" } as const;
    const suggestions = [
      { ...rule, rule: "Bash(npm test:*)", note: reasonFrom("also with any arguments") },
      {
        ...rule,
        rule: "Bash(npm test:*)",
        note: reasonFrom("also with any arguments"),
        destination: "local",
        file: local,
      } as const,
      { ...rule, rule: "Bash(git\u00a0push)" },
    ];
    assert.deepEqual(choices(permission("Bash", { command: "npm test" }, { suggestions })).slice(1, 7), [
      "  a  Always allow in this session (rule 1)",
      "  1  │ Bash(npm test:*)",
      "     │ also with any arguments",
      "  2  │ Bash(git‹U+00A0›push)",
      `     ${[t.alwaysOther, t.alwaysPlace, t.alwaysOwn].join(" · ")}`,
      `     │ local   ${local}`,
    ]);
    assert.ok(!choices(permission("Bash", { command: "npm test" })).some((line) => line.startsWith("  a ")));
  });
});

test("Sage's own sentences break between words, Chinese ones between characters", () => {
  assert.deepEqual(fitted(["  one two three four five"], 20), ["  one two three four", "    five"]);
  assert.deepEqual(fitted(["\x1b[2mone two three four five\x1b[22m"], 20), [
    "\x1b[2mone two three four",
    "  five\x1b[22m",
  ]);
  assert.deepEqual(fitted(["一二三四五六七八九十，一二"], 20), ["一二三四五六七八九", "  十，一二"]);
  assert.deepEqual(fitted(["一二三四五六七八“key”，一二"], 20), ["一二三四五六七八", "  “key”，一二"]);
  assert.deepEqual(fitted(["  \x1b[1md\x1b[22m  one two three four"], 20), [
    "  \x1b[1md\x1b[22m  one two three",
    "     four",
  ]);
  assert.deepEqual(fitted(["one two three four five six"], undefined), ["one two three four five six"]);
  assert.deepEqual(
    entryLines([{ what: "runs at beforeCall (tools: Bash; at most 1 min):", text: "check" }], style(40)),
    ["  runs at beforeCall (tools: Bash; at", "    most 1 min):", "  │ check"],
  );
});

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

suite("what happens becomes text", () => {
  let seq = 0;
  const fact = <T extends FactType>(type: T, key: string, data: FactData[T]) =>
    ({ session: "s", seq: ++seq, key, type, at: 0, data }) as Fact;
  const said = (text: string, by = "ada") => fact("user.said", `said/${seq}`, { text, by, surface: "plain" });
  const replied = (key: string, text: string, calls: { tool: string; input: ToolInput }[] = []) =>
    fact("model.replied", key, {
      parts: [{ type: "text", text }, ...calls.map((call, n) => ({ type: "call" as const, id: `${n}`, ...call }))],
      usage: noUsage,
      finish: "stop",
      model: "m",
      sawUpTo: 0,
    });
  const delta = (key: string, text: string, attempt = 1): Delta => ({
    session: "s",
    key,
    attempt,
    n: 0,
    kind: "text",
    text,
  });
  const flat = (pieces: Piece[]) =>
    pieces
      .map((piece) => ("stream" in piece ? piece.stream : piece.lines.map((line) => `${line}\n`).join("")))
      .join("");
  const ended = fact("turn.ended", "t0.ended", {
    status: "success",
    text: "",
    usage: noUsage,
    stats: { steps: 0, toolCalls: 0, modelCalls: 1, durationMs: 2_000 },
  });

  test("streamed text is not printed a second time by the fact", () => {
    const view = createView(style());
    assert.equal(flat([...view.delta(delta("t0/0/model", "Hel")), ...view.delta(delta("t0/0/model", "lo"))]), "Hello");
    assert.equal(flat(view.fact(replied("t0/0/model", "Hello"))), "");
    assert.equal(flat(view.fact(replied("t0/1/model", "Whole"))), "Whole");
  });

  test("a higher attempt says that it starts again, a lower one is ignored", () => {
    const view = createView(style());
    assert.equal(flat(view.delta(delta("t0/0/model", "Once"))), "Once");
    assert.equal(flat(view.delta(delta("t0/0/model", "Twice", 2))), `${t.startsAgain}\nTwice`);
    assert.equal(flat(view.delta(delta("t0/0/model", "late", 1))), "");
    assert.equal(flat(view.fact(replied("t0/0/model", "Twice done"))), " done");
  });

  test("calls are one line each, results are folded, and a result that comes later names its call", () => {
    const view = createView(style());
    const calls = [
      { tool: "Bash", input: { command: "npm test\nnpm run build" } },
      { tool: "Read", input: { file_path: "a.ts" } },
    ];
    assert.equal(
      flat(view.fact(replied("t0/0/model", "", calls))),
      "● Bash npm test‹U+000A›npm run build\n● Read a.ts\n",
    );
    assert.equal(flat(view.fact(fact("call.finished", "t0/0/1/run0", { ok: true, text: "one" }))), "  │ one\n");
    const long = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
    assert.equal(
      flat(view.fact(fact("call.finished", "t0/0/0/run0.finished", { ok: false, text: long }))),
      `● Bash npm test‹U+000A›npm run build\n  ✗ failed\n${[0, 1, 2, 3, 4, 5].map((n) => `  │ line ${n}\n`).join("")}  … 14 more lines\n`,
    );
  });

  test("what a command prints is shown as it comes, on a terminal, and not again with the result", () => {
    const output = (text: string): Delta => ({ ...delta("t0/0/0/run0", text), kind: "output" });
    const run = (width: number | undefined, result: string) => {
      const view = createView(style(width));
      view.fact(replied("t0/0/model", "", [{ tool: "Bash", input: { command: "x" } }]));
      const live = flat(["one\nt", "wo\nthr"].flatMap((text) => view.delta(output(text))));
      return [live, flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text: result })))];
    };
    assert.deepEqual(run(80, "one\ntwo\nthree"), ["  │ one\n  │ two\n", "  │ three\n"]);
    assert.deepEqual(run(80, "other"), ["  │ one\n  │ two\n", "  │ other\n"]);
    assert.deepEqual(run(undefined, "one"), ["", "  │ one\n"]);
  });

  test("a no is a refusal and not a failure, and is told once", () => {
    const view = createView(style());
    const calls = [1, 2].map(() => ({ tool: "Bash", input: { command: "x" } }));
    view.fact(replied("t0/0/model", "", calls));
    const verdict = { effect: "writes", digest: "d", reason: reasonFrom("") } as const;
    const verdicts = [
      { ...verdict, behavior: "ask" as const },
      { ...verdict, behavior: "deny" as const },
    ];
    view.fact(fact("calls.judged", "t0/0/judged", { verdicts }));
    const asked = permission("Bash", { command: "x" }, { id: "s/t0/0/0/permit0" });
    view.fact(fact("input.requested", "t0/0/0/permit0", asked));
    const response = { type: "denied" as const, requestId: asked.id };
    const refusal = {
      requestId: response.requestId,
      by: "ada",
      surface: "plain",
      at: 0,
      outcome: "answered",
      response,
    } as const;
    view.fact(fact("input.resolved", "t0/0/0/permit0.resolved", refusal));
    const finished = (n: number) => fact("call.finished", `t0/0/${n}/done`, { ok: false, text: "Not run: no." });
    assert.equal(flat(view.fact(finished(1))), "  ✗ refused by a rule\n  │ Not run: no.\n");
    assert.equal(flat(view.fact(finished(0))), "● Bash x\n  ✗ refused by a person\n");
  });

  test("a quick reply does not overtake the result it replies to", () => {
    const view = createView(style());
    view.fact(replied("t0/0/model", "", [{ tool: "Read", input: { file_path: "a" } }]));
    assert.equal(flat(view.delta(delta("t0/1/model", "I see."))), "");
    assert.equal(flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text: "x" }))), "  │ x\nI see.");
  });

  test("B7: output that copies a whole prompt, escapes and all, stays behind its margin", () => {
    const real = requestLines(permission("Bash", { command: "ls" }), { ...style(), paint: createPaint(true) });
    const view = createView(style(90));
    view.fact(replied("t0/0/model", "", [{ tool: "Bash", input: { command: "cat trap" } }]));
    const text = [...real.slice(1), "allow? (y/n/…) > y\r\x1b[2K"].join("\n");
    const drawn = flat(view.fact(fact("call.finished", "t0/0/0/run0", { ok: true, text })))
      .trimEnd()
      .split("\n");
    assert.ok(
      drawn.every((line) => /^ {2}(│ |┊ |… )/.test(line)),
      drawn.join("\n"),
    );
    assert.ok(drawn.some((line) => line.includes("‹U+001B›[1m‹U+001B›[33m── Permission")));
    assert.ok(real.slice(1).every((line) => !drawn.includes(line)));
  });

  test("a saved rule is told with its file, or why it is in none", () => {
    const view = createView(style());
    const rule = { rule: "Bash(ls)", behavior: "allow", destination: "local", by: "Lin" } as const;
    const told = (more: object) => flat(view.fact(fact("rule.added", "t0/0/0/rule0.0", { ...rule, ...more })));
    assert.equal(told({ saved: "/w/s.json" }), "Rule saved to /w/s.json: Bash(ls)\n");
    assert.equal(told({ problem: "no room" }), "Rule added for this session only: Bash(ls) (not saved: no room)\n");
    assert.equal(told({ destination: "session" }), "Rule added for this session: Bash(ls)\n");
  });

  test("on attaching the last turns are shown, the messages before them are a number", () => {
    const view = createView(style());
    const long = Array.from({ length: 40 }, (_, n) => [said(`ask ${n}`), replied(`t${n}/0/model`, `say ${n}`), ended]);
    const shown = flat(createView(style()).history(long.flat()));
    assert.match(shown, /^… \d+ earlier messages\n[^]*ask 39[^]*say 39/);
    const count = Number(/\d+/.exec(shown)?.[0]);
    assert.ok(count > 5 && count < 39, shown);
    assert.deepEqual([shown.includes(`ask ${count - 1}\n`), shown.includes(`ask ${count}\n`)], [false, true]);
    const facts = [
      said("first"),
      replied("t0/0/model", "one"),
      ended,
      said("second", "Lin"),
      replied("t1/0/model", "two"),
    ];
    assert.match(flat(view.history(facts)), /first[^]*one[^]*Lin:\n {2}│ second\n\ntwo$/);
    assert.match(flat(view.history(facts.slice(0, 3))), /first[^]*one[^]*Done: 0 tool calls, 0 tokens, 2 s\n$/);
  });

  test("an answer from elsewhere tells who gave it, from where and what", () => {
    const resolution = { requestId: "s/x", by: "Lin", surface: "feishu", at: Date.now() };
    const granted = { type: "granted" as const, requestId: "s/x", comment: "go" };
    assert.match(
      headline({ ...resolution, outcome: "answered", response: granted }, t),
      /^Answered by Lin in Feishu at \d\d:\d\d: allowed — “go”$/,
    );
    assert.match(
      headline({ ...resolution, outcome: "timed_out", reason: { code: "said", args: { text: "" } } }, t),
      /^Closed by Lin .*: no answer in time$/,
    );
  });
});

test("the language is SAGE_LANG's, else the locale's", () => {
  assert.equal(languageOf({ SAGE_LANG: "zh", LANG: "en_US.UTF-8" }), "zh");
  assert.equal(languageOf({ LC_ALL: "zh_CN.UTF-8" }), "zh");
  assert.equal(languageOf({ LC_ALL: "", LC_MESSAGES: "", LANG: "zh_TW" }), "zh");
  assert.equal(languageOf({ LANG: "C" }), "en");
});

suite("a reason is told in the reader's language", () => {
  const problem = errorBecause("request-invalid", reason("empty-text", {}));
  const chinese = "空白不是回答；请写点什么，或选择不回答";

  test("it survives the way through a reply", () => {
    const { code, message, reason: why } = errorOf(refusalOf(problem));
    assert.deepEqual([code, message, why], [problem.code, problem.message, problem.reason]);
  });

  test("a turn that cannot begin says why", async () => {
    using here = workspace();
    const { host, session } = await sageWith({ script: [], dir: here.dir });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const plain = attachPlain(host, { session, input, output, lang: "zh", color: false, by: "林", signal });
    plain.failed(refusalOf(problem));
    assert.equal((await plain.done).why, "failed");
    await host.close();
    assert.match(String(output.read()), new RegExp(chinese));
  });

  test("an answer that is refused says why on its panel", async () => {
    const told: string[] = [];
    const request = questions(colour);
    const desk = createDesk({
      t: texts("zh"),
      me: "lin",
      respond: async () => refusalOf(problem),
      respondAll: async () => refusalOf(problem),
      createPanel({ respond }) {
        const shown = {
          requestId: request.id,
          refused: (why: string) => void told.push(why),
          update() {},
          dispose() {},
        };
        setImmediate(() => respond({ type: "denied", requestId: request.id }));
        return shown as unknown as Panel;
      },
      saveDraft() {},
      inquire: async () => ({ ok: true }),
      focus() {},
      taken() {},
    });
    desk.begin([{ request }]);
    await until(() => told.length > 0);
    assert.deepEqual(told, [chinese]);
  });
});
