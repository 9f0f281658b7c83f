import type { Preview } from "../../../src/protocol/facts/call.ts";
import type { Inquired } from "../../../src/protocol/facts/inquiry.ts";
import type { RuleTrial } from "../../../src/protocol/host/past.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { colour, keys, opened, permission, questions } from "./asked.ts";
import {
  up,
  down,
  right,
  enter,
  newline,
  esc,
  tab,
  space,
  erase,
  pageDown,
  paste,
  requestId,
  suggestion,
  offered,
  push,
} from "./pressed.ts";

/** As tmux sends it. */
const tmuxEnd = "\x1b[4~";

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
      tryRules: ([rule], told) => {
        ready = told;
        const trial = trials.get(rule!);
        return trial && { trials: [trial], opens: ["other"] };
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
      /Of the last 40 calls it would have allowed 9 without asking; 1 of those a person refused: git push --force.*It answers 1 other open request as well/,
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
