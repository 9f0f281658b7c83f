import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { noteOf } from "../../src/view/note.ts";

test("a reason of two lines is two lines, and none of them spells a line break", () => {
  const why = reason("spinning", { times: 3, calls: [{ tool: "Bash", input: "ls" }] });
  const request: InputRequest = {
    ...{ id: "s:t0", session: "s", at: 0, agent: [], digest: "", source: "recovery", kind: "question", why },
    questions: [],
  };
  const lines = requestLines(request, { t: texts("en"), paint: createPaint(false), width: 80 });
  assert.deepEqual(lines.slice(2, 4), ["  The agent did the same 3 times, with the same result:", "  Bash ls"]);
  assert.doesNotMatch(lines.join("\n"), /U\+000A/);
});

test("a call that was cut off is told once, and as unknown only where it is", () => {
  const cases = [
    [reason("end-unknown", {}), "Cut off: Sage was stopped while this ran; how it ended is unknown.", 1],
    [reason("outlived-and-killed", {}), "Cut off: It outlived Sage and was killed at the person's request.", 0],
  ] as const;
  for (const [why, line, times] of cases) {
    const told = (lang: "en" | "zh") =>
      noteOf({ type: "lost", at: 0, call: undefined, reason: why }, texts(lang))?.line;
    assert.equal(told("en"), line);
    assert.equal(told("zh")?.split("未知").length, times + 1);
  }
});
