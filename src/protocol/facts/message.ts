import type { Blocked } from "../confine.ts";
import type { Answers } from "./answer.ts";
import type { BackgroundTask, CallEnd, InputChange, Output, Preview, ToolInput } from "./call.ts";
import type { Replaced } from "./rewind.ts";
import type { ImagePart } from "../image.ts";
import type { Reason } from "../reasons/reason.ts";

/** Opaque data of a provider (a thinking signature, say) that must come back unchanged with the part it belongs to. */
export type ProviderMetadata = Record<string, Record<string, unknown>>;

/** A use of a tool that the model asks for. */
export type Call = {
  type: "call";
  /** The provider's id. Never part of a key: providers repeat them. */
  id: string;
  tool: string;
  input: ToolInput;
  /** The arguments as they came, when they were not a JSON object. Such a call is never run. */
  malformed?: string;
  metadata?: ProviderMetadata;
};

/** A piece of a reply. */
export type Part =
  | { type: "text"; text: string; metadata?: ProviderMetadata }
  | { type: "reasoning"; text: string; metadata?: ProviderMetadata }
  | Call;

/** Tokens used. */
export type Usage = { inputTokens: number; outputTokens: number; cacheReadTokens: number; cacheWriteTokens: number };

/** The reason why the model stopped. */
export type Finish = "stop" | "calls" | "length" | "filtered" | "other";

/** A whole reply of a model. */
export type Reply = { parts: Part[]; usage: Usage; finish: Finish; model: string };

/** Result of a call, in exactly the words that the model reads. */
export type ToolResult = {
  ok: boolean;
  text: string;
  /** Set where people read something else: this many characters of `text`, then these sentences. */
  shown?: { characters: number; notes?: readonly Reason[] };
  /** Its pictures, stored next to the journal. */
  images?: readonly ImagePart[];
  /** The command that runs on in the background. */
  background?: BackgroundTask;
  /** Set by the loop, for every call. A tool need not say it. */
  end?: CallEnd;
  /** Set where the input that ran is not what the model sent. */
  ran?: { input: ToolInput; changed: InputChange };
  /** Files whose content the model now knows: real path → sha-256. Edit refuses a file that changed since. */
  seen?: Record<string, string>;
  /** Things that the sandbox kept it from. */
  blocked?: readonly Blocked[];
  /** Files that it replaced, so that a rewind can put them back. */
  replaced?: Replaced[];
  /** Whole output of a command, where `text` is not all of it. */
  output?: Output;
  /** The change that a file tool made, to be shown to people; left out where it is long. */
  change?: Preview;
  /** Answers by question, as data; `text` says the same in words. */
  answers?: Answers;
  /** True for default answers, which are no person's choice: nobody answered in time. */
  preset?: true;
  /** A skill is in use from here to the end of the turn, and these are the tools it works with. */
  allowedTools?: "all" | readonly string[];
  /** Tools that can be called from here on. */
  loaded?: readonly string[];
  /** Version 0.1.0 kept this instead of `end`: a person said no to this very call. */
  refused?: true;
};

/** How the call ended that has this result, also one of version 0.1.0. */
export function callEndOf({ ok, end, refused }: ToolResult): CallEnd {
  return end ?? (ok ? "done" : refused ? "refused-by-person" : "failed");
}

/** A message of the conversation as a model sees it. */
export type Message =
  | { role: "user"; text: string; images?: readonly ImagePart[] }
  | { role: "assistant"; parts: Part[]; model: string }
  | { role: "tool"; results: { call: string; tool: string; result: ToolResult }[] };

/** No tokens. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}

/** The calls in a reply, in order. */
export function callsOf(reply: { parts: Part[] }): Call[] {
  return reply.parts.filter((part) => part.type === "call");
}

/** The words of a reply, without its reasoning. */
export function textOf(reply: { parts: Part[] }): string {
  return reply.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
}

/** Newest message of people that a prompt contains. */
export type Heard = {
  /** Messages up to this seq were in it, */
  sawUpTo: number;
  /** but for these, by seq: they had been taken back. */
  without?: readonly number[];
};
