import assert from "node:assert/strict";
import { test } from "node:test";
import { readResponse } from "../../src/cli/answer/response.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { cliTexts } from "../../src/texts/commands/cli.ts";

test("a question may be called like anything that every object has", async () => {
  const questions = ["__proto__", "constructor", "toString"].map((question, n) => ({
    ...{ question, header: `${n}`, multiSelect: false },
    options: [{ label: "Yes", description: "" }],
  }));
  const request: InputRequest = {
    ...{
      id: "s/t0/0/0/ask0",
      session: "s",
      agent: [],
      source: "tool",
      why: reason("no-output", {}),
      digest: "",
      at: 0,
    },
    ...{ kind: "question", questions },
  };
  const values = { choose: ["constructor=Yes", "toString=Yes"], other: ["__proto__=mine"], nth: undefined };
  const response = await readResponse(request, values, cliTexts("en"));
  assert.ok(response.type === "answers");
  assert.deepEqual(Object.entries(response.answers), [
    ["constructor", { selected: ["Yes"] }],
    ["toString", { selected: ["Yes"] }],
    ["__proto__", { selected: [], other: "mine" }],
  ]);
  assert.equal("other" in {}, false, "nothing else has got an answer");
});
