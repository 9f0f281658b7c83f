// Work whose kind the first message names: `ask` asks a person once, `steps 20` makes so many calls, `slow 8000` one that takes so long.
import { z } from "zod";
import type { TurnExecutor } from "../../src/agent/turn/executor.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Model } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { measured } from "../agent.ts";

const model: Model = {
  id: "bench",
  async reply({ messages }) {
    const frame = { usage: noUsage, model: "bench" };
    const [, kind = "", count = "1"] = /(ask|steps|slow) ?(\d*)/.exec(JSON.stringify(messages[0])) ?? [];
    const step = messages.filter(({ role }) => role === "assistant").length;
    if (step >= (kind === "steps" ? Number(count) : 1))
      return { ...frame, parts: [{ type: "text", text: "done" }], finish: "stop" as const };
    const call = { type: "call", id: `c${step}`, tool: kind, input: { n: Number(count), step } } as const;
    return { ...frame, parts: [call], finish: "calls" as const };
  },
};

/** `begun` hears of every call as it begins. */
export function workOf(store: Store, session: string, dir: string, begun: (session: string) => void): TurnExecutor {
  const tool = (name: string): Tool<{ n: number; step: number }> => ({
    name,
    description: name,
    inputSchema: z.object({ n: z.number(), step: z.number() }),
    effect: "writes",
    async execute({ n }) {
      begun(session);
      if (name === "slow") await new Promise((resolve) => setTimeout(resolve, n));
      return { ok: true, text: "done" };
    },
  });
  const free = ["steps", "slow"].map((text) => ({ behavior: "allow", text, source: "user" }) as const);
  return measured(store, model, ["ask", "steps", "slow"].map(tool), 10_000, dir, free);
}
