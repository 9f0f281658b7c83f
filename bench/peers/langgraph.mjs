// Approvals through LangGraph, in memory: from a person's yes to the next request. Copied beside the package before it runs.
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

async function approve(calls) {
  const State = Annotation.Root({
    messages: Annotation({ reducer: (before, more) => [...before, ...more], default: () => [] }),
    step: Annotation({ reducer: (_, next) => next, default: () => 0 }),
  });
  const graph = new StateGraph(State)
    .addNode("model", ({ step }) => ({ messages: [{ role: "assistant", call: `true ${step}` }] }))
    .addNode("shell", ({ step }) => {
      interrupt({ command: `true ${step}` });
      return { messages: [{ role: "tool", text: "the command ended with exit code 0" }], step: step + 1 };
    })
    .addEdge(START, "model")
    .addEdge("model", "shell")
    .addConditionalEdges("shell", ({ step }) => (step < calls ? "model" : END))
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "s" }, recursionLimit: 1e6 };
  await graph.invoke({ messages: [{ role: "user", text: "go" }] }, config);
  const micros = [];
  for (let n = 0; n < calls; n++) {
    const answered = performance.now();
    await graph.invoke(new Command({ resume: true }), config);
    micros.push((performance.now() - answered) * 1000);
  }
  return micros;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
await approve(10);
console.log(JSON.stringify({ 200: median(await approve(200)), 800: median(await approve(800)) }));
