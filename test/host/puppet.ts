import { createRedaction } from "../../src/config/secrets/redact.ts";
import type { Model, ModelScope } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import { until } from "../support/until.ts";

export const lin = { by: "Lin", surface: "test" };
export const redaction = createRedaction({});

/** A model that says what the test says, in the test's own time. */
export function puppet() {
  type Reply = { by: string; say: ModelScope["text"]; end(text: string): void; run(command: string): void };
  const replies: Reply[] = [];
  let usual: string | undefined;
  const model = (by: string): Model => ({
    id: "puppet",
    reply: (_request, { text: say, signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
        const end = (text: string) =>
          resolve({ parts: [{ type: "text", text }], usage: noUsage, finish: "stop", model: "puppet" });
        const run = (command: string) => {
          const call = { type: "call", id: `c${replies.length}`, tool: "Bash", input: { command } } as const;
          resolve({ parts: [call], usage: noUsage, finish: "calls", model: "puppet" });
        };
        replies.push({ by, say, end, run });
        if (usual !== undefined) end(usual);
      }),
  });
  const next = async (n: number): Promise<Reply> => {
    await until(() => replies.length > n, `nobody asks the model for the ${n + 1}. time`);
    return replies[n] as Reply;
  };
  /** From now on, whoever asks is told this. */
  const always = (text: string) => {
    usual = text;
    for (const { end } of replies) end(text);
  };
  return { model, next, always };
}
