import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { modeOf } from "../../../src/protocol/facts/session.ts";
import { actsOf } from "../../support/slash.ts";
import { sageOnScreen } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";

const SHIFT_TAB = "\x1b[Z";

suite("modes on a terminal", () => {
  test("Shift-Tab goes through the modes, and the foot shows the one that holds", async () => {
    await using at = await sageOnScreen([], {});
    await at.until("What would you like to do?");
    at.press(SHIFT_TAB);
    await at.until("accept edits (Shift-Tab)");
    at.press(SHIFT_TAB);
    await at.until("plan mode (Shift-Tab)");
    at.press(SHIFT_TAB);
    await at.until("Mode changed by you: ask.");
    assert.doesNotMatch((await at.screen.rows()).join("\n"), /\(Shift-Tab\)/);
    at.enter("/mode");
    await at.until("Mode: ask. Change it with /mode ask | accept-edits | plan");
    at.enter("/mode plan");
    await at.until("plan mode (Shift-Tab)");
    assert.equal(modeOf(at.sage.facts()), "plan");
  });

  test("/plan says the task in plan mode; the plan is approved with accepting edits in two keys", async () => {
    await using at = await sageOnScreen(
      [
        {
          calls: [
            { tool: "ExitPlanMode", input: { plan: "# 计划\n\n1. 写 `a.txt`\n\n<!-- 藏 -->\n\n```sh\nls -la\n```" } },
          ],
        },
        { calls: [{ tool: "Write", input: { file_path: "a.txt", content: "hi\n" } }] },
        { text: "All done." },
      ],
      {},
    );
    await at.until("What would you like to do?");
    at.enter("/plan 改一改");
    const panel = await at.until("Approve this plan?");
    assert.match(panel, /│ 计划\n│\n│ 1\. 写 a\.txt\n/, "laid out");
    assert.match(panel, /│ {3}ls -la/);
    assert.doesNotMatch(panel, /# 计划|```/);
    await at.answer("\t");
    await at.until("│ # 计划");
    assert.match(await at.until("```sh"), /│ <!-- 藏 -->/, "as it is written");
    await at.answer("\t");
    await at.until("│ 计划");
    assert.match(panel, /1\.? +Approve\n?/);
    assert.doesNotMatch(panel, /only a person can allow/);
    await at.answer("2", "\r");
    const shown = await at.until("All done.");
    assert.match(shown, /ExitPlanMode 计划/);
    assert.doesNotMatch(shown, /The person/);
    assert.ok(existsSync(join(at.sage.store.session(at.sage.session)?.cwd ?? "", "a.txt")));
    assert.equal(modeOf(at.sage.facts()), "acceptEdits");
  });

  test("Shift-Tab in the panel of an edit goes to the choice that accepts edits from now on, and Enter makes it", async () => {
    const write = (name: string) => ({
      calls: [{ tool: "Write", input: { file_path: name, content: `${name}\n` } }],
    });
    await using at = await sageOnScreen([write("a.txt"), write("b.txt"), { text: "All done." }], {});
    await at.until("What would you like to do?");
    at.enter("go");
    await at.until("2 Allow, and accept edits from now on (Shift-Tab)");
    await at.answer(SHIFT_TAB);
    assert.match(await at.until("❯ 2 Allow, and accept"), /Enter confirm/);
    assert.equal(modeOf(at.sage.facts()), "ask", "a key alone changes nothing");
    await at.answer("\r");
    await at.until("All done.");
    assert.equal(modeOf(at.sage.facts()), "acceptEdits");
    const cwd = at.sage.store.session(at.sage.session)?.cwd ?? "";
    assert.ok(existsSync(join(cwd, "a.txt")) && existsSync(join(cwd, "b.txt")));
    assert.equal(at.sage.facts().filter(({ type }) => type === "input.requested").length, 1);
  });

  test("a plan that is to be changed goes back with the words, and the session stays in plan mode", async () => {
    await using at = await sageOnScreen(
      [{ calls: [{ tool: "ExitPlanMode", input: { plan: "write a.txt" } }] }, { text: "Understood." }],
      {},
    );
    await at.until("What would you like to do?");
    at.enter("/plan go");
    await at.until("Approve this plan?");
    await at.answer("3", "\r");
    await at.until("Tell the agent what to change:");
    await at.answer("先写测试", "\r");
    await at.until("Understood.");
    assert.match(at.sage.result(0, 0), /先写测试/);
    assert.equal(modeOf(at.sage.facts()), "plan");
  });
});

test("commands are found under the names that other agents have for them, a slip is answered with what was meant, ? is help", async () => {
  const ran: string[] = [];
  const act = (name: string) => async (args: string) => void ran.push(`${name} ${args}`);
  await using at = await sageOnScreen([], { acts: actsOf({ rewind: act("rewind"), tasks: act("tasks") }) });
  await at.until("What would you like to do?");
  at.enter("/undo t0");
  await at.until("❯ /rewind t0");
  at.enter("/taks");
  await at.until("Unknown command /taks. Did you mean /tasks?");
  at.enter("/xyzzyxyzzy");
  await at.until("Unknown command /xyzzyxyzzy. Try /help.");
  at.enter("?");
  await at.until("Enter sends");
  assert.deepEqual(ran, ["rewind t0"]);
  at.enter("exit");
  await until(() => at.ended()?.why === "left", "the end");
});
