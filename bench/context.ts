import { z } from "zod";
import { memoryStore } from "../src/journal/store/memory.ts";
import type { Model } from "../src/models/model.ts";
import { noUsage } from "../src/protocol/facts/message.ts";
import type { Tool } from "../src/tools/definition/tool.ts";
import { measured } from "./agent.ts";
import { median, type Row } from "./measure.ts";

const steps = 1_000;
const sample = 100;
const result = "some line of output\n".repeat(50);

/** Cost of a step when the conversation is long, against the same step when it was short. */
export async function context(): Promise<Row[]> {
  const startedAt: number[] = [];
  const times = await run((at) => startedAt.push(at)).then(() =>
    startedAt.slice(1).map((at, n) => at - (startedAt[n] ?? at)),
  );
  return [
    {
      figure: `a step of a conversation of ${steps} steps`,
      unit: "ms",
      sage: median(times.slice(-sample)),
      floor: { name: `its first ${sample} steps`, value: median(times.slice(0, sample)) },
      aim: { ratio: 1.5 },
    },
  ];
}

async function run(begins: (at: number) => void): Promise<void> {
  const store = memoryStore();
  const executor = measured(store, createModel(begins), [look], steps + 1);
  await executor.executeTask("go");
  store.close();
}

const look: Tool = {
  name: "look",
  description: "Looks",
  inputSchema: z.object({ n: z.number() }),
  effect: "reads",
  checkPermissions: () => ({ behavior: "allow", reason: "it only looks" }),
  execute: async () => ({ ok: true, text: result }),
};

/** Gives no usage, so that everything is estimated; and summaries, for which the prompt grows long enough. */
function createModel(begins: (at: number) => void): Model {
  let step = 0;
  return {
    id: "bench",
    async reply({ tools }) {
      const reply = { usage: noUsage, finish: "stop", model: "bench" } as const;
      if (tools.length === 0) return { ...reply, parts: [{ type: "text", text: "a summary" }] };
      begins(performance.now());
      if (step === steps) return { ...reply, parts: [{ type: "text", text: "done" }] };
      const call = { type: "call", id: `call-${step++}`, tool: "look", input: { n: step } } as const;
      return { ...reply, finish: "calls", parts: [call] };
    },
  };
}
