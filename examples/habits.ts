// Three habits: keep no state between calls, share what is expensive, obey interrupts.
import { setTimeout as wait } from "node:timers/promises";
import { assemble } from "sage-agent/hosts";
import { memoryStore, scripted, type Tool } from "sage-agent";
import { z } from "zod";

// Stateless: input comes in, the result goes out. A counter kept here would be wrong after a restart.
const count: Tool<{ from: number }> = {
  name: "Count",
  description: "Counts up, one number at a time.",
  inputSchema: z.object({ from: z.number() }),
  effect: "reads",
  checkPermissions: () => ({ behavior: "allow", reason: "it only counts" }),
  async execute({ from }, { signal, output }) {
    let n = from;
    // Interrupts: everything that waits takes the signal, and the work done so far is the result.
    for (; n < from + 1_000 && !signal.aborted; n++) {
      output(`${n}\n`);
      await wait(5, undefined, { signal }).catch(() => {});
    }
    return { ok: true, text: signal.aborted ? `stopped on the way, after ${from} at least` : `reached ${n}` };
  },
};

// Shared: one store, one model and one host serve every session.
const store = memoryStore();
const model = scripted([
  { calls: [{ tool: "Count", input: { from: 7 } }] },
  { text: "I was interrupted, and heard why." },
]);
const host = assemble({ store, model: async () => model, tools: [count] });

const me = { by: "you", surface: "example" };
async function converse(): Promise<void> {
  const opened = await host.send({ type: "open", cwd: process.cwd() });
  if (!opened.ok) throw new Error(opened.message);
  const { session } = opened;
  await host.send({ type: "say", session, text: "Count", ...me });
  for await (const event of host.watch(session, { signal: new AbortController().signal })) {
    if (event.type === "delta" && event.delta.kind === "output" && event.delta.n === 0) {
      await host.send({ type: "interrupt", session, ...me }); // pauses the turn; the next message continues it
      await host.send({ type: "say", session, text: "Enough", ...me });
    }
    if (event.type !== "fact") continue;
    const { fact } = event;
    if (fact.type === "call.finished") console.log("call:", fact.data.text);
    if (fact.type === "turn.ended") return console.log("turn:", fact.data.text);
  }
}
await Promise.all([converse(), converse()]);
await host.close();
