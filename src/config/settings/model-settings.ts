import * as z from "../../base/z.ts";
import { efforts } from "../../protocol/host/options.ts";
import { reason } from "../../protocol/reasons/reason.ts";

const name = /^[a-z][a-z0-9-]{0,29}$/;

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

export const guestName = z.string().regex(name, "agent-name");

/** The person's own: which programs run in the place of Sage's loop, and how they are started. */
export const guests = z
  .record(
    guestName,
    z.strictObject({
      command: z.string().min(1).optional().describe("The program; one on the PATH by its name, or a whole path"),
      args: z.array(z.string()).optional().describe("Its arguments"),
      mode: z.string().min(1).optional().describe("The mode of its own that it is put into, where it has modes"),
      env: z.record(z.string(), z.string()).optional().describe("Added to its environment"),
    }),
  )
  .describe("Other agents, by the name that --agent takes; claude and codex are known, others speak ACP");

export type GuestsSettings = z.infer<typeof guests>;

/** Https, or plain HTTP within this machine: keys go there. */
const origin = z.string().regex(/^(https:\/\/[^/\s]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)$/, "web-origin");

export const hosts = z
  .record(z.string().regex(/^[\w.-]{1,40}$/), origin)
  .describe("Addresses of other machines' `sage serve`, by name, for `sage --host`; keys are kept apart");

const web = z
  .strictObject({
    origins: z
      .array(origin)
      .optional()
      .describe(
        "Addresses under which people reach the page through a proxy or a tunnel, such as https://sage.example.org",
      ),
    folders: z
      .array(z.string())
      .optional()
      .describe("Names of `workspaces` in which sessions may be begun from the page; all of them by default"),
    identity: z
      .strictObject({
        header: z.string().regex(/^[\w-]{1,60}$/, "header-name"),
        secret: z.string().min(16),
        from: z.array(z.string()).optional().describe("Addresses of the proxy; those of this machine by default"),
      })
      .optional()
      .describe("A proxy signs people in: it names them in `header`, and proves itself by `secret` in x-sage-proxy"),
  })
  .describe("The page of `sage serve`");

export const serve = z
  .strictObject({
    host: z.string().optional().describe("Where `sage serve` listens; 127.0.0.1 by default"),
    port: z.number().int().min(0).max(65_535).optional().describe("8787 by default"),
    tls: z
      .strictObject({ cert: z.string().min(1), key: z.string().min(1) })
      .optional()
      .describe("Files of a certificate and its key, in PEM: the page is served by https"),
    web: web.optional(),
  })
  .describe("The daemon");

export type WebSettings = z.infer<typeof web>;
