// T9: the model's stream is cut, ended or stuttered at every chunk: half a call never runs. (All else that servers do, at random:
// test/models/faults.test.ts; killed before and after every request to the model: boundaries.test.ts.)
import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { createHost } from "../../src/host/host.ts";
import type { Wire } from "../support/flaky.ts";
import { chunksOf, modelServer, type Play, type ServedReply } from "../support/model-server.ts";
import { markTool, modelAt } from "../support/marks.ts";
import { allow, config, workspace } from "../support/sage.ts";

const calling: ServedReply = {
  text: "Now this.",
  calls: [
    { id: "a", tool: "Mark", arguments: JSON.stringify({ n: 1, why: "because" }) },
    { id: "b", tool: "Mark", arguments: JSON.stringify({ n: 2, why: "because" }) },
  ],
};

/** One turn whose first reply comes like this, and every later one whole. */
async function turn(wire: Wire, first: Play, dir: string): Promise<{ marks: number[]; text: string }> {
  await using server = await modelServer();
  let requests = 0;
  server.always.play = (body) => {
    requests++;
    if (JSON.stringify(body.messages).includes("marked")) return { text: "done" };
    return requests === 1 ? first : calling;
  };
  const model = modelAt(server, wire, 500);
  const { mark, marks } = markTool();
  const store = memoryStore();
  const made = { ...config({ script: [], dir, store, tools: [mark], rules: [allow("Mark")] }), model };
  const host = createHost({
    store,
    version: "test",
    executor: async () => new TurnExecutor(made, { workingDirectory: dir, maxSteps: 5 }),
  });
  await host.send({ type: "open", session: "s", cwd: dir });
  await host.send({ type: "say", session: "s", text: "go", by: "Lin", surface: "test" });
  const outcome = await host.run("s");
  await host.close();
  return { marks, text: outcome.text };
}

for (const wire of ["anthropic", "openai"] as const)
  test(`${wire}: a reply that is cut, ends early or stutters at any chunk runs each call once, whole`, async () => {
    using here = workspace();
    const chunks = chunksOf(wire, calling).length;
    assert.ok(chunks > 5);
    for (let at = 0; at < chunks; at++)
      for (const [what, first] of [
        ["cut", { reply: calling, at, ending: "cut" }],
        ["ended", { reply: calling, at, ending: "end" }],
        ["twice", { reply: calling, at: Infinity, twice: at, ending: "end" }],
      ] as const) {
        const { marks, text } = await turn(wire, first, here.dir);
        const where = `${what} at chunk ${at} of ${chunks}`;
        assert.equal(text, "done", where);
        // Arguments that a chunk spoilt by coming twice are refused and not run; everything else is run once.
        assert.equal(new Set(marks).size, marks.length, `${where}: ${marks.join()}`);
        if (what !== "twice") assert.deepEqual(marks, [1, 2], where);
      }
  });
