import type { Delta } from "../../src/protocol/facts/fact.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { CallItem, Item } from "../../src/view/transcript/item.ts";
import { createTranscript, transcriptOf } from "../../src/view/transcript/transcript.ts";
import { allow, askUser, bash, question, sageWith, workspace } from "../support/sage.ts";

const callsIn = (items: readonly Item[]) => items.filter((item) => item.type === "call");
const typesIn = (items: readonly Item[]) => items.map(({ type }) => type);

suite("a transcript of facts", () => {
  test("what was said, answered, called, asked and how it ended, in this order", async () => {
    using at = workspace();
    await using sage = await sageWith({
      dir: at.dir,
      script: [
        { text: "I look.", calls: [bash("echo one > one.txt")] },
        { calls: [askUser(question("Which?"))] },
        { text: "Done." },
      ],
    });
    await sage.say("go");
    const [permission] = await sage.open();
    await sage.answer({ type: "granted", requestId: permission!.id, comment: "once" });
    const [asked] = await sage.open();
    await sage.answer({ type: "answers", requestId: asked!.id, answers: { "Which?": { selected: ["Red"] } } });
    await sage.outcome();
    const items = transcriptOf(sage.facts());
    assert.deepEqual(typesIn(items), ["said", "text", "call", "call", "text", "end"]);
    const [command, questions] = callsIn(items);
    assert.equal(command?.standing, "done");
    assert.equal(command?.asked[0]?.resolution?.by, "Lin");
    assert.equal(questions?.standing, "done");
    assert.equal(items[0]?.type === "said" && items[0].read, true);
  });

  test("a rule's no and a person's no are told apart, and a call that makes no sense is neither", async () => {
    using at = workspace();
    await using sage = await sageWith({
      dir: at.dir,
      rules: [{ behavior: "deny", text: "Bash(rm *)", source: "user" }],
      script: [
        { calls: [bash("rm -r x"), bash("echo a > a"), { tool: "Bash", input: { comand: "ls" } }, bash("ls nowhere")] },
        { text: "Done." },
      ],
    });
    await sage.say("go");
    const [permission] = await sage.open();
    await sage.answer({ type: "denied", requestId: permission!.id, reason: "not this" });
    await sage.outcome();
    assert.deepEqual(
      callsIn(transcriptOf(sage.facts())).map(({ standing }) => standing),
      ["refused-by-rule", "refused-by-person", "invalid", "failed"],
    );
  });

  test("after an edit the input is the one that ran, marked with who changed it", async () => {
    using at = workspace();
    const hook = `node -e 'process.stdout.write(JSON.stringify({ input: { command: "echo hook" } }))'`;
    await using sage = await sageWith({
      dir: at.dir,
      hooks: { beforeCall: [{ matcher: "Bash", timeoutMs: 4_000, command: hook }] },
      script: [{ calls: [bash("echo model > x")] }, { text: "Done." }],
    });
    await sage.say("go");
    await sage.outcome();
    const [item] = callsIn(transcriptOf(sage.facts()));
    assert.deepEqual([item?.input, item?.changed], [{ command: "echo hook" }, { by: "hook" }]);

    await using other = await sageWith({
      dir: at.dir,
      script: [{ calls: [bash("echo model > x")] }, { text: "Done." }],
    });
    await other.say("go");
    const [permission] = await other.open();
    await other.answer({ type: "granted", requestId: permission!.id, input: { command: "echo person > x" } }, "ana");
    await other.outcome();
    const [edited] = callsIn(transcriptOf(other.facts()));
    assert.deepEqual(edited?.input["command"], "echo person > x");
    assert.equal(edited?.call.input["command"], "echo model > x");
    assert.equal(edited?.changed?.by === "person" && edited.changed.who.by, "ana");
    assert.equal(edited?.standing, "done");
  });

  test("a subagent's calls stand below the call that runs it, and on their own with their agent's name", async () => {
    using at = workspace();
    await using sage = await sageWith({
      dir: at.dir,
      rules: [allow("Task")],
      script: {
        "": [
          { calls: [{ tool: "Task", input: { agent: "Explore", description: "look", prompt: "look" } }] },
          { text: "Done." },
        ],
        Explore: [{ calls: [{ tool: "Glob", input: { pattern: "*" } }] }, { text: "Nothing." }],
      },
    });
    await sage.say("go");
    await sage.outcome();
    const [task, glob] = callsIn(transcriptOf(sage.facts()));
    assert.deepEqual(
      task?.inner.map(({ call }) => call.tool),
      ["Glob"],
    );
    assert.deepEqual([glob?.agent, glob?.within], [["Explore"], [task?.key]]);
    assert.equal(task?.standing, "done");
  });
});

suite("a transcript of what is happening", () => {
  const session = "s";
  const delta = (more: Partial<Delta>): Delta => ({
    ...{ session, key: "t0/0/model", attempt: 1, n: 0, kind: "text", text: "" },
    ...more,
  });
  const reply = (text: string, reasoning = "") => ({
    ...{ session, seq: 2, key: "t0/0/model", type: "model.replied" as const, at: 5 },
    data: {
      parts: [
        ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
        { type: "text" as const, text },
        { type: "call" as const, id: "1", tool: "Bash", input: { command: "ls" } },
      ],
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      finish: "calls" as const,
      model: "m",
      sawUpTo: 1,
    },
  });

  test("streamed text and its reply are one item; a higher attempt begins it again", () => {
    const transcript = createTranscript();
    const [text] = transcript.delta(delta({ text: "Hel" }));
    assert.deepEqual(transcript.delta(delta({ text: "lo" })), [text]);
    assert.deepEqual(transcript.delta(delta({ attempt: 0, text: "old" })), []);
    transcript.delta(delta({ attempt: 2, text: "Good" }));
    assert.deepEqual(text, { type: "text", key: "t0/0/model", within: [], text: "Good", done: false, restarts: 1 });
    assert.equal(transcript.fact(reply("Good day.")).includes(text), true);
    assert.equal(text?.type === "text" && text.done && text.text, "Good day.");
  });

  test("a text that was interrupted stays as it was; what comes after it is another one", () => {
    const transcript = createTranscript();
    const [first] = transcript.delta(delta({ text: "Hel" }));
    const data = { to: "pause", by: "ana", surface: "tui" } as const;
    transcript.fact({ session, seq: 1, key: "interrupt/1", type: "turn.interrupted", at: 1, data });
    const [second] = transcript.delta(delta({ attempt: 1_000, text: "Hello" }));
    assert.notEqual(second, first);
    assert.deepEqual([first?.type === "text" && first.text, second?.type === "text" && second.restarts], ["Hel", 1]);
  });

  test("a thought that streamed is not told twice, one that did not is told with its reply", () => {
    const streamed = createTranscript({ now: () => 7 });
    const [thought] = streamed.delta(delta({ kind: "reasoning", text: "Hm" }));
    streamed.delta(delta({ text: "A" }));
    assert.deepEqual(thought?.type === "thought" && [thought.done, thought.since, thought.until], [true, 7, 7]);
    const told = streamed.fact(reply("A", "Hm"));
    assert.deepEqual(
      told.filter(({ type }) => type === "thought"),
      [thought],
    );
    const [late] = createTranscript().fact(reply("A", "Hm"));
    assert.equal(late?.type === "thought" && late.text, "Hm");
  });

  test("text that comes whole after a gap replaces what was drawn, and is never there twice", () => {
    const transcript = createTranscript();
    const thoughts = transcript.delta(delta({ kind: "reasoning", text: "Hm" }));
    const text = transcript.delta(delta({ text: "天下" })).at(-1);
    const whole = (more: Partial<Delta>) => transcript.delta(delta({ ...more, whole: true }));
    assert.deepEqual(whole({ kind: "reasoning", text: "Hm" }), []);
    assert.deepEqual(whole({ text: "天下大势" }), [text]);
    assert.equal(text?.type === "text" && text.text, "天下大势");
    assert.deepEqual(whole({ text: "天下大势" }), []);
    transcript.delta(delta({ text: "，" }));
    assert.equal(text?.type === "text" && text.text, "天下大势，");
    whole({ text: "another beginning" });
    assert.equal(text?.type === "text" && text.text, "another beginning");
    assert.deepEqual(
      thoughts.map((item) => item.type),
      ["thought"],
    );

    const item = transcript.fact(reply("A")).find(({ type }) => type === "call") as CallItem;
    const started = { tool: "Bash", effect: "writes", digest: "d" } as const;
    transcript.fact({ session, at: 9, seq: 3, key: "t0/0/0/run0.started", type: "call.started", data: started });
    for (const more of [{}, { whole: true }, { whole: true }] as const)
      transcript.delta(delta({ key: "t0/0/0/run0", kind: "output", text: "one\n", ...more }));
    assert.equal(item.output, "one\n");
  });

  test("output belongs to its call and is kept to its end; a turn that ends leaves nothing running", () => {
    const transcript = createTranscript();
    const item = transcript.fact(reply("A")).find(({ type }) => type === "call") as CallItem;
    const started = { tool: "Bash", effect: "writes", digest: "d" } as const;
    const at = { session, at: 9 };
    transcript.fact({ ...at, seq: 3, key: "t0/0/0/run0.started", type: "call.started", data: started });
    assert.equal(item.standing, "running");
    transcript.delta(delta({ key: "t0/0/0/run0", kind: "output", text: "x".repeat(70_000) }));
    transcript.delta(delta({ key: "t0/0/0/run0", kind: "output", text: "end" }));
    assert.equal(item.output.length, 64 * 1024);
    assert.equal(item.output.endsWith("xend"), true);
    const stats = { steps: 1, toolCalls: 1, modelCalls: 1, durationMs: 1 };
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const end = { status: "cancelled", reason: said("ana stopped the turn"), text: "", usage, stats } as const;
    transcript.fact({ ...at, seq: 4, key: "t0.ended", type: "turn.ended", data: end });
    assert.equal(item.standing, "unknown");
  });
});
