import assert from "node:assert/strict";
import { test } from "node:test";
import { reason, type Reason } from "../../src/protocol/reasons/reason.ts";
import { ageText, durationText } from "../../src/texts/duration.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { answer, rulesOf } from "../permission/asking.ts";
import { everyday, everydayRules } from "../permission/everyday.ts";

const commands = [
  ...Object.values(everyday).flat(),
  ...[
    "ls",
    "if",
    "$X a",
    "cd /tmp && ls",
    "cd $X && ls",
    "export A=b; npm test",
    "A=b npm test",
    "find . -delete",
    "rm -rf ~",
  ],
  ...[
    "echo x > .git/config",
    "cat $X",
    "cat '' a",
    "cat /dev/tty",
    "a\rb",
    "a\u202eb",
    "x".repeat(10_001),
    "for i in a; do b; done",
  ],
  ...[
    "echo `echo '`'`",
    "cat <<EOF",
    "a <<A <<B\nA\nB",
    "echo $((1))",
    "a() { b; }",
    "sage trust",
    "rm -rf $X/*",
    "git -C $X log",
  ],
  ...[
    "ln -s a b && cat b",
    "cat <(ls)",
    "popd",
    "echo {a,b} > c",
    "cat x\u00a0y",
    "{ ls }",
    "! { ls; }",
    "! cd x",
    "a=(b)",
    "tee a b",
  ],
];

test("every reason of a decision has a sentence in both languages, and no English is left in the Chinese one", () => {
  const seen = new Map<string, Reason>();
  const note = (one: Reason) => void seen.set(JSON.stringify(one), one);
  for (const rules of [[], everydayRules, ["+ Bash", "+ Edit(./**)"], ["? Bash", "- Edit(./**)"]])
    for (const command of commands) {
      const { reason: why, parts = [] } = answer(rulesOf(...rules), "Bash", { command });
      for (const one of [why, ...parts.map((part) => part.reason)]) note(one);
    }
  for (const [tool, input] of [
    ["Read", { file_path: "/etc/x" }],
    ["Read", { file_path: 1 }],
    ["Write", { file_path: "a" }],
    ["Write", { file_path: ".git/x" }],
    ["WebFetch", { url: "https://a.org" }],
    ["WebFetch", { url: "http://localhost" }],
    ["WebFetch", { url: "ftp://x" }],
  ] as const)
    note(answer([], tool, input).reason);
  assert.ok(new Set([...seen.values()].map(({ code }) => code)).size > 25, String(seen.size));
  for (const one of seen.values()) {
    const [english, chinese] = [sentence(one, "en"), sentence(one, "zh")];
    assert.match(english, /^[^\p{Script=Han}]+\.$/u, JSON.stringify(one));
    assert.match(chinese, /\p{Script=Han}/u, JSON.stringify(one));
    assert.doesNotMatch(chinese, /\b(is|the|which|covers|because|known|allows)\b/, chinese);
  }
});

test("arguments are kept to the letter, whatever they look like, and reasons nest", () => {
  const path = "/w/$& {path} (a): b";
  assert.equal(sentence(reason("no-rule-write", { path }), "en"), `No rule allows writing ${path}.`);
  assert.equal(sentence(reason("no-rule-write", { path }), "zh"), `没有规则允许写入 ${path}。`);
  const unsafe = reason("repository-unsafe", { why: reason("repository-bare", { path: "/w" }) });
  assert.equal(sentence(unsafe, "en"), "No rule allows it, and git is not safe here: /w looks like a bare repository.");
  assert.equal(sentence(unsafe, "zh"), "没有规则允许，并且在这里运行 git 不安全：/w 像是裸仓库。");
  const rules = [
    { text: "Bash(a, b)", source: "session" as const },
    { text: "Edit(./**)", source: "user" as const },
  ];
  assert.equal(
    sentence(reason("allowed-by-rules", { rules }), "en"),
    "Allowed by Bash(a, b) (this session), Edit(./**) (your settings).",
  );
});

test("a sentence of version 0.1.0 is read as it is, and so is a code of a later version", () => {
  assert.equal(sentence("No rule covers this call.", "zh"), "No rule covers this call.");
  assert.equal(sentence({ code: "of-tomorrow", args: {} } as unknown as Reason, "en"), "of-tomorrow");
});

test("a length of time is told in its largest unit, and in the next smaller one where that would say too little", () => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
  const told: [ms: number, en: string, zh: string][] = [
    [499.6, "500 ms", "500 毫秒"],
    [59.4 * second, "59 s", "59 秒"],
    [59.6 * second, "1 min", "1 分钟"],
    [107 * second, "1 min 47 s", "1 分钟 47 秒"],
    [119.7 * second, "2 min", "2 分钟"],
    [29.6 * minute, "30 min", "30 分钟"],
    [59.8 * minute, "1 h", "1 小时"],
    [90 * minute, "1 h 30 min", "1 小时 30 分钟"],
    [5.4 * hour, "5 h", "5 小时"],
    [23.9 * hour, "1 day", "1 天"],
    [30 * hour, "1 day 6 h", "1 天 6 小时"],
    [47.8 * hour, "2 days", "2 天"],
    [9.4 * day, "9 days", "9 天"],
  ];
  for (const [ms, en, zh] of told) assert.deepEqual([durationText(ms, "en"), durationText(ms, "zh")], [en, zh]);
  const ages = [0, 59.9 * second, 107 * second, 119.9 * minute, 47.9 * hour, 9.9 * day];
  assert.deepEqual(
    ages.map((ms) => ageText(ms, "en")),
    ["1 s", "59 s", "1 min", "1 h", "1 day", "9 days"],
    "an age is told in units that have passed",
  );
});
