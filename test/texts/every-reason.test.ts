// A reason of every code, thrown as an error: whoever reads it reads a sentence in their language, never the code.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import type { Refused } from "../../src/protocol/host/host.ts";
import { errorOf, refusalOf } from "../../src/protocol/host/refusal.ts";
import { noticeOf, type Reason, SageError } from "../../src/protocol/reasons/reason.ts";
import { errorText, noticeText, thrownText } from "../../src/texts/shared/error.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { deltaInEnglish, outcomeInEnglish, replyInEnglish } from "../../src/view/in-english.ts";
import { everyReason } from "../support/every-reason.ts";

const root = join(import.meta.dirname, "../..");
const languages = ["en", "zh"] as const;
const reasons = everyReason();

function readsAsSentence(text: string, { code }: Reason, lang: "en" | "zh"): void {
  assert.notEqual(text.trim(), "", code);
  assert.notEqual(text, code);
  assert.doesNotMatch(text, /\bundefined\b|\[object Object\]|\bNaN\b/, code);
  if (lang === "zh") assert.match(text, /\p{Script=Han}/u, code);
}

test("every code has a sentence in both languages", () => {
  assert.ok(reasons.length > 400, `found ${reasons.length} codes`);
  for (const lang of languages) for (const why of reasons) readsAsSentence(sentence(why, lang), why, lang);
});

test("a surface reads a sentence: of an error that it caught, of a refusal that crossed a socket, of a notice", () => {
  for (const lang of languages)
    for (const why of reasons) {
      const error = new SageError("turn-failed", why);
      const refused = JSON.parse(JSON.stringify(refusalOf(error))) as Refused;
      const expected = sentence(why, lang);
      assert.equal(thrownText(error, lang), expected);
      assert.equal(thrownText(errorOf(refused), lang), expected);
      assert.equal(errorText(refused, texts(lang)), expected);
      assert.equal(noticeText(noticeOf(why), texts(lang)), expected);
    }
});

test("programs that read no reasons are given English: replies over HTTP, outcomes and deltas of -p", () => {
  for (const why of reasons) {
    const message = sentence(why, "en");
    const refused = refusalOf(new SageError("turn-failed", why));
    assert.deepEqual(replyInEnglish(refused), { ...refused, message });
    const each = { ok: true, results: [{ requestId: "r", ...refused }] } as const;
    assert.deepEqual(replyInEnglish({ ...each, results: [...each.results] }), {
      ok: true,
      results: [{ requestId: "r", ...refused, message }],
    });
    const error = { code: "turn-failed", message: why.code, reason: why } as const;
    assert.deepEqual(outcomeInEnglish({ status: "error", error }), { status: "error", error: { ...error, message } });
    const place = { session: "s", key: "k", attempt: 0, n: 0 };
    assert.equal(deltaInEnglish({ ...place, ...noticeOf(why) }).text, message);
  }
});

for (const lang of languages)
  test(`the command line says a sentence for every error that nothing has caught: ${lang}`, () => {
    const thrower = join(root, "test/support/throw-every-reason.ts");
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--import", thrower, join(root, "src/cli/main.ts"), "--version"],
      { env: { ...process.env, SAGE_LANG: lang, SAGE_DEBUG: "" }, encoding: "utf8" },
    );
    assert.equal(status, 0, stderr);
    const said = JSON.parse(stdout.split("\n").at(-1) ?? "") as Record<string, string>;
    for (const why of reasons) {
      const text = said[why.code] ?? "";
      assert.match(text, /^sage: /, why.code);
      readsAsSentence(text.slice("sage: ".length), why, lang);
    }
  });
