import assert from "node:assert/strict";
import { test } from "node:test";
import { sentence } from "../../src/texts/reasons.ts";
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

test("on a Chinese screen every reason of a decision is Chinese, and on an English one it is as it was", () => {
  const seen = new Set<string>();
  for (const rules of [[], everydayRules, ["+ Bash", "+ Edit(./**)"], ["? Bash", "- Edit(./**)"]])
    for (const command of commands) {
      const { reason, parts = [] } = answer(rulesOf(...rules), "Bash", { command });
      for (const one of [reason, ...parts.map((part) => part.reason)]) seen.add(sentence(one, "en"));
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
    seen.add(sentence(answer([], tool, input).reason, "en"));
  seen.delete("");
  assert.ok(seen.size > 60, String(seen.size));
  for (const reason of seen) {
    const words = sentence(reason, "zh");
    assert.match(words, /\p{Script=Han}/u, reason);
    assert.doesNotMatch(words, /\b(is|the|which|covers|because|known)\b(?! \()/, `${reason} → ${words}`);
    assert.equal(sentence(reason, "en"), reason);
  }
});

test("what a reason is about is kept to the letter, whatever it looks like", () => {
  assert.equal(
    sentence("writes /w/$& (a): b: no Edit rule covers it", "zh"),
    "写入 /w/$& (a): b：没有 Edit 规则涵盖它",
  );
  assert.equal(
    sentence("No rule covers this call (/w/a is protected: keys and credentials).", "zh"),
    "没有规则涵盖这次调用（/w/a 受保护：密钥和凭据）。",
  );
  assert.equal(
    sentence("Allowed by the rules Bash(a, b) of this session, Edit(./**) of your own settings.", "zh"),
    "由这些规则共同允许：Bash(a, b)（本会话），Edit(./**)（你自己的设置）。",
  );
  assert.equal(sentence("a hook said so", "zh"), "a hook said so");
});
