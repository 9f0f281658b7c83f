import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { bash } from "../../support/sage.ts";
import { ask, said, team, until } from "./team.ts";

test("the example dialogue: a task, a permission by a click, a text by a message, and the end", async () => {
  await using sage = await team({
    lang: "zh",
    script: [
      { text: "我来清理。", calls: [bash("rm -f test.js")] },
      { calls: [ask("请输入新的文件名：")] },
      { text: "已改名为 newFile.js。" },
    ],
  });
  const { lin, feishu } = sage;
  writeFileSync(join(sage.cwd, "test.js"), "");
  lin.say("删除 test.js，然后起个新名字");
  const asked = await sage.card(lin.chat, "允许一次");
  assert.match(asked.text, /rm -f test\.js/);
  assert.ok(existsSync(join(sage.cwd, "test.js")));
  const shown = await lin.click(asked.id, "allow_once");
  assert.deepEqual(shown.toast, { type: "success", content: "已允许一次" });
  await sage.sees(lin.chat, /许可：已允许一次[^]*林 在飞书中回答/);
  const text = await sage.sees(lin.chat, /请输入新的文件名/);
  assert.ok(!existsSync(join(sage.cwd, "test.js")));
  lin.say("newFile.js");
  await sage.sees(lin.chat, /任务完成[^]*已改名为 newFile\.js/);
  await sage.surface.settled();
  assert.match(feishu.message(text.id).card ? JSON.stringify(feishu.message(text.id).card) : "", /newFile/);

  const receipts = sage.facts("input.resolved").map(({ data }) => [data.by, data.surface, data.outcome]);
  assert.deepEqual(receipts, [
    [`林 (${lin.openId})`, "feishu", "answered"],
    [`林 (${lin.openId})`, "feishu", "answered"],
  ]);
  assert.equal(sage.facts("turn.ended")[0]?.data.status, "success");
  const all = said(feishu, lin.chat);
  assert.ok(all.every(({ streaming, pings }) => !streaming && pings.length === 0));
  assert.deepEqual(
    // How far it came before the first question depends on the machine.
    all.map(({ text: one }) => one.split("\n")[0]).filter((title) => title !== "目前进展"),
    ["许可：已允许一次", "输入：已回答", "任务完成"],
  );
  await until(() => feishu.world.calls.every(({ code }) => code === 0));
});

test("the demo plays the dialogue and leaves a page that loads and runs nothing", async () => {
  const script = join(import.meta.dirname, "../../../scripts/feishu-demo.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "en"]);
  const html = readFileSync(stdout.trim(), "utf8");
  assert.match(html, /Permission: allowed once[^]*Answered by 林 in Feishu/);
  assert.doesNotMatch(html, /<script|src=|href=|@_user/);
});
