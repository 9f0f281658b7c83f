import { addUsage, type Call, type Usage } from "../../protocol/facts/message.ts";
import { readCall, isOver, readResult, readUsage } from "./map.ts";
import type { GuestEvent } from "../driver.ts";
import { fields, text, type Fields } from "../json.ts";

/** Everything that Codex says and does in a turn, as events. */
export type CodexNews = {
  hear(method: string, params: Fields): void;
  /** Subagents have threads of their own. Noted are patches as they are announced, and how calls that were asked about ended. */
  hearBelow(method: string, params: Fields): void;
  worked(item: Fields): void;
  flush(): void;
  /** A patch as it was announced: a request for one does not show it. */
  item(call: string): Fields | undefined;
  /** Permission was requested for a subagent's call: its result is reported too. */
  follow(call: string): void;
};

/** `resumed`: the thread was at work before anybody came back to it. */
type NewsParts = { cwd: string; model: string; push(event: GuestEvent): void; resumed: boolean };

export function createCodexNews({ cwd, model, push, resumed }: NewsParts): CodexNews {
  const items = new Map<string, Fields>();
  /** Calls of subagents that were asked about. */
  const below = new Set<string>();
  let usage: Usage | undefined;
  let held: string | undefined;
  /** A thread that is met again first repeats what its last request to the model used. */
  let isNews = !resumed;

  return {
    worked,
    flush,
    item: (call) => items.get(call),
    follow: (call) => void below.add(call),
    hear(method, params) {
      if (method.startsWith("item/")) isNews = true;
      const item = fields(params["item"]);
      const delta = () => text(params["delta"]) ?? "";
      switch (method) {
        case "item/started":
          return worked(item);
        case "item/completed":
          if (item["type"] !== "agentMessage") return worked(item);
          flush();
          held = text(item["text"]);
          return;
        case "item/agentMessage/delta":
          return push({ type: "delta", kind: "text", text: delta() });
        case "item/reasoning/summaryTextDelta":
        case "item/reasoning/textDelta":
          return push({ type: "delta", kind: "reasoning", text: delta() });
        case "item/commandExecution/outputDelta":
          return push({ type: "delta", kind: "output", text: delta(), call: text(params["itemId"]) ?? "" });
        case "thread/tokenUsage/updated": {
          const used = isNews ? readUsage(params) : undefined;
          if (used) usage = usage ? addUsage(usage, used) : used;
          return;
        }
        default:
          return;
      }
    },
    hearBelow(method, params) {
      const item = fields(params["item"]);
      const id = `${text(params["threadId"])}/${text(item["id"])}`;
      if (method === "item/started" && item["type"] === "fileChange") items.set(id, item);
      if (method !== "item/completed") return;
      if (below.delete(id) && isOver(item)) push({ type: "result", call: id, ...readResult(item) });
      items.delete(id);
    },
  };

  function worked(item: Fields): void {
    const call = readCall(item, { cwd });
    if (call === undefined) return;
    if (!items.has(call.id)) said([call]);
    items.set(call.id, item);
    if (isOver(item)) push({ type: "result", call: call.id, ...readResult(item) });
  }

  function said(calls: Call[]): void {
    const parts = [...(held ? [{ type: "text" as const, text: held }] : []), ...calls];
    if (parts.length > 0) push({ type: "said", parts, ...(usage && { usage }), model, agent: [] });
    held = undefined;
    usage = undefined;
  }

  function flush(): void {
    if (held) said([]);
  }
}
