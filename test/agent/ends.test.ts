import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { CallEnd } from "../../src/protocol/facts/call.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { callEndOf } from "../../src/protocol/facts/message.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

/** How each call of the first reply ended, in the model's order. */
function ends(sage: TestSage): (CallEnd | undefined)[] {
  const finished = sage.facts().filter((fact): fact is Fact<"call.finished"> => fact.type === "call.finished");
  return finished.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ data }) => data.end);
}

test("every call says how it ended: done, failed, refused by a rule, refused by a person, or not run at all", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Bash(echo:*)"), allow("Bash(false)"), { behavior: "deny", text: "Bash(date)", source: "user" }],
    script: [
      {
        calls: [
          bash("echo fine"),
          bash("false"),
          bash("date"),
          bash("touch no"),
          { tool: "Telegraph", input: {} },
          { tool: "Read", input: {} },
        ],
      },
      { text: "ok" },
    ],
  });
  await sage.say("go");
  const [request] = await sage.open();
  await sage.answer({ type: "denied", requestId: request?.id ?? "" });
  await sage.outcome();
  assert.deepEqual(ends(sage), ["done", "failed", "refused-by-rule", "refused-by-person", "not-run", "not-run"]);
});

test("an interrupt ends what ran as stopped, and what had not begun as not run", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("echo begun >> ran; sleep 60"), bash("echo later >> ran")] }, { text: "ok" }],
    permissionMode: "bypass",
  });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  await sage.host.send({ type: "interrupt", session: sage.session, by: "Lin", surface: "test" });
  await sage.outcome();
  assert.deepEqual(ends(sage), ["stopped", "not-run"]);
});

test("nobody to ask is no refusal of a person, and neither is a run that denies everything", async () => {
  for (const [autoResponse, end] of [
    ["default", "not-run"],
    ["alwaysDeny", "refused-by-rule"],
  ] as const) {
    using here = workspace();
    await using sage = await sageWith({
      dir: here.dir,
      options: { mode: { type: "nonInteractive", autoResponse } },
      script: [{ calls: [bash("touch no")] }, { text: "ok" }],
    });
    await sage.say("go");
    await sage.outcome();
    assert.deepEqual(ends(sage), [end]);
  }
});

test("results of version 0.1.0, which had no end, are read", () => {
  assert.equal(callEndOf({ ok: true, text: "" }), "done");
  assert.equal(callEndOf({ ok: false, text: "" }), "failed");
  assert.equal(callEndOf({ ok: false, text: "", refused: true }), "refused-by-person");
});
