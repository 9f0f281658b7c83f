import assert from "node:assert/strict";
import { test } from "node:test";
import { said } from "../../../src/protocol/reasons/reason.ts";
import { MAX_CARD_BYTES, bytesOf, type Card } from "../../../src/surfaces/feishu/cards/card.ts";
import { closedCard, restartCard, unknownCard } from "../../../src/surfaces/feishu/cards/closed.ts";
import { words as escaped } from "../../../src/surfaces/feishu/cards/escape.ts";
import { helpCard, sessionsCard } from "../../../src/surfaces/feishu/cards/lists.ts";
import { permissionCard } from "../../../src/surfaces/feishu/cards/permission.ts";
import { finishedCard, progressCard } from "../../../src/surfaces/feishu/cards/progress.ts";
import { questionCard, textCard } from "../../../src/surfaces/feishu/cards/question.ts";
import { inEachLanguage, speechesFrom } from "../../../src/surfaces/feishu/cards/speech.ts";
import { asked, en, frame, bash, question, asks, writes, markdowns, valid, resolution } from "./card-requests.ts";

const zh = speechesFrom("zh");
const acts = (card: Card) => [...JSON.stringify(card).matchAll(/"act":"(\w+)"/g)].map(([, act]) => act);

test("a permission shows the command, the rule, and three ways to answer; its buttons carry only a random id", () => {
  const { card, file } = permissionCard(bash("rm -f test.js"), asked(), en);
  valid(card);
  assert.equal(file, undefined);
  assert.deepEqual(acts(card), ["allow_once", "allow_always", "deny"]);
  const shown = markdowns(card).join("\n");
  assert.ok(shown.includes("```bash\nrm -f test.js\n```"));
  assert.ok(shown.includes("`Bash(rm -f test.js)`"));
  for (const [value] of JSON.stringify(card).matchAll(/"value":\{[^}]*\}/g)) {
    assert.match(value, /^"value":\{"k":"perm","rid":"[0-9a-f]{24}","act":"\w+","g":1\}$/);
  }
});

test("what only a person may allow offers no rule, and a deadline is shown", () => {
  const request = bash("git push", {
    hard: true,
    suggestions: [],
    deadline: { at: 300_000, timeoutMs: 300_000, policy: "cancel" },
  });
  const { card } = permissionCard({ ...request, agent: ["claude"] }, asked({ carried: true }), zh);
  valid(card);
  assert.deepEqual(acts(card), ["allow_once", "deny"]);
  assert.match(markdowns(card).join("\n"), /claude 在请求时被停止；它继续时会得知你的回答/);
  assert.match(
    markdowns(card).join("\n"),
    /<local_datetime millisecond='300000' format_type='time'><\/local_datetime> 前无人回答，任务将被取消。/,
  );
});

test("an edit is a diff, with every path it leads to", () => {
  const request = bash("", {
    tool: "Edit",
    input: { file_path: "/w/a.ts", old_string: "一", new_string: "二" },
    suggestions: [],
    preview: {
      path: "/elsewhere/a.ts",
      outside: true,
      firstLine: 1,
      lines: [
        { mark: "-", text: "一" },
        { mark: "+", text: "二" },
      ],
    },
  });
  const { card } = permissionCard(request, asked(), zh);
  valid(card);
  const shown = markdowns(card).join("\n");
  assert.ok(shown.includes("```diff\n- 一\n+ 二\n```"), shown);
  assert.ok(shown.includes("→ /elsewhere/a.ts"));
});

test("what does not fit is not approved unread: a file with all of it, and no allow before it is read", () => {
  const command = Array.from({ length: 3_000 }, (_, n) => `echo line ${n} of many`).join("\n");
  const first = permissionCard(bash(command), asked({ file: "sent" }), en);
  valid(first.card);
  assert.ok(bytesOf(first.card) <= MAX_CARD_BYTES);
  assert.deepEqual(acts(first.card), ["read", "deny"]);
  assert.ok(first.file?.text.includes(command));
  const shown = markdowns(first.card).join("\n");
  assert.match(shown, /‹… [\d,]+ lines .* omitted …›/);
  assert.ok(shown.includes(escaped(first.file?.name ?? "?")));
  assert.deepEqual(acts(permissionCard(bash(command), asked({ file: "read" }), en).card), [
    "allow_once",
    "allow_always",
    "deny",
  ]);
  const unsent = permissionCard(bash(command), asked({ file: "failed" }), en).card;
  assert.deepEqual(acts(unsent), ["deny"]);
  assert.match(JSON.stringify(unsent), /sage answer/);
});

test("a long line is broken in sight, and its sign cannot be spelled", () => {
  const { card } = permissionCard(bash(`echo ${"x".repeat(200)} ↪ y`), asked(), en);
  const shown = markdowns(card).join("\n");
  assert.match(shown, /\n↪ x+/);
  assert.ok(shown.includes("‹U+21AA›"));
});

test("several questions are one form, with room for other answers; one question is buttons", () => {
  const many = questionCard(
    asks(question("用哪个数据库？"), question("Which targets?", ["CLI", "Web", "Docs"], true)),
    asked(),
    zh,
  ).card;
  valid(many);
  assert.deepEqual(acts(many), ["submit", "decline", "stop"]);
  assert.match(JSON.stringify(many), /"multi_select_static"/);
  assert.match(JSON.stringify(many), /"q1_other"/);
  const one = questionCard(asks(question("Which one?")), asked(), en).card;
  valid(one);
  assert.deepEqual(acts(one), ["pick0", "pick1", "submit", "decline", "stop"]);
});

test("what follows an interrupted command has its options and no other answer", () => {
  const { card } = questionCard(
    { ...asks(question("What now?", ["rerun", "done", "stop"])), source: "recovery" },
    asked(),
    en,
  );
  valid(card);
  assert.deepEqual(acts(card), ["pick0", "pick1", "pick2", "decline", "stop"]);
});

test("long questions and prompts fit, and say what they leave out", () => {
  for (const { card, file } of [
    questionCard(asks(question("为什么？".repeat(20_000)), question("b".repeat(30_000))), asked({ file: "sent" }), en),
    textCard(writes("请输入".repeat(20_000)), asked({ file: "sent" }), en),
  ]) {
    valid(card);
    assert.ok(bytesOf(card) <= MAX_CARD_BYTES);
    assert.ok(file && file.text.length > 30_000);
  }
});

test("an answered card says who, where and what, and has nothing to click", () => {
  const granted = resolution({
    outcome: "answered",
    response: {
      type: "granted",
      requestId: frame.id,
      rules: [{ rule: "Bash(ls)", behavior: "allow", destination: "session" }],
    },
  });
  for (const [request, end] of [
    [bash("ls"), granted],
    [
      bash("ls"),
      resolution({
        outcome: "answered",
        by: "Lin",
        surface: "plain",
        response: { type: "denied", requestId: frame.id, reason: "改用 git" },
      }),
    ],
    [
      asks(question("Which?")),
      resolution({
        outcome: "answered",
        response: { type: "answers", requestId: frame.id, answers: { "Which?": { selected: ["SQLite"], other: "x" } } },
      }),
    ],
    [writes("Name?"), resolution({ outcome: "timed_out", by: "deadline", surface: "deadline" })],
    [writes("Name?"), resolution({ outcome: "superseded", by: "Lin", surface: "rule" })],
    [bash("x".repeat(100_000)), resolution({ outcome: "cancelled" })],
  ] as const) {
    const card = closedCard(request, end, { now: 0 }, en);
    valid(card);
    assert.deepEqual(acts(card), []);
    assert.doesNotMatch(JSON.stringify(card), /ou_1/);
  }
  assert.match(JSON.stringify(closedCard(bash("ls"), granted, { now: 0 }, en)), /Answered by Lin in Feishu/);
});

test("progress, lists and notices are valid in both languages", () => {
  for (const speeches of [en, zh]) {
    const steps = Array.from({ length: 500 }, (_, n) => ({
      tool: "Bash",
      about: `ls ${n}`,
      standing: "done" as const,
    }));
    const view = { text: "# 好\n\n```ts\nconst a = 1;\n```", steps, live: ["a", "b"] };
    valid(progressCard(view, { rid: "r", streaming: true }, speeches));
    valid(progressCard({ text: "", steps: [], live: [] }, { rid: "r", streaming: false }, speeches));
    valid(finishedCard(view, { in: ({ t }) => ({ title: t.done, template: "green", notes: ["x"] }) }, speeches).card);
    valid(restartCard(true, speeches));
    valid(unknownCard(speeches));
    valid(helpCard(speeches));
    const sessions = Array.from({ length: 30 }, (_, n) => ({
      id: `s${n}`,
      cwd: "/w",
      title: "修复 <at id=all></at>",
      at: 0,
      lastAt: 0,
      state: "idle" as const,
      pending: 0,
    }));
    valid(sessionsCard(sessions, { now: 0, current: "s1", ridOf: (id) => `r-${id}` }, speeches));
  }
});

test("a step says how its call stands and who changed it: refused by a rule is not failed", () => {
  const who = { by: "林 (ou_1)", surface: "feishu" };
  const steps = [
    { tool: "Bash", about: "rm -rf /", standing: "refused-by-rule" as const },
    { tool: "Bash", about: "ls -l", standing: "done" as const, changed: { by: "person" as const, who } },
    { tool: "Edit", about: "a.ts", standing: "failed" as const },
  ];
  const view = { text: "x", steps, live: [] };
  const { card } = finishedCard(view, { in: ({ t }) => ({ title: t.done, template: "green", notes: [] }) }, zh);
  valid(card);
  const shown = markdowns(card).join("\n");
  assert.match(shown, /⊘ \*\*Bash\*\* `rm -rf \/` · 被规则拒绝/);
  assert.match(shown, /✓ \*\*Bash\*\* `ls -l` · .*林/);
  assert.match(shown, /✗ \*\*Edit\*\* `a.ts` · 失败/);
  assert.doesNotMatch(JSON.stringify(card), /ou_1/);
});

test("a long answer is cut and known to be, and names its file only when it has arrived", () => {
  const view = { text: "字".repeat(40_000), steps: [], live: [] };
  for (const attached of [true, false]) {
    const { card, cut } = finishedCard(
      view,
      { in: ({ t }) => ({ title: t.done, template: "green", notes: [] }), attached },
      en,
    );
    valid(card);
    assert.ok(cut && bytesOf(card) <= MAX_CARD_BYTES);
    assert.equal(
      JSON.stringify(card).includes("answer.md"),
      !JSON.stringify(card).includes("could not be sent") && attached,
    );
    assert.equal(/could not be sent/.test(JSON.stringify(card)), !attached);
  }
});

test("the past of an offered rule stands below it in both languages, and nothing in it is taken for markup", () => {
  const rule = "Bash(git push:*)";
  const offered = { type: "addRule", rule, behavior: "allow", destination: "session" } as const;
  const refused = { id: "a", session: "s", cwd: "/", at: 1, tool: "Bash", decision: "asked" } as const;
  const surprising = [
    { ...refused, input: { command: "git push <at id=all></at> **x**" }, asked: { answer: "no" as const } },
  ];
  const trial = { rule, behavior: "allow" as const, calls: 20, changed: 3, against: 1, surprising };
  const { card } = permissionCard(bash("git push", { suggestions: [offered] }), asked({ past: [trial] }), zh);
  valid(card);
  const all = JSON.stringify(card);
  assert.match(all, /最近 20 次调用中，它会让 3 次不经询问就获准；其中 1 次曾被人拒绝：git push/);
  assert.match(
    all,
    /Of the last 20 calls it would have allowed 3 without asking; 1 of those a person refused&#58; git push/,
  );
  assert.doesNotMatch(all, /<at id=all>|\*\*x/);
});

test("each reader sees a card in the language of their client: what is the same in both stands there once", () => {
  const { card } = permissionCard(bash("rm -f test.js"), asked(), zh);
  valid(card);
  const title = (card.header["title"] ?? {}) as Record<string, unknown>;
  assert.deepEqual(title, {
    tag: "plain_text",
    content: "需要许可",
    i18n_content: { zh_cn: "需要许可", en_us: "Permission needed" },
  });
  assert.equal(JSON.stringify(card).split("rm -f test.js\\n```").length, 2, "the command itself is not doubled");
  const parts = markdowns(card).join("\n");
  assert.doesNotMatch(parts, /[a-z]{3,} [a-z]{3,} [a-z]{3,}(?=[^`]*$)/i, "no English sentence for Chinese readers");
});

test("cards that differ in more than their texts are shown in the first language", () => {
  const odd = inEachLanguage(zh, ({ lang }) => ({
    schema: "2.0",
    config: {},
    header: { title: { tag: "plain_text", content: lang } },
    body: { vertical_spacing: "8px", elements: lang === "en" ? [] : [{ tag: "hr" }] },
  }));
  assert.deepEqual(odd.header, { title: { tag: "plain_text", content: "zh" } });
});

test("what most need not read is folded: options, parts, paths; outside of the folder nothing is", () => {
  const request = bash("make > out.txt", {
    input: { command: "make > out.txt", timeout: 120_000 },
    parts: [
      { text: "make", behavior: "ask", reason: said("no rule") },
      { text: "> out.txt", behavior: "ask", reason: said("writes"), writes: [{ path: "/w/out.txt" }] },
    ],
  });
  const { card } = permissionCard(request, asked(), en);
  const plain = card.body.elements.filter(({ tag }) => tag !== "collapsible_panel");
  const folded = card.body.elements.filter(({ tag }) => tag === "collapsible_panel");
  assert.doesNotMatch(JSON.stringify(plain), /120000|\/w\/out\.txt|Part by part/);
  assert.match(JSON.stringify(folded), /timeout: 120000[^]*/);
  assert.match(JSON.stringify(folded), /\/w\/out\.txt/);
  assert.ok(folded.every(({ expanded }) => expanded === false));
  const [part] = request.parts ?? [];
  const leaving = { ...request, parts: [{ ...part!, writes: [{ path: "/etc/x", outside: true as const }] }] };
  const { card: loud } = permissionCard(leaving, asked(), en);
  assert.match(JSON.stringify(loud.body.elements.filter(({ tag }) => tag !== "collapsible_panel")), /\/etc\/x/);
});
