// Requests that are alike, answered with one word on the screen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "../../support/sage.ts";
import { sageOnScreen } from "../../support/terminal.ts";

test("three that are alike are listed whole, and one yes is for each of them", async () => {
  const calls = ["a", "二", "c"].map((name) => bash(`cargo test ${name}`));
  await using at = await sageOnScreen([{ calls }, { text: "All done." }], { rows: 30 });
  await at.until("What would you like to do?");
  at.enter("go");
  await at.until("Answer 3 alike together…");
  await at.answer("4", "\r");
  const list = await at.until("Allow all 3 once");
  assert.match(
    list,
    /Run this command\? \(1 of 3\)\n│ cargo test a\n  In ~ on \S+\nRun this command\? \(2 of 3\)\n│ cargo test 二\n  In ~ on \S+\nRun this command\? \(3 of 3\)\n│ cargo test c\n  In ~ on /,
  );
  assert.equal(at.sage.facts().filter(({ type }) => type === "input.resolved").length, 0);
  await at.answer("1", "\r");
  await at.until("All done.");
  const answers = at.sage.facts().flatMap((fact) => (fact.type === "input.resolved" ? [fact.data.outcome] : []));
  assert.deepEqual(answers, ["answered", "answered", "answered"]);
});
