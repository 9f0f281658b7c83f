import { harmless, oneLine, prose, visible } from "../../src/base/visible.ts";
import type { Preview } from "../../src/protocol/facts/call.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import { describeRequest, offersOf } from "../../src/view/request/describe.ts";

const asked = (more: Partial<PermissionRequest>): PermissionRequest => ({
  id: "s/t0/0/0/permit0",
  session: "s",
  at: 0,
  source: "approval",
  agent: [],
  why: said("no rule covers it"),
  digest: "",
  kind: "permission",
  tool: "Bash",
  input: {},
  suggestions: [],
  hard: false,
  ...more,
});

suite("B1: every character for what it is", () => {
  for (const [kind, text, shown] of [
    ["escape sequences", "a\x1b[2Jb\x1b]0;t\x07", "a‹U+001B›[2Jb‹U+001B›]0;t‹U+0007›"],
    ["other controls", "a\0b\rc\vd\fe\x7ff\x9bg", "a‹U+0000›b‹U+000D›c‹U+000B›d‹U+000C›e‹U+007F›f‹U+009B›g"],
    ["bidirectional controls", "a\u202ed\u2066e\u061cf\u200eg", "a‹U+202E›d‹U+2066›e‹U+061C›f‹U+200E›g"],
    ["zero-width characters", "r\u200bm\u200c\u200d\u2060\ufeff", "r‹U+200B›m‹U+200C›‹U+200D›‹U+2060›‹U+FEFF›"],
    ["characters that show nothing", "\u00ad\u034f\u115f\u3164\u2800", "‹U+00AD›‹U+034F›‹U+115F›‹U+3164›‹U+2800›"],
    ["tag characters", "x\u{e0041}\u{e007f}", "x‹U+E0041›‹U+E007F›"],
    ["variation selectors", "a\ufe0f ❤️ 1️⃣ \u{e0100}", "a‹U+FE0F› ❤️ 1️⃣ ‹U+E0100›"],
    ["blanks that are none", "a\u00a0b\u2003c\u3000d\u1680e", "a‹U+00A0›b‹U+2003›c‹U+3000›d‹U+1680›e"],
    ["line separators", "a\u2028b\u2029c\u0085d", "a‹U+2028›b‹U+2029›c‹U+0085›d"],
    ["halves of pairs, private and unassigned ones", "\ud800x\ue000\u{50005}", "‹U+D800›x‹U+E000›‹U+50005›"],
    ["marks that stand on no letter", "-\u0338\u0338 e\u0301", "-‹U+0338›‹U+0338› e\u0301"],
    ["heaps of marks", `e${"\u0301".repeat(6)}`, `e${"\u0301".repeat(4)}‹U+0301›‹U+0301›`],
    ["words of mixed scripts", "pаypal gοοgle", "pаypal‹Cyrillic+Latin› gοοgle‹Greek+Latin›"],
    [
      "words that are rightly mixed",
      "T恤 npm安装 カタカナ漢字 한국어 naïve кот",
      "T恤 npm安装 カタカナ漢字 한국어 naïve кот",
    ],
    ["tabs", "a\tb\n\tc", "a⇥   b\n⇥   c"],
    ["trailing blanks", "a  \nb\t\nc ", "a␠␠\nb⇥\nc␠"],
    ["text that spells a token", "‹U+202E› ⇥ ␠", "‹U+2039›U+202E› ‹U+21E5› ‹U+2420›"],
    ["ordinary text", "ls -l 'a  b' # 你好，世界 🙂\n\nok", "ls -l 'a  b' # 你好，世界 🙂\n\nok"],
  ] as const)
    test(kind, () => assert.equal(visible(text), shown));

  test("a path or a name is one line, whatever it holds", () => {
    const described = describeRequest(
      asked({
        tool: "my\ntool",
        agent: ["a\nb"],
        input: { "na\nme": 1 },
        parts: [{ text: "x", behavior: "ask", reason: said(""), writes: [{ path: "/a\n❯ 1 Allow" }] }],
      }),
    );
    const { tool, agent, action, writes } = described;
    assert.deepEqual(
      { tool, agent, action, writes },
      {
        tool: "my‹U+000A›tool",
        agent: ["a‹U+000A›b"],
        action: [{ type: "field", name: "na‹U+000A›me", lines: ["1"] }],
        writes: [{ path: "/a‹U+000A›❯ 1 Allow" }],
      },
    );
    const edit = asked({
      tool: "Edit",
      input: { file_path: "/a\nb", old_string: "", new_string: "x" },
      preview: { path: "/c\nd", firstLine: 1, lines: [{ mark: "+", text: "x" }] },
    });
    assert.deepEqual(describeRequest(edit).action[0], { type: "path", given: "/a‹U+000A›b", real: "/c‹U+000A›d" });
  });

  test("texts that differ look different", () => {
    const awkward = fc.constantFrom(..."ab \t\n\r‹›⇥␠U+20×…\u200b\u202e\u00a0ао\u0301\ufe0f".split(""), "❤️");
    const text = fc.array(awkward, { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (a, b) => a === b || gaps(a) !== gaps(b) || visible(a) !== visible(b)),
      { numRuns: 2_000 },
    );
  });
});

/** A long gap is counted as lines, whatever blanks stand in it. */
function gaps(text: string): string {
  return text.replace(/(?<=^|\n)(?:[ \t]*\n){4,}/g, (run) => "\n".repeat(run.split("\n").length - 1));
}

suite("B2: nothing hides behind nothing", () => {
  test("more than twenty blanks are a count, wherever they stand and whatever they are", () => {
    assert.equal(visible(`a${" ".repeat(20)}b`), `a${" ".repeat(20)}b`);
    assert.equal(visible(`ls${" ".repeat(10_000)}; rm x`), "ls‹U+0020×10000›; rm x");
    assert.equal(visible(`${"\t".repeat(30)}x${" \t".repeat(15)}`), "‹U+0009×30›x‹U+0009+U+0020×30›");
  });
  test("more than three empty lines are a count", () => {
    assert.equal(visible("a\n\n\n\nb"), "a\n\n\n\nb");
    assert.equal(visible(`a\n${"\n".repeat(4_000)}b`), "a\n‹U+000A×4000›\nb");
    assert.equal(visible(`a\n${" \n".repeat(2_000)}${`${" ".repeat(50)}\n`.repeat(2_000)}b`), "a\n‹U+000A×4000›\nb");
  });
  test("what is only read keeps its layout, and what streams keeps its emoji", () => {
    assert.equal(harmless("a\tb   \x1b[0m　c"), "a    b   ‹U+001B›[0m　c");
    assert.equal(oneLine("a\nb"), "a‹U+000A›b");
    assert.equal(prose("👩‍💻 ok\r\n\x1b]0;t\x07 \u202eabc"), "👩‍💻 ok\n‹U+001B›]0;t‹U+0007› ‹U+202E›abc");
  });
});

suite("a permission, described", () => {
  test("B3: the action comes from the input, whole, and the agent's words are apart and capped", () => {
    const description = `List files ${"x".repeat(400)}`;
    const parts = [
      { text: "ls", behavior: "allow" as const, reason: said("reads") },
      {
        text: "rm -rf ~",
        behavior: "ask" as const,
        reason: said("removes your home"),
        writes: [{ path: "/h", outside: true as const }],
      },
    ];
    const request = asked({
      input: { command: "ls\nrm -rf ~", description, timeout: 9 },
      description,
      parts,
      agent: ["a\u202eb"],
      hard: true,
    });
    assert.deepEqual(describeRequest(request), {
      tool: "Bash",
      action: [
        { type: "command", lines: ["ls", "rm -rf ~"] },
        { type: "field", name: "timeout", lines: ["9"], minor: true },
      ],
      characters: 11,
      lines: 2,
      parts: [
        { text: "ls", behavior: "allow", reason: said("reads"), asks: false },
        { text: "rm -rf ~", behavior: "ask", reason: said("removes your home"), asks: true },
      ],
      writes: [{ path: "/h", outside: true }],
      leavesWorkspace: true,
      why: said("no rule covers it"),
      dangers: ["removes", "outside", "person-only"],
      hard: true,
      agent: ["a‹U+202E›b"],
      words: { text: description.slice(0, 300), cut: 111 },
    });
  });

  test("a description that is not the one shown as the agent's words stays in the input", () => {
    const { action } = describeRequest(asked({ input: { command: "x", description: "one" }, description: "two" }));
    assert.deepEqual(action[1], { type: "field", name: "description", lines: ['"one"'] });
  });

  test("other tools: canonical JSON, in which nothing hides", () => {
    const { action, characters } = describeRequest(
      asked({ tool: "mcp__x__y", input: { b: "\u202e\n", a: { d: 1, c: [] } } }),
    );
    assert.deepEqual(action, [
      { type: "field", name: "a", lines: ["{", '  "c": [],', '  "d": 1', "}"] },
      { type: "field", name: "b", lines: ['"‹U+202E›\\n"'] },
    ]);
    assert.equal(characters, 28);
  });

  test("a file: as given, where it leads, and every line that changes", () => {
    const preview: Preview = {
      path: "/real/a",
      firstLine: 2,
      lines: [
        { mark: " ", text: "x" },
        { mark: "-", text: "old\r" },
        ...Array.from({ length: 5_000 }, () => ({ mark: "+" as const, text: "" })),
        { mark: "+", text: "evil", open: true },
        { mark: "-", text: "y", line: 40 },
      ],
    };
    const request = asked({ tool: "Edit", input: { file_path: "link/a", old_string: "o", new_string: "n" }, preview });
    const { action, writes } = describeRequest(request);
    assert.deepEqual(action, [
      { type: "path", given: "link/a", real: "/real/a" },
      {
        type: "change",
        hunks: [
          {
            from: 2,
            lines: [
              { mark: " ", text: "x" },
              { mark: "-", text: "old‹U+000D›" },
              { mark: "+", text: "‹U+000A×5000›" },
              { mark: "+", text: "evil‹EOF›" },
            ],
          },
          { from: 40, lines: [{ mark: "-", text: "y" }] },
        ],
      },
    ]);
    assert.deepEqual(writes, [{ path: "/real/a" }]);
    const elsewhere = describeRequest({ ...request, preview: { ...preview, outside: true } });
    assert.deepEqual([elsewhere.writes, elsewhere.leavesWorkspace], [[{ path: "/real/a", outside: true }], true]);
  });

  test("where there is no preview, or it has no lines, the input itself is shown in full", () => {
    const input = { file_path: "/w/a", content: "one\ntwo" };
    const change = {
      type: "change",
      hunks: [
        {
          lines: [
            { mark: "+", text: "one" },
            { mark: "+", text: "two‹EOF›" },
          ],
        },
      ],
    };
    const path = { type: "path", given: "/w/a" };
    assert.deepEqual(describeRequest(asked({ tool: "Write", input })).action, [path, change]);
    const none = (omitted: "huge" | "same"): Preview => ({ path: "/w/a", firstLine: 1, lines: [], omitted });
    assert.deepEqual(describeRequest(asked({ tool: "Write", input, preview: none("huge") })).action, [
      path,
      { type: "omitted", why: "huge" },
      change,
    ]);
    assert.deepEqual(describeRequest(asked({ tool: "Write", input, preview: none("same") })).action, [
      path,
      { type: "omitted", why: "same" },
    ]);
  });

  test("B6: suggestions by rule, each with the places it may go to", () => {
    const one = { type: "addRule", behavior: "allow", rule: "Bash(a)", note: said("n") } as const;
    const suggestions = [
      { ...one, destination: "session" },
      { ...one, destination: "local", file: "/f" },
      { type: "addRule", behavior: "allow", rule: "Bash(b)", destination: "session" },
    ] as const;
    assert.deepEqual(offersOf(asked({ suggestions: [...suggestions] })), [
      {
        rule: "Bash(a)",
        behavior: "allow",
        note: said("n"),
        places: [{ destination: "session" }, { destination: "local", file: "/f" }],
      },
      { rule: "Bash(b)", behavior: "allow", places: [{ destination: "session" }] },
    ]);
  });
});
