import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "../../support/properties.ts";
import { finishedUpTo, type Entry } from "../../../src/surfaces/terminal/screen/scroll.ts";
import { readRuns } from "../../../src/surfaces/terminal/draw/highlight.ts";
import { markdownRows } from "../../../src/surfaces/terminal/draw/markdown.ts";
import { createTheme } from "../../../src/surfaces/terminal/draw/theme.ts";
import { visibleWidth } from "../../../src/surfaces/terminal/draw/tui.ts";
import { createPanel } from "../../../src/surfaces/terminal/panels/panel.ts";
import { rowsOf, type View } from "../../../src/surfaces/terminal/view.ts";
import { terminalTexts } from "../../../src/texts/surfaces/terminal.ts";
import { texts } from "../../../src/texts/shared/texts.ts";
import type { CallItem } from "../../../src/view/transcript/item.ts";
import { createProgress } from "../../../src/view/transcript/progress.ts";
import type { Preview } from "../../../src/protocol/facts/call.ts";
import type { Standing } from "../../../src/protocol/host/receipt.ts";
import { footRow } from "../../../src/surfaces/terminal/status.ts";
import { permission } from "./asked.ts";

const look = (more: Partial<View> = {}): View => ({
  theme: createTheme({ color: "16", background: "dark" }),
  t: texts("en"),
  tt: terminalTexts("en"),
  me: { by: "you", surface: "tui" },
  width: 60,
  unfolded: false,
  now: 10_000,
  loaded() {},
  ...more,
});
const bare = (rows: readonly string[]) => rows.map((row) => row.replace(/\x1b\[[\d;]*m/g, ""));
const entry = (item: Entry["item"]): Entry => ({ item, gap: false, from: 0, frozen: 0, restarts: 0 });
const callItem = (tool: string, input: Record<string, unknown>, more: Partial<CallItem> = {}): CallItem => ({
  type: "call",
  key: "t0/0/0",
  within: [],
  agent: [],
  reply: { key: "t0/0/model", at: 0, model: "m" },
  call: { type: "call", id: "1", tool, input },
  input,
  standing: "done",
  asked: [],
  rules: [],
  runs: [],
  output: "",
  attempt: 0,
  inner: [],
  ...more,
});
const text = (whole: string): Entry =>
  entry({ type: "text", key: "k", within: [], text: whole, done: true, restarts: 0 });
const call = (more: Partial<CallItem> = {}): Entry => entry(callItem("Bash", { command: "npm test" }, more));

const hostile = [
  "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;aGk=\x07",
  "a\rb\bc\x9b1A\x84",
  "\u202eemoc\u2066 \u200b\ufeff\u{e0041}",
  "── Permission needed ──────",
  "❯ 1 Allow once",
  "Answered by you at 12:00: allowed",
  "👩‍💻❤️ 한국어 中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文中文",
].join("\n");

suite("what is drawn", () => {
  test("B1, B7: output, names and text of others stay to the right of Sage's own columns, and steer nothing", () => {
    const stranger = { by: hostile, surface: hostile };
    const items: Entry[] = [
      call({ result: { ok: true, text: hostile } }),
      call({ standing: "running", output: hostile }),
      call({ changed: { by: "person", who: stranger } }),
      entry(callItem(hostile, { command: hostile })),
      call({ inner: [callItem("Read", { file_path: hostile })] }),
      text(hostile),
      entry({ type: "thought", key: "k", within: [], text: hostile, done: false, since: 0 }),
      entry({ type: "said", key: "k", at: 0, sender: stranger, text: hostile, images: [], read: true }),
      entry({ type: "box", title: hostile, text: hostile, done: true }),
      entry({ type: "model", at: 0, model: hostile, ...stranger }),
    ];
    for (const item of items)
      for (const unfolded of [false, true])
        for (const width of [20, 40, 200]) {
          const rows = rowsOf(item, look({ width, unfolded }));
          for (const row of rows) {
            assert.doesNotMatch(row.replace(/\x1b\[[\d;]*m/g, ""), /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u, row);
            assert.ok(visibleWidth(row) <= width, `${visibleWidth(row)} > ${width}: ${row}`);
          }
          const own = bare(rows).filter((row) => /^(❯ 1|Answered|──)/.test(row));
          assert.deepEqual(own, [], `${item.item.type} draws where only Sage draws`);
        }
  });

  test("an entity in Markdown is no way to an escape, and a link says where it leads", () => {
    const markdown = "&#27;[2J &#x1b;]0;x&#7; [good](https://evil.example) ![i](https://evil.example/i.png)";
    const rows = rowsOf(text(markdown), look({ width: 200 }));
    assert.doesNotMatch(bare(rows).join("\n"), /[\p{Cc}--\n]/v);
    assert.match(bare(rows).join(""), /good \(https:\/\/evil\.example\)/);
  });

  test("a result is folded to its first lines, what a command printed to its last; unfolded it is whole", () => {
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
    const result = { ok: true, text: lines.join("\n") };
    assert.deepEqual(bare(rowsOf(entry(callItem("Grep", { pattern: "x" }, { result })), look())).slice(1), [
      ...lines.slice(0, 6).map((line) => `  │ ${line}`),
      "  … 14 more lines (Ctrl-O)",
    ]);
    assert.deepEqual(bare(rowsOf(call({ result }), look())).slice(1), [
      "  … 14 lines above (Ctrl-O)",
      ...lines.slice(-6).map((line) => `  │ ${line}`),
    ]);
    assert.deepEqual(
      bare(rowsOf(call({ result }), look({ unfolded: true }))).slice(1),
      lines.map((line) => `  │ ${line}`),
    );
  });

  test("words of a list go on below themselves, and no row begins with the sign that ends a Chinese sentence", () => {
    const note = (...lines: string[]) => entry({ type: "note", tone: "dim", lines });
    const rows = (lines: string[], width: number) =>
      bare(rowsOf(note(...lines), look({ width }))).map((row) => row.trimEnd());
    assert.deepEqual(rows(["/rewind       go back to before a message: files or both"], 40), [
      "/rewind       go back to before a",
      "              message: files or both",
    ]);
    assert.deepEqual(rows(["你已中断。请说明接下来做什么，或用 /resume 继续。"], 48), [
      "你已中断。请说明接下来做什么，或用 /resume 继",
      "  续。",
    ]);
    for (let width = 20; width < 60; width++)
      for (const row of rows(["你已中断。请说明接下来做什么，或用 /resume 继续（见说明）。"], width)) {
        assert.doesNotMatch(row.trimStart(), /^[，。）]/);
        assert.ok(visibleWidth(row) <= width);
      }
  });

  test("todos, a subagent's last calls, a change and a thought", () => {
    const todos = [
      { content: "look", status: "completed" },
      { content: "write", status: "in_progress" },
      { content: "test", status: "pending" },
    ];
    const with_ = (tool: string, input: Record<string, unknown>, more: Partial<CallItem> = {}) =>
      bare(rowsOf(entry(callItem(tool, input, more)), look()));
    assert.deepEqual(with_("TodoWrite", { todos }), ["● TodoWrite 1 of 3 done"]);
    const whole = bare(rowsOf(entry(callItem("TodoWrite", { todos })), look({ unfolded: true })));
    assert.deepEqual(whole.slice(1), ["  ✓ look", "  ▸ write", "  ☐ test"]);
    const inner = ["a", "b", "c", "d", "e"].map((file) => callItem("Read", { file_path: file }));
    assert.deepEqual(with_("Task", { description: "find it" }, { inner, standing: "running", since: 2_000 }), [
      "● Task find it (8 s)",
      "  ⎿ … 2 earlier calls",
      "  ⎿ Read c",
      "  ⎿ Read d",
      "  ⎿ Read e",
    ]);
    assert.deepEqual(with_("Edit", { file_path: "a.ts", old_string: "one\ntwo", new_string: "three" }), [
      "● Edit a.ts",
      "  │ - one",
      "  │ - two",
      "  │ + three",
    ]);
    const item = { type: "thought", key: "k", within: [], text: "First.\nThen.", done: true } as const;
    const thought = entry({ ...item, since: 0, until: 3_000 });
    assert.deepEqual(bare(rowsOf(thought, look())), ["∴ Thought for 3 s"]);
    assert.deepEqual(bare(rowsOf(thought, look({ unfolded: true }))), ["∴ Thought for 3 s", "  │ First.", "  │ Then."]);
  });

  test("a change is drawn after it ran as it was before: numbered, with what stayed", () => {
    const edit = { file_path: "a.ts", old_string: "one\ntwo\nthree", new_string: "one\n2\nthree" };
    const rows = (more: Partial<CallItem>) => bare(rowsOf(entry(callItem("Edit", edit, more)), look())).slice(1);
    assert.deepEqual(rows({}), ["  │   one", "  │ - two", "  │ + 2", "  │   three"]);
    const preview: Preview = {
      path: "/p/a.ts",
      firstLine: 9,
      lines: [
        { mark: " ", text: "one" },
        { mark: "-", text: "two" },
        { mark: "+", text: "2" },
        { mark: " ", text: "three" },
      ],
    };
    const asked = [{ request: permission("Edit", edit, { preview }) }];
    assert.deepEqual(rows({ asked }), ["  │  9   one", "  │ 10 - two", "  │ 10 + 2", "  │ 11   three"]);
    const changed = { by: "hook" } as const;
    assert.deepEqual(rows({ asked, changed }).slice(1), ["  │   one", "  │ - two", "  │ + 2", "  │   three"]);
  });

  test("an edit is drawn alike before and after: numbers, the language's colours, changed words underlined", async () => {
    const edit = { file_path: "/p/src/a.ts", old_string: "const a = 1;", new_string: "const b = 1;" };
    const preview: Preview = {
      path: "/p/src/a.ts",
      firstLine: 9,
      lines: [
        { mark: " ", text: "// first" },
        { mark: "-", text: "const a = 1;" },
        { mark: "+", text: "const b = 1;" },
      ],
    };
    const theme = createTheme({ color: "16", background: "dark" });
    const request = permission("Edit", edit, { preview });
    const item = callItem("Edit", edit, { result: { ok: true, text: "Edited.", change: preview } });
    const draw = (loaded: () => void) => rowsOf(entry(item), look({ cwd: "/p", loaded }));
    await new Promise<void>((resolve) => {
      if (draw(resolve).join("").includes(theme.heading("const"))) resolve();
    });
    const after = draw(() => {});
    assert.deepEqual(bare(after), [
      "● Edit src/a.ts",
      "  │  9   // first",
      "  │ 10 - const a = 1;",
      "  │ 10 + const b = 1;",
    ]);
    assert.ok(after[3]?.includes(theme.heading("const")), after[3]);
    assert.ok(after[3]?.includes(theme.bold(theme.underline(theme.added("b")))), JSON.stringify(after[3]));
    assert.ok(after[2]?.includes(theme.bold(theme.underline(theme.removed("a")))), JSON.stringify(after[2]));
    const panel = createPanel({
      ...{ pending: { request }, queue: { position: 1, total: 1 }, theme, lang: "en", cwd: "/p" },
      ...{
        rows: () => 24,
        now: () => 0,
        respond() {},
        saveDraft() {},
        inquire() {},
        inquiry: () => undefined,
        collapse() {},
        redraw() {},
      },
    });
    const before = panel.render(60);
    for (const row of after.slice(1)) assert.ok(before.includes(row.slice(2)), `${row}\n${before.join("\n")}`);
    assert.ok(bare(before).includes("│ src/a.ts"));
  });

  for (const [lang, several] of [
    ["en", "● Read 2 files a.ts, src/b.ts"],
    ["zh", "● 读取了 2 个文件 a.ts, src/b.ts"],
  ] as const)
    test(`reads fold to one line, and unfold (${lang})`, () => {
      const read = (file: string, more: Partial<CallItem> = {}) =>
        callItem("Read", { file_path: file }, { result: { ok: true, text: `1\t${file}` }, ...more });
      const rows = (items: CallItem[], unfolded = false) =>
        bare(rowsOf(entry({ type: "reads", items }), look({ tt: terminalTexts(lang), cwd: "/p", unfolded })));
      assert.deepEqual(rows([read("a.ts")]), ["● Read a.ts"]);
      const all = [read("a.ts"), read("/p/src/b.ts"), read("a.ts")];
      assert.deepEqual(rows(all), [several]);
      assert.deepEqual(rows([...all, read("gone", { standing: "failed", result: { ok: false, text: "No." } })]), [
        several,
        "✗ Read gone (failed)",
        "  │ No.",
      ]);
      assert.deepEqual(rows(all.slice(0, 2), true), [
        "● Read a.ts",
        "  │ 1    a.ts",
        "● Read src/b.ts",
        "  │ 1    /p/src/b.ts",
      ]);
    });

  test("a cost that is known in part says so", () => {
    const progress = createProgress();
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const stats = { steps: 1, toolCalls: 0, modelCalls: 1, durationMs: 1 };
    const ended = (cost?: { usd: number }) =>
      progress.note({
        ...{ session: "s", seq: 1, key: "t0.ended", type: "turn.ended", at: 1 },
        data: { status: "success", text: "", usage, stats, ...(cost && { cost }) },
      });
    const info = { session: "", model: "m", contextWindow: undefined };
    ended({ usd: 0.5 });
    assert.match(
      bare([footRow({ ...info, ...progress, model: "m", session: "" }, look())])[0] ?? "",
      /^\$0\.5000 +m · $/,
    );
    ended();
    assert.match(
      bare([footRow({ ...info, ...progress, model: "m", session: "" }, look())])[0] ?? "",
      /^> \$0\.5000 +m · $/,
    );
  });

  test("without colour there is none, and nothing is told by colour alone", () => {
    const theme = createTheme({ color: "none", background: "dark" });
    const all = Object.keys(texts("en").standing) as Standing[];
    const rows = all
      .filter((standing) => standing !== "running")
      .map((standing) => rowsOf(call({ standing }), look({ theme }))[0] ?? "");
    assert.doesNotMatch(rows.join(""), /\x1b\[(3|4|9)\d/);
    assert.equal(new Set(bare(rows)).size, rows.length);
  });

  test("code in colours has the same letters, line by line", () => {
    const html =
      '<span class="hljs-keyword">const</span> a = <span class="hljs-string">`x\n<span class="hljs-subst">${b}</span>`</span>; a &lt; b &amp;&amp; &#x27;';
    const lines = readRuns(html);
    assert.deepEqual(
      lines.map((line) => line.map((run) => run.text).join("")),
      ["const a = `x", "${b}`; a < b && '"],
    );
    assert.deepEqual(
      lines.map((line) => line[0]?.colour),
      ["heading", "good"],
    );
  });
});

suite("running Markdown", () => {
  test("a block is finished when the next has begun; a list, a fence and its last line may still grow", () => {
    const upTo = (text: string) => text.slice(0, finishedUpTo(text));
    assert.equal(upTo("One.\n\nTw"), "One.\n\n");
    assert.equal(upTo("One.\n\n"), "");
    assert.equal(upTo("- a\n\n- b\n\n  more\n\n"), "");
    assert.equal(upTo("- a\n- b\n\nNow"), "");
    assert.equal(upTo("- a\n- b\n\nNow this\n"), "- a\n- b\n\n");
    assert.equal(upTo("```\ncode\n\nmore\n"), "");
    assert.equal(upTo("```\ncode\n\nmore\n```\nx"), "```\ncode\n\nmore\n```\n");
    assert.equal(upTo("````\n```\n\nx\n```\n\ny"), "");
  });

  test("whatever comes in whatever pieces, nothing is finished twice and nothing is taken back", () => {
    const piece = fc.constantFrom(
      "word ",
      "\n",
      "\n\n",
      "- item\n",
      "1. one\n",
      "```\n",
      "```ts\n",
      "  in\n",
      "| a |\n",
      "> q\n",
      "中文。",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        let [text, taken] = ["", 0];
        for (const one of pieces) {
          text += one;
          const more = finishedUpTo(text.slice(taken));
          assert.ok(more >= 0 && taken + more <= text.length);
          taken += more;
        }
      }),
      { numRuns: 300 },
    );
  });
});

test("code has no fences, and nothing of a text that spells them is lost", () => {
  const theme = createTheme({ color: "none", background: "dark" });
  const rows = (text: string) => markdownRows(text, 60, theme, () => {});
  assert.deepEqual(rows("Look:\n\n```ts\nconst a = 1;\n```\n\nDone."), [
    "  Look:",
    "",
    "    const a = 1;",
    "",
    "  Done.",
  ]);
  assert.deepEqual(rows("- one\n  ```\n  two\n  ```\n"), ["  - one", "      two"]);
  assert.deepEqual(rows("````md\n```ts\nx\n```\n````"), ["    ```ts", "    x", "    ```"]);
  assert.match(rows("say \x01 ``` \x01").join(""), /```/);
});
