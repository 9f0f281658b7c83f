import type { Message } from "../../protocol/facts/message.ts";
import { reason, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Model } from "../model.ts";

/** Uses the standby to the end of the turn: each step would cost all retries again. Read off the messages, so a new process does too. */
export function withFallback(primary: Model, standby: { id: string; load(): Promise<Model> }): Model {
  let loaded: Promise<Model> | undefined;
  const fallback = () => (loaded ??= standby.load());
  return {
    id: primary.id,
    async reply(request, scope) {
      if (tookOver(request.messages, standby.id)) return (await fallback()).reply(request, scope);
      let cause: SageError;
      try {
        return await primary.reply(request, scope);
      } catch (error) {
        if (scope.signal.aborted || !isUnavailable(error)) throw error;
        cause = error;
      }
      const problem = reasonOf(cause);
      scope.retry(reason("fallback-goes-on", { problem, model: standby.id }));
      try {
        return await (await fallback()).reply(request, scope);
      } catch (error) {
        if (scope.signal.aborted || !(error instanceof SageError)) throw error;
        const why = reason("fallback-failed", { problem, fallback: reasonOf(error) });
        throw new SageError(error.code, why, { retryable: error.retryable, cause: error });
      }
    },
  };
}

/** Only temporary failures fall back: a rejected key or a wrong model name would stay hidden forever. */
function isUnavailable(error: unknown): error is SageError {
  return error instanceof SageError && error.code === "model-unavailable" && error.retryable;
}

/** Has the fallback replied since somebody last spoke? */
function tookOver(messages: readonly Message[], id: string): boolean {
  for (const message of messages.toReversed()) {
    if (message.role === "user") return false;
    if (message.role === "assistant") return message.model === id;
  }
  return false;
}
