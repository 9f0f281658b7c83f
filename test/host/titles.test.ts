import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Model } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { createHost } from "../../src/host/host.ts";
import { config, workspace } from "../support/sage.ts";

/** Says this to everything, and keeps what it was asked. */
function small(text: string | Error): Model & { asked: string[] } {
  const asked: string[] = [];
  return {
    id: "small",
    asked,
    async reply({ messages }, { signal }) {
      asked.push(...messages.map((message) => (message.role === "user" ? message.text : "?")));
      signal.throwIfAborted();
      if (text instanceof Error) throw text;
      return {
        parts: [{ type: "text", text }],
        usage: { ...noUsage, outputTokens: 5 },
        finish: "stop",
        model: "small",
      };
    },
  };
}

async function talk(model: Model, { messages = ["Mend the leak, please."], store = memoryStore(), dir = "" } = {}) {
  const made = config({ script: messages.map((_, n) => ({ text: `reply ${n}` })), dir, store });
  const executor = async () => new TurnExecutor(made, { workingDirectory: dir });
  const host = createHost({ store, version: "test", namer: async () => model, executor });
  const opened = await host.send({ type: "open", cwd: dir });
  assert.ok(opened.ok);
  const { session } = opened;
  for (const text of messages) {
    await host.send({ type: "say", session, text, by: "Ann", surface: "test" });
    assert.equal((await host.run(session)).status, "success");
  }
  const titles = store.since(session, 0).flatMap((fact) => (fact.type === "session.titled" ? [fact.data] : []));
  const title = store.session(session)?.title;
  await host.close();
  return { title, titles };
}

test("the small model names a session once, in one clean line, and what it cost is kept", async () => {
  using here = workspace();
  const model = small('"Mend\u001b[31m the leak."\nHere is why: …');
  const store = sqliteStore(here.path("journal.db"));
  const { title, titles } = await talk(model, { store, dir: here.dir, messages: ["Mend the leak, please.", "thanks"] });
  assert.equal(title, "Mend [31m the leak");
  assert.deepEqual(titles, [
    {
      title: "Mend [31m the leak",
      by: "auto",
      surface: "runtime",
      usage: { ...noUsage, outputTokens: 5 },
      model: "small",
    },
  ]);
  assert.deepEqual(model.asked, ["Mend the leak, please."]);
});

test("a Chinese title keeps its characters and loses its brackets", async () => {
  using here = workspace();
  assert.equal((await talk(small("标题：「修复内存泄漏。」"), { dir: here.dir })).title, "修复内存泄漏");
});

test("without a usable title the first message stays the name", async () => {
  using here = workspace();
  for (const model of [small(new Error("no luck")), small(" \n ")])
    assert.deepEqual(await talk(model, { dir: here.dir }), { title: "Mend the leak, please.", titles: [] });
});
