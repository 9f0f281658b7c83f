import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../support/properties.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import { MAX_CARD_BYTES, bytesOf } from "../../../src/surfaces/feishu/cards/card.ts";
import { closedCard } from "../../../src/surfaces/feishu/cards/closed.ts";
import {
  code,
  inline,
  markdownOf,
  plainWords,
  redacted,
  words as escaped,
} from "../../../src/surfaces/feishu/cards/escape.ts";
import { sessionsCard } from "../../../src/surfaces/feishu/cards/lists.ts";
import { permissionCard } from "../../../src/surfaces/feishu/cards/permission.ts";
import { finishedCard } from "../../../src/surfaces/feishu/cards/progress.ts";
import { questionCard, textCard } from "../../../src/surfaces/feishu/cards/question.ts";
import { createRedaction } from "../../../src/config/secrets/redact.ts";
import { checkCard } from "../../support/feishu/card-check.ts";
import { asked, en, bash, question, asks, writes, markdowns, valid, resolution } from "./card-requests.ts";

const hostile = [
  "<at id=all></at>",
  '<at user_id="all">everyone</at>',
  "[click](https://evil.example)",
  "![x](https://evil.example/i.png)",
  "https://evil.example/path",
  "```\n<at id=all></at>\n```",
  "````\n[a](b)",
  "a\n```\n**Allowed by Lin**",
  "<font color='green'>ok</font>",
  "<person id='ou_1'></person>",
  "[x]: https://evil.example",
  "\u202Egnp.exe",
  "| a | b |\n|---|---|\n| <at id=all></at> | 1 |",
  "\\[x](https://evil.example)",
  "`<at id=all></at>`",
  "`a` [b](https://e.example) `c`",
];

/** True if the client would make anything of it: a tag outside of code, a link, a mention anywhere. */
function obeyed(markdown: string): string | undefined {
  if (/<\/?(at|person|font|link|text_tag|a|img)\b/i.test(markdown)) return "a tag";
  const outside = markdown
    .split(/^```.*$/m)
    .filter((_, n) => n % 2 === 0)
    .join("\n")
    .replace(/`[^`\n]*`/g, "");
  if (/\]\s*\(/.test(outside) || /\]:/.test(outside) || /https?:\/\//.test(outside)) return "a link";
  if ((markdown.match(/^```/gm) ?? []).length % 2 === 1) return "an open fence";
  if (/[\u202a-\u202e\u2066-\u2069]/.test(markdown)) return "a turn of direction";
  return undefined;
}

test("hostile text is text wherever it stands", () => {
  for (const text of hostile) {
    for (const made of [escaped(text), code(text.split("\n")), inline(text), markdownOf(text)])
      assert.equal(obeyed(made), undefined, `${JSON.stringify(text)} became ${JSON.stringify(made)}`);
    assert.doesNotMatch(plainWords(text), /<at/);
    const cards = [
      permissionCard(bash(text, { description: text, why: said(text), agent: [text] }), asked(), en).card,
      permissionCard(bash("", { tool: text, input: { [text]: text }, suggestions: [] }), asked(), en).card,
      questionCard(asks(question(text, [text, "b"]), question(`${text}2`, [text, "b"], true)), asked(), en).card,
      questionCard(asks(question(text, [text, "b"])), asked(), en).card,
      textCard(writes(text), asked(), en).card,
      closedCard(
        writes(text),
        resolution({ outcome: "answered", by: text, response: { type: "text", requestId: "x", text } }),
        { now: 0 },
        en,
      ),
      finishedCard(
        { text, steps: [{ tool: text, about: text, standing: "done" }], live: [] },
        { in: () => ({ title: text, template: "green", notes: [text] }) },
        en,
      ).card,
      sessionsCard(
        [{ id: "s", cwd: text, title: text, at: 0, lastAt: 0, state: "idle", pending: 0 }],
        { now: 0, ridOf: () => "r" },
        en,
      ),
    ];
    for (const card of cards) {
      valid(card);
      for (const made of markdowns(card)) assert.equal(obeyed(made.replaceAll("<br>", "\n")), undefined, made);
      assert.doesNotMatch(JSON.stringify(card), /[\u202a-\u202e\u2066-\u2069]/);
    }
  }
});

test("any text makes a valid card within the limits", () => {
  const pieces = fc.array(fc.constantFrom(...hostile, "字", " ", "\n", "`", "x".repeat(500), "\t", "🙂"), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(pieces, (some) => {
      const text = some.join("") || "x";
      for (const { card } of [
        permissionCard(bash(text), asked(), en),
        questionCard(asks(question(text)), asked(), en),
        textCard(writes(text), asked(), en),
      ]) {
        assert.equal(checkCard(card), undefined);
        assert.ok(bytesOf(card) <= MAX_CARD_BYTES);
      }
    }),
    { numRuns: 60 },
  );
});

test("what is code stays code, and headings, lists and emphasis stay", () => {
  assert.equal(
    markdownOf("# 标题\n\n- **a** `b`\n\n```ts\na < b && c[0]\n```"),
    "# 标题\n\n- **a** `b`\n\n```ts\na < b && c[0]\n```",
  );
  assert.equal(markdownOf("see https://a.example/b."), "see `https://a.example/b.`");
  assert.equal(markdownOf("| a |\n|---|\n| 1 |"), "```text\n| a |\n|---|\n| 1 |\n```");
  assert.equal(markdownOf("```\nopen"), "```\nopen\n```");
  // Read line by line the link is code; read as one paragraph it is not.
  assert.doesNotMatch(markdownOf("a `b\nc` [click](https://x.example) `d"), /`[^`]*`[^`]*\[click\]\(/);
  assert.equal(markdownOf("a `b"), "a &#96;b");
  assert.equal(plainWords("[click](https://x.example)"), "[click]‹U+0028›https://x.example)");
});

test("secrets stay here, and how many there were is said; program, path and host stay legible", () => {
  const redaction = createRedaction({ DB_PASSWORD: "hunter2hunter2" });
  const line = `curl -H "Authorization: Bearer ${"a1".repeat(15)}" https://u:passw0rd@api.example/v1 # hunter2hunter2 ghp_${"16C7e42F29".repeat(4).slice(0, 36)}`;
  const { value, masked } = redacted(bash(line, { suggestions: [] }), redaction);
  assert.equal(masked, 4);
  const text = JSON.stringify(permissionCard(value, asked({ masked }), en).card);
  for (const secret of ["hunter2hunter2", "passw0rd", "a1a1a1", "16C7e42F29"])
    assert.ok(!text.includes(secret), secret);
  for (const legible of ["curl", "api.example/v1"]) assert.ok(text.includes(legible), legible);
  assert.match(text, /4 secrets removed/);
});
