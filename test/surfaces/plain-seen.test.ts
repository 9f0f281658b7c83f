import type { Preview, ToolInput } from "../../src/protocol/facts/call.ts";
import type { InputRequest, PermissionRequest } from "../../src/protocol/facts/request.ts";
import { reasonFrom } from "../../src/protocol/reasons/reason.ts";
import { ruleLines } from "../../src/cli/govern/permissions/list.ts";
import { sentencesFitted } from "../../src/cli/process/stdout.ts";

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createPaint } from "../../src/view/lines/paint.ts";
import { dialogLines } from "../../src/surfaces/plain/asking.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { columns, exact, fitted, framed } from "../../src/view/lines/safe.ts";
import { t, style, permission } from "./plain-requests.ts";

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
      `     │ local   you, in this project: ${local}`,
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
  assert.deepEqual(fitted(["  ?  one two three four"], 20), ["  ?  one two three", "     four"]);
  assert.deepEqual(fitted(["one two three four five six"], undefined), ["one two three four five six"]);
  assert.deepEqual(
    ruleLines([{ what: "runs at beforeCall (tools: Bash; at most 1 min):", text: "check" }], style(40)),
    ["  runs at beforeCall (tools: Bash; at", "    most 1 min):", "  │ check"],
  );
});
