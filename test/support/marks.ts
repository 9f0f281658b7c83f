import { z } from "zod";
import { throughEndpoint } from "../../src/models/choice/endpoint.ts";
import type { Model } from "../../src/models/model.ts";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import type { Wire } from "./flaky.ts";
import type { modelServer } from "./model-server.ts";

/** A model of the server, tried again without pauses. */
export function modelAt(server: Awaited<ReturnType<typeof modelServer>>, wire: Wire, idleTimeoutMs: number): Model {
  const baseURL = wire === "anthropic" ? server.anthropicURL : server.openaiURL;
  const settings = { modelId: "m", idleTimeoutMs, baseURL };
  const bare = wire === "anthropic" ? anthropic(settings) : openai(settings);
  return throughEndpoint(bare, { provider: wire, baseURL, limits: {}, sleep: async () => {} });
}

/** A tool that notes each number that it was called with. */
export function markTool(): { mark: Tool; marks: number[] } {
  const marks: number[] = [];
  const mark: Tool = {
    name: "Mark",
    description: "leaves a mark",
    inputSchema: z.strictObject({ n: z.number(), why: z.literal("because") }),
    effect: "writes",
    async execute(input) {
      marks.push(Number(input["n"]));
      return { ok: true, text: `marked ${String(input["n"])}` };
    },
  };
  return { mark, marks };
}
