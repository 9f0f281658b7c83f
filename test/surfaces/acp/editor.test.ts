import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { methods } from "@agentclientprotocol/sdk";
import { createHost } from "../../../src/host/host.ts";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../../src/protocol/facts/answer.ts";
import { ofKind, openEditor } from "../../support/acp.ts";
import { asks, bash, Machine } from "../../support/cli.ts";
import { until, untilGone } from "../../support/until.ts";

const here = new Machine();
const open: { close(): Promise<void> }[] = [];
after(async () => {
  await Promise.all(open.map((editor) => editor.close()));
  here[Symbol.dispose]();
});

async function editorWith(...given: Parameters<typeof openEditor>) {
  const editor = await openEditor(...given);
  open.push(editor);
  return editor;
}

const write = (name: string, content: string) => ({ tool: "Write", input: { file_path: name, content } });
const allow = { outcome: { outcome: "selected", optionId: "allow" } };
const form = { elicitation: { form: {} } };

/** Another surface on the same journal. */
async function elsewhere(answer: (requestId: string) => InputResponse) {
  const store = sqliteStore(join(here.env["SAGE_HOME"] ?? "", "journal.db"));
  const executor = () => Promise.reject(new Error("nothing runs here"));
  const host = createHost({ store, version: "test", executor });
  const [request] = await until(() => (store.pending().length > 0 ? store.pending() : undefined));
  const reply = await host.send({ type: "respond", response: answer(request?.id ?? ""), by: "lin", surface: "phone" });
  await host.close();
  return reply;
}

suite("sage acp", () => {
  test("a whole conversation: permission with a diff, a question in a form, a plan, modes, commands, and nothing but protocol on stdout", async (t) => {
    const todos = [
      { content: "写文档", status: "in_progress" },
      { content: "ship", status: "pending" },
    ];
    const model = here.script(
      { text: "I will write.", calls: [write("a.txt", "一\n二\n"), { tool: "TodoWrite", input: { todos } }] },
      { calls: [asks({ question: "Which colour?", labels: ["Red", "Blue"] })] },
      { text: "All done." },
      { text: "Second." },
    );
    const editor = await editorWith(here, { model, capabilities: form });
    const { agent, updates } = editor;
    assert.equal(editor.initialized.protocolVersion, 1);
    assert.equal(editor.initialized.agentCapabilities?.loadSession, true);
    const made = await agent.request(methods.agent.session.new, { cwd: here.cwd, mcpServers: [] });
    const { sessionId } = made;
    assert.deepEqual(
      made.modes?.availableModes.map(({ id }) => id),
      ["ask", "acceptEdits", "plan"],
    );
    assert.equal(made.configOptions?.find(({ id }) => id === "model")?.category, "model");

    const turn = editor.prompt(sessionId, "go");
    const permission = await editor.permission();
    const { toolCall, options } = permission.params;
    assert.equal(toolCall.kind, "edit");
    assert.deepEqual(toolCall.content?.[0], {
      ...{ type: "diff", path: join(here.cwd, "a.txt"), oldText: null, newText: "一\n二" },
    });
    assert.deepEqual(toolCall.locations, [{ path: join(here.cwd, "a.txt") }]);
    assert.deepEqual(
      options.map(({ optionId, kind }) => [optionId, kind]).filter(([id]) => id !== "always-local"),
      [
        ["allow", "allow_once"],
        ["always-session", "allow_always"],
        ["refuse", "reject_once"],
        ["stop", "reject_once"],
      ],
    );
    permission.answer(allow);
    const asked = await editor.form();
    assert.ok("requestedSchema" in asked.params);
    assert.match(asked.params.message, /Which colour\?/);
    const { properties } = asked.params.requestedSchema as { properties: Record<string, unknown> };
    assert.deepEqual(Object.keys(properties), ["question_1", "question_1_other"]);
    asked.answer({ action: "accept", content: { question_1: "Red", question_1_other: "紫色" } });
    assert.deepEqual(await turn, { stopReason: "end_turn" });

    assert.equal(here.file("a.txt"), "一\n二\n");
    assert.equal(editor.text(), "I will write.All done.");
    const [plan] = ofKind(updates, "plan");
    assert.deepEqual(
      plan?.entries.map(({ content, status }) => [content, status]),
      [
        ["写文档", "in_progress"],
        ["ship", "pending"],
      ],
    );
    const [first] = ofKind(updates, "tool_call");
    assert.equal(first?.toolCallId, toolCall.toolCallId);
    const last = ofKind(updates, "tool_call_update").findLast(
      (one) => one.toolCallId === first?.toolCallId && one.status,
    );
    assert.equal(last?.status, "completed");
    const resolved = await here.facts("input.resolved");
    assert.deepEqual(resolved.at(-1)?.data["response"], {
      ...{ type: "answers", requestId: resolved.at(-1)?.data["requestId"] },
      answers: { "Which colour?": { selected: [], other: "紫色" } },
    });
    assert.equal(resolved.at(-1)?.data["surface"], "acp");

    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
    await until(() => ofKind(updates, "current_mode_update").some(({ currentModeId }) => currentModeId === "plan"));
    const config = await agent.request(methods.agent.session.setConfigOption, {
      sessionId,
      configId: "mode",
      value: "ask",
    });
    assert.equal(config.configOptions.find(({ id }) => id === "mode")?.currentValue, "ask");
    const commands = await until(() => ofKind(updates, "available_commands_update")[0]);
    assert.ok(commands.availableCommands.some(({ name }) => name === "compact"));
    assert.deepEqual(await editor.prompt(sessionId, "/mode nonsense"), { stopReason: "end_turn" });
    assert.match(editor.text(), /There is no mode “nonsense”/);
    assert.deepEqual(await editor.prompt(sessionId, "again"), { stopReason: "end_turn" });
    const { sessions } = await agent.request(methods.agent.session.list, { cwd: here.cwd });
    assert.deepEqual(
      sessions.map((one) => [one.sessionId, one.title]),
      [[sessionId, "go"]],
    );

    t.mock.method(console, "error", () => {}); // the library tells of answers that it did not ask for
    // A broken editor: every line is answered or ignored, and the session lives.
    const refused = (pattern: RegExp) =>
      until(
        () => pattern.test(editor.output()),
        () => editor.output().slice(-2_000),
      );
    editor.write("this is no JSON\n[]\n5\n");
    await refused(/-32700/);
    await refused(/-32600/);
    editor.write('{"jsonrpc":"2.0","id":"x1","method":"nonsense/method","params":{}}\n');
    await refused(/"id":"x1","error":\{"code":-32601/);
    editor.write('{"jsonrpc":"2.0","id":"x2","method":"session/prompt","params":{"sessionId":7}}\n');
    await refused(/"id":"x2","error":\{"code":-32602/);
    editor.write('{"jsonrpc":"2.0","id":"x3","method":"session/prompt","params":{"sessionId":"nope","prompt":[]}}\n');
    await refused(/"id":"x3","error":\{"code":-32002/);
    editor.write('{"jsonrpc":"2.0","id":"x4","method":"session/new","params":{"cwd":"relative","mcpServers":[]}}\n');
    await refused(/"id":"x4","error":\{"code":-32602/);
    editor.write(
      '{"jsonrpc":"2.0","id":"x5","method":7}\n{"jsonrpc":"2.0","method":"unheard/of"}\n{"id":99,"result":{}}\n',
    );
    await refused(/"id":"x5","error":\{"code":-32600/);

    await editor.close();
    assert.equal(await editor.ended, 0);
    for (const line of editor.output().trim().split("\n"))
      assert.equal((JSON.parse(line) as { jsonrpc?: string }).jsonrpc, "2.0", line);
  });

  test("kill -9 while a permission is asked: loaded in a new process it is asked again; answered elsewhere it folds", async () => {
    const model = here.script(
      { text: "Working.", calls: [bash("echo one >> ran.txt")] },
      { calls: [bash("echo two >> ran.txt")] },
      { text: "Both ran." },
    );
    const killed = await editorWith(here, { model });
    const { sessionId } = await killed.agent.request(methods.agent.session.new, { cwd: here.cwd, mcpServers: [] });
    const broken = killed.prompt(sessionId, "run it").catch(() => "broken");
    await killed.permission();
    killed.kill();
    await untilGone(killed.pid);
    await broken;

    const editor = await editorWith(here, { model });
    const { agent, updates } = editor;
    await agent.request(methods.agent.session.load, { sessionId, cwd: here.cwd, mcpServers: [] });
    const told = updates.map((one) =>
      "content" in one && one.content && "text" in one.content ? one.content.text : one.sessionUpdate,
    );
    assert.deepEqual(told.slice(0, 3), ["run it", "Working.", "tool_call"]);
    const again = await editor.permission();
    assert.equal(again.params.toolCall.title, "echo one >> ran.txt");
    again.answer(allow);
    const second = await editor.permission();
    assert.equal(second.params.toolCall.title, "echo two >> ran.txt");
    const reply = await elsewhere((requestId) => ({ type: "granted", requestId }));
    assert.ok(reply.ok);
    await until(() => second.signal.aborted, "the editor's question folds");
    await until(() => /Both ran\./.test(editor.text()));
    assert.equal(here.file("ran.txt"), "one\ntwo\n");
    const before = updates.length;
    await agent.request(methods.agent.session.load, { sessionId, cwd: here.cwd, mcpServers: [] });
    const replayed = updates.slice(before);
    assert.deepEqual(
      ofKind(replayed, "tool_call").map(({ title, status }) => [title, status]),
      [
        ["echo one >> ran.txt", "completed"],
        ["echo two >> ran.txt", "completed"],
      ],
    );
    assert.equal((await here.facts("input.requested")).filter(({ data }) => data["session"] === sessionId).length, 2);
    await editor.close();
  });

  test("an editor without forms: one choice is asked by buttons, the rest in the conversation; cancel stops the turn", async () => {
    const several = asks(
      { question: "Which ones?", labels: ["甲", "乙", "丙"], multiSelect: true },
      { question: "Why?", labels: ["a", "b"] },
    );
    const model = here.script(
      { calls: [asks({ question: "Which colour?", labels: ["Red", "Blue"] })] },
      { calls: [several] },
      { text: "Noted." },
      { calls: [bash("echo never >> never.txt")] },
      { text: "Not reached." },
    );
    const editor = await editorWith(here, { model });
    const { agent } = editor;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: here.cwd, mcpServers: [] });
    const turn = editor.prompt(sessionId, "ask me");
    const colour = await editor.permission();
    assert.deepEqual(
      colour.params.options.map(({ name, kind }) => [name, kind]),
      [
        ["Red", "allow_once"],
        ["Blue", "allow_once"],
        ["Don't answer", "reject_once"],
      ],
    );
    colour.answer({ outcome: { outcome: "selected", optionId: "option-1" } });
    assert.deepEqual(await turn, { stopReason: "end_turn" }, "the floor is the person's");
    assert.match(
      editor.text(),
      /> Which ones\?\n\n1\. 甲[^]*Answer with your next message, one line for each question/,
    );
    assert.deepEqual(await editor.prompt(sessionId, "1"), { stopReason: "end_turn" });
    assert.match(editor.text(), /That answer was not taken/);
    assert.deepEqual(await editor.prompt(sessionId, "1，3\nbecause I say so"), { stopReason: "end_turn" });
    const answers = (await here.facts("input.resolved"))
      .slice(-2)
      .map(({ data }) => (data["response"] as { answers: unknown }).answers);
    assert.deepEqual(answers, [
      { "Which colour?": { selected: ["Blue"] } },
      { "Which ones?": { selected: ["甲", "丙"] }, "Why?": { selected: [], other: "because I say so" } },
    ]);
    assert.match(editor.text(), /Noted\./);

    const stopped = editor.prompt(sessionId, "run");
    const permission = await editor.permission();
    await agent.notify(methods.agent.session.cancel, { sessionId });
    permission.answer({ outcome: { outcome: "cancelled" } });
    assert.deepEqual(await stopped, { stopReason: "cancelled" });
    assert.equal(here.file("never.txt"), undefined);
    await editor.close();
  });
});
