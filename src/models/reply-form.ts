import type { Finish, Part, Reply } from "../protocol/facts/message.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";

/** Time that a model has to stop after its signal aborted. One that passes the signal on needs none of it. */
const GRACE_MS = 250;

/** Rejects a malformed reply: an embedder's model may return anything, and recorded replies are read forever. */
export function checkReply(reply: Reply, model: string): void {
  if (isReply(reply)) return;
  const { error } = schema().safeParse(reply);
  const problem = misfits(error ?? { issues: [] }, reply);
  throw new SageError("model-unavailable", reason("reply-unfit", { model, problem }));
}

const finishes: readonly Finish[] = ["stop", "calls", "length", "filtered", "other"];

/** Checks without the schema, which costs more: this runs in each step. */
function isReply(reply: Reply | undefined): boolean {
  const { parts, usage, finish, model } = reply ?? {};
  return (
    Array.isArray(parts) &&
    parts.every(isPart) &&
    typeof model === "string" &&
    finishes.includes(finish as Finish) &&
    isCount(usage?.inputTokens) &&
    isCount(usage?.outputTokens) &&
    isCount(usage?.cacheReadTokens) &&
    isCount(usage?.cacheWriteTokens)
  );
}

function isPart(part: Part): boolean {
  if (part?.type !== "call")
    return (part?.type === "text" || part?.type === "reasoning") && typeof part.text === "string";
  const { id, tool, input } = part;
  return typeof id === "string" && typeof tool === "string" && typeof input === "object" && input !== null;
}

function isCount(tokens: number | undefined): boolean {
  return tokens !== undefined && tokens >= 0 && tokens < Infinity;
}

/** Says what does not fit, once something does not. */
function schema(): z.Schema {
  const count = z.number().min(0);
  const text = z.looseObject({ type: z.enum(["text", "reasoning"]), text: z.string() });
  const call = z.looseObject({
    type: z.literal("call"),
    id: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
  });
  return z.looseObject({
    parts: z.array(z.union([text, call])),
    usage: z.looseObject({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count }),
    finish: z.enum(finishes),
    model: z.string(),
  });
}

/** Rejects a moment after the signal, so a deaf model holds no stopped turn. A late reply is dropped: it may be asked for again. */
export function unlessDeaf<Reply>(replying: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => (timer = setTimeout(() => reject(signal.reason as Error), GRACE_MS));
    const settled = () => {
      signal.removeEventListener("abort", stop);
      clearTimeout(timer);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    // A custom model may return its reply synchronously.
    Promise.resolve(replying).then(resolve, reject).finally(settled);
  });
}
