import * as z from "../../base/z.ts";
import { efforts } from "../../protocol/host/options.ts";
import { reason } from "../../protocol/reasons/reason.ts";

export const limit = z.number().int().positive().optional();

export const provider = z.strictObject({
  baseURL: z.url().optional(),
  apiKeyEnv: z.string().optional(),
  format: z
    .enum(["chat", "responses", "messages", "google"])
    .optional()
    .describe(
      "What its server speaks: Chat Completions (the default), Responses, Anthropic's Messages, or Gemini's API",
    ),
  package: z
    .string()
    .regex(/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/, "package-name")
    .optional()
    .describe("A provider package of the AI SDK that you installed beside these settings, such as @ai-sdk/groq"),
  options: z.record(z.string(), z.unknown()).optional().describe("Given to that package when the provider is made"),
  headers: z.record(z.string(), z.string()).optional().describe("Sent with every request to it"),
  images: z.boolean().optional().describe("Do its models take pictures? By default the name of the model tells"),
  files: z.boolean().optional().describe("Do its models take PDF files? By default the name of the model tells"),
  requestsPerMinute: limit.describe("Further requests wait, in order"),
  tokensPerMinute: limit.describe("Input and output, cached tokens included"),
});

const dollars = z.number().nonnegative();
export const price = z
  .strictObject({
    input: dollars,
    output: dollars,
    cacheRead: dollars.optional(),
    cacheWrite: dollars.optional(),
  })
  .describe("US dollars for a million tokens");

export const effort = z.enum(efforts).describe("How long models that can think do so; by default they decide");

export const webSearch = z
  .strictObject({
    engine: z
      .enum(["searxng", "brave", "tavily", "model"])
      .describe("Who searches: a SearXNG server, Brave, Tavily, or the provider of a model"),
    baseURL: z.url().optional().describe("Of the SearXNG server, or of another address of the engine"),
    apiKeyEnv: z.string().optional().describe("Variable with the key; BRAVE_API_KEY or TAVILY_API_KEY by default"),
    model: z
      .string()
      .optional()
      .describe("provider/name of the model that searches; `model` of these settings by default"),
  })
  .superRefine(({ engine, baseURL }, context) => {
    if (engine === "searxng" && baseURL === undefined)
      context.addIssue({ code: "custom", params: { why: reason("search-without-address", {}) } });
  })
  .describe("Lets the agent search the web with WebSearch");

export type WebSearchSettings = z.infer<typeof webSearch>;
