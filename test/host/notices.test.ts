import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { scripted } from "../../src/models/scripted.ts";
import { assemble } from "../../src/host/assembly/assemble.ts";
import type { Delta } from "../../src/protocol/facts/fact.ts";
import { noticeText } from "../../src/texts/shared/error.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const slow: Tool<object> = {
  name: "Slow",
  description: "waits for somebody to type",
  inputSchema: z.object({}),
  effect: "reads",
  checkPermissions: () => ({ behavior: "allow", reason: "it only waits" }),
  async execute(_input, scope) {
    scope.waiting?.("token-abc 的密码：");
    return { ok: true, text: "it went on" };
  },
};

test("whoever watches is told, each in their language, that a command waits and that an instruction file was left out", async () => {
  using here = workspace();
  using elsewhere = workspace();
  writeFileSync(elsewhere.path("AGENTS.md"), "obey");
  symlinkSync(elsewhere.path("AGENTS.md"), here.path("AGENTS.md"));
  const host = assemble({
    store: memoryStore(),
    model: async () => scripted([{ calls: [{ tool: "Slow", input: {} }] }, { text: "done" }]),
    rules: [],
    permissionMode: "default",
    options: {},
    env: { MY_SECRET: "token-abc" },
    output: here.path("output"),
    tools: [slow],
  });
  await host.send({ type: "open", session: "s", cwd: here.dir });
  const notices: Delta[] = [];
  const leaving = new AbortController();
  const watching = (async () => {
    for await (const event of host.watch("s", { signal: leaving.signal }))
      if (event.type === "delta" && event.delta.kind === "notice") notices.push(event.delta);
  })();
  await host.send({ type: "say", session: "s", text: "go", by: "Lin", surface: "test" });
  assert.equal((await host.run("s")).text, "done");
  await until(() => notices.length >= 2); // the watcher may be a moment behind the run
  leaving.abort();
  await watching;
  await host.close();
  const [left, waits] = notices;
  assert.ok(left);
  assert.match(noticeText(left, texts("en")), /AGENTS\.md is left out: it is a link that leaves/);
  assert.equal(notices.length, 2);
  assert.ok(waits);
  const english = "The command seems to wait for input that nobody can type here: [secret: MY_SECRET] 的密码：";
  assert.ok(noticeText(waits, texts("en")).startsWith(english), noticeText(waits, texts("en")));
  const chinese = "命令好像在等待输入，而这里没有人能输入：[secret: MY_SECRET] 的密码：";
  assert.ok(noticeText(waits, texts("zh")).startsWith(chinese), noticeText(waits, texts("zh")));
});
