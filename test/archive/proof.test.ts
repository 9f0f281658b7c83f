// Receipts for others: a program without Sage accepts what was exported, and nothing that was changed since.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { publicPart, signedReceipts } from "../../src/archive/proof.ts";
import { receiptKey } from "../../src/config/home/keys.ts";
import { createRedaction } from "../../src/config/secrets/redact.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const verifier = fileURLToPath(new URL("../../docs/verify-receipts.mjs", import.meta.url));
const secret = "sk-hunter2-hunter2-hunter2";

test("others check receipts without Sage, also redacted ones, and notice whatever was changed", async () => {
  using here = workspace();
  const script = [{ calls: [bash(`touch a # ${secret}`), bash("touch 二")] }, { text: "done" }];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say(`remember ${secret}`);
  for (const { id } of await sage.open(2)) await sage.answer({ type: "granted", requestId: id });
  await sage.outcome();
  const env = { SAGE_KEYS: "file", MY_TOKEN: secret };
  const home = { keys: here.path("keys.json") };
  const key = receiptKey(home, env);
  assert.equal(receiptKey(home, env), key, "it is made once");
  const redaction = createRedaction(env);
  const lines = [...signedReceipts(sage.facts(), { key, redaction, record: "anchored", at: 0 })];
  assert.ok(!lines.join("").includes("hunter2") && redaction.removed() > 0);
  const bodies = lines.map((line) => JSON.parse(line) as { type?: string; salt?: string; redacted?: unknown });
  assert.ok(bodies.some(({ salt }) => salt) && bodies.some(({ redacted }) => redacted));
  assert.ok(
    bodies.every(({ salt, redacted }) => !(salt && redacted)),
    "no salt beside what was taken out",
  );

  const file = here.path("receipts.jsonl");
  const check = (written: readonly string[], ...expected: string[]) => {
    writeFileSync(file, written.join(""));
    return spawnSync(process.execPath, [verifier, file, ...expected], { encoding: "utf8" });
  };
  const good = check(lines, publicPart(key));
  assert.match(good.stdout, new RegExp(`^valid: session ${sage.session}, ${lines.length - 1} facts`), good.stderr);
  assert.ok(readFileSync(verifier, "utf8").split("\n").length <= 45, "the docs say that it is small");

  const [head, ...facts] = lines as [string, ...string[]];
  const at = facts.findIndex((line) => line.includes('"input.resolved"'));
  const masked = facts.findIndex((line) => line.includes('"redacted"'));
  const other = [
    ...signedReceipts(sage.facts(), {
      key: receiptKey({ keys: here.path("other.json") }, env),
      redaction,
      record: "anchored",
      at: 0,
    }),
  ];
  const changes: [string, string[], string?][] = [
    ["who answered", [head, ...facts.with(at, facts[at]!.replace('"by":"Lin"', '"by":"Mei"'))]],
    ["a body and its digest", [head, ...facts.with(at, facts[at]!.replace(/"digest":"./, '"digest":"_'))]],
    ["the words in place of a secret", [head, ...facts.with(masked, facts[masked]!.replace("[secret", "[nothing"))]],
    ["when it was", [head, ...facts.with(at, facts[at]!.replace(/"at":\d/, '"at":9'))]],
    ["the order", [head, ...facts.toReversed()]],
    ["a fact less", [head, ...facts.toSpliced(at, 1)]],
    ["the last one gone", [head, ...facts.slice(0, -1)]],
    ["a fact twice", [head, ...facts.toSpliced(at, 0, facts[at]!)]],
    ["what the record is said to be", [head.replace('"anchored"', '"chained_"'), ...facts]],
    ["another key", other, publicPart(key)],
  ];
  for (const [what, written, expected] of changes) {
    const { status, stderr } = check(written, ...(expected ? [expected] : []));
    assert.equal(status, 1, what);
    assert.match(stderr, /^NOT VALID/, what);
  }
});
