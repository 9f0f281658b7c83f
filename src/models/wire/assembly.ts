import { isObject } from "../../base/issue.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Call, Finish, Part, ProviderMetadata, Reply, Usage } from "../../protocol/facts/message.ts";
import { callsOf } from "../../protocol/facts/message.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { isRetryableStatus } from "../failure.ts";
import type { ModelScope } from "../model.ts";

type Spoken = Exclude<Part, Call>;
type Id = string | number;

/** Puts a reply together from a stream, and shows it while it comes. Ids are those of the wire: an index, or the id of an item. */
type Assembly = {
  begin(type: Spoken["type"], id: Id, metadata?: ProviderMetadata): void;
  /** More of a part. What was never begun is not of ours. */
  extend(id: Id, delta: string): void;
  mark(id: Id, metadata: ProviderMetadata): void;
  beginCall(id: Id, call: { id: string; tool: string; metadata?: ProviderMetadata | undefined }): void;
  extendCall(id: Id, text: string): void;
  hasCall(id: Id): boolean;
  end(finish: Finish, usage: Usage, model: string): Reply;
};

export function createAssembly(scope: ModelScope): Assembly {
  const parts: Part[] = [];
  const spoken = new Map<Id, Spoken>();
  const calls = new Map<Id, { call: Call; text: string }>();
  return {
    begin(type, id, metadata) {
      if (spoken.has(id)) return; // the same event came twice
      const part: Spoken = { type, text: "", ...(metadata && { metadata }) };
      spoken.set(id, part);
      parts.push(part);
    },
    extend(id, delta) {
      const part = spoken.get(id);
      if (!part || delta === "") return;
      part.text += delta;
      scope[part.type](delta);
    },
    mark(id, metadata) {
      const part = spoken.get(id);
      if (part) part.metadata = metadata;
    },
    beginCall(id, { metadata, ...named }) {
      const before = calls.get(id);
      // The same event came twice: a second call would run without arguments.
      if (before?.call.id === named.id) return void (before.text = "");
      const call: Call = { type: "call", ...named, input: {}, ...(metadata && { metadata }) };
      calls.set(id, { call, text: "" });
      parts.push(call);
      scope.calling?.(named.tool);
    },
    extendCall(id, text) {
      const open = calls.get(id);
      if (open) open.text += text;
    },
    hasCall: (id) => calls.has(id),
    end(finish, usage, model) {
      for (const { call, text } of calls.values()) {
        const input = parseInput(text);
        if (input) call.input = input;
        else call.malformed = text;
      }
      return { ...settle(parts, finish), usage, model };
    },
  };
}

/** Arguments as they came, if they are a JSON object. Some servers send nothing at all for a call without arguments. */
export function parseInput(raw: string): ToolInput | undefined {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function settle(parts: Part[], finish: Finish): { parts: Part[]; finish: Finish } {
  const kept = parts.filter((part) => part.type === "call" || part.text !== "" || part.metadata);
  const last = callsOf({ parts: kept }).at(-1);
  // The token limit may have struck before the first argument: an empty input is then no input.
  if (finish === "length" && last && Object.keys(last.input).length === 0) last.malformed ??= "{}";
  // Compatible servers may report "stop" although there are calls.
  return { parts: kept, finish: finish === "stop" && last ? "calls" : finish };
}

export function cutShort(): SageError {
  return new SageError("model-unavailable", reason("request-failed", { kind: "cut-off", detail: "" }), {
    retryable: true,
  });
}

/** An error inside a stream. One that says nothing better is the server's trouble and worth another try. */
export function streamError(message: string | undefined, status: number | undefined): Error {
  const error = new Error(message);
  return Object.assign(error, { statusCode: status, isRetryable: status === undefined || isRetryableStatus(status) });
}
