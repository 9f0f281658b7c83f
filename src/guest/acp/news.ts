import { readCall, readResult, seenWith, readUsage, type Seen } from "./map.ts";
import type { GuestEvent, Spending } from "../driver.ts";
import { count, fields, text, type Fields } from "../json.ts";

/** Everything that an agent says and does in a turn, as events. */
export type News = {
  update(news: Fields): void;
  /** The call merged from all updates so far; undefined if it has no id. */
  seen(call: Fields): Seen | undefined;
  /** Permission is requested for a call: text before it is flushed, and the call is not reported again. */
  asksAbout(call: string): void;
  flush(usage?: unknown): void;
  /** Money that the conversation has cost so far, if the agent tells it in dollars. */
  spent(): { spent: Spending } | undefined;
};

type NewsParts = {
  name: string;
  cwd: string;
  push(event: GuestEvent): void;
  /** The agent has said or done something. */
  wentOn(): void;
};

export function createNews({ name, cwd, push, wentOn }: NewsParts): News {
  const known = new Map<string, Seen>();
  const told = new Set<string>();
  let words = "";
  let usd: number | undefined;

  function flush(usage?: unknown): void {
    const used = readUsage(usage);
    const parts = words === "" ? [] : [{ type: "text" as const, text: words }];
    if (words !== "" || used) push({ type: "said", parts, ...(used && { usage: used }), model: name, agent: [] });
    words = "";
  }

  function seen(call: Fields): Seen | undefined {
    const all = seenWith(known.get(text(call["toolCallId"]) ?? ""), call);
    if (all) known.set(all.toolCallId, all);
    return all;
  }

  function called(news: Fields): void {
    const call = seen(news);
    if (call === undefined) return;
    // Before its end it may not have its input yet, and a call is known by its input.
    if (news["status"] !== "completed" && news["status"] !== "failed") return;
    if (!told.has(call.toolCallId)) {
      flush();
      told.add(call.toolCallId);
      wentOn();
      push({ type: "said", parts: [readCall(call, cwd)], model: name, agent: [] });
    }
    push({ type: "result", call: call.toolCallId, ok: news["status"] === "completed", text: readResult(call) });
  }

  return {
    seen,
    flush,
    update(news) {
      const chunk = text(fields(news["content"])["text"]) ?? "";
      switch (news["sessionUpdate"]) {
        case "agent_message_chunk":
          if (chunk === "") return;
          words += chunk;
          wentOn();
          return push({ type: "delta", kind: "text", text: chunk });
        case "agent_thought_chunk":
          return chunk === "" ? undefined : push({ type: "delta", kind: "reasoning", text: chunk });
        case "tool_call":
        case "tool_call_update":
          return called(news);
        case "usage_update": {
          const { amount, currency } = fields(news["cost"]);
          if (currency === "USD" && typeof amount === "number") usd = count(amount);
          return;
        }
        default:
          return;
      }
    },
    spent: () => (usd === undefined ? undefined : { spent: { usd } }),
    asksAbout(call) {
      flush();
      wentOn();
      told.add(call);
    },
  };
}
