import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { reason, said } from "../../src/protocol/reasons/reason.ts";
import { optionNamed, ownQuestion, questionIn } from "../../src/texts/shared/questions.ts";
import { headline } from "../../src/texts/shared/resolution.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { questionLines } from "../../src/view/lines/request.ts";
import { createPaint } from "../../src/view/lines/paint.ts";

const plainStyle = (lang: "en" | "zh") => ({ t: texts(lang), paint: createPaint(false), width: undefined });

const frame = { source: "recovery", agent: [], why: said(""), digest: "" } as const;
const own = ownQuestion(reason("lost", { tool: "Bash", what: "npm test" }), frame);
const request = { ...own, id: "s/t0/0/0/lost0", session: "s", at: 0 } as InputRequest & { kind: "question" };
const question = request.questions[0] ?? assert.fail();

test("a question of Sage's own is read in the reader's language, and answered with the same words in all of them", () => {
  assert.deepEqual(
    questionIn(question, "zh").options.map(({ id, label }) => [id, label]),
    [
      ["rerun", "重跑"],
      ["done", "算完成"],
      ["stop", "停止"],
    ],
  );
  const zh = questionLines(question, plainStyle("zh")).join("\n");
  assert.match(zh, /\[已中断\] Bash 被中断：npm test/);
  assert.match(zh, /1 .*重跑 — 再运行一次/);
  assert.match(questionLines(question, plainStyle("en")).join("\n"), /1 .*rerun — run it once more/);
  for (const typed of ["rerun", "重跑", " ReRun "]) assert.equal(optionNamed(question, typed)?.label, "rerun", typed);
  assert.equal(optionNamed(question, "再来"), undefined);
});

test("its answer is told in the reader's language where the request is known", () => {
  const answers = { [question.question]: { selected: ["rerun"] } };
  const response = { type: "answers", requestId: request.id, answers } as const;
  const resolution = { requestId: request.id, by: "Lin", surface: "x", at: 0, outcome: "answered", response } as const;
  assert.match(headline(resolution, texts("zh"), undefined, request), /Bash 被中断：npm test → 重跑$/);
  assert.match(headline(resolution, texts("zh")), /npm test → rerun$/);
});

test("an agent's question is in the agent's own words for everybody", () => {
  const asked = {
    question: "Which?",
    header: "H",
    options: [{ label: "stop", description: "d" }],
    multiSelect: false,
  };
  assert.deepEqual(questionIn(asked, "zh"), { ...asked, options: [{ id: "stop", label: "stop", description: "d" }] });
});
