import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { canonicalJson } from "../../base/canonical-json.ts";
import { prose } from "../../base/visible.ts";
import { codeOf } from "../../protocol/key.ts";
import type { Sender } from "../../protocol/sender.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { CallItem, Item, TextItem, ThoughtItem } from "../../view/transcript/item.ts";
import { noteOf } from "../../view/note.ts";
import { todosOf } from "../../view/items/summary.ts";
import { shownCall } from "./tool-call.ts";

type View = {
  /** Updates for the editor now that this item is new or has changed. */
  update(item: Item): SessionUpdate[];
};

type ViewOptions = {
  t: Texts;
  cwd(): string;
  me: Sender;
  /** Messages that the editor shows already: it sent them. */
  isOwn(key: string): boolean;
};

const statuses = ["completed", "in_progress"] as const;

/** Items as updates. Every word is sent once: the part of an item already sent is remembered while it changes. */
export function createView({ t, cwd, me, isOwn }: ViewOptions): View {
  const told = new WeakMap<TextItem | ThoughtItem, { restarts: number; length: number }>();
  const calls = new Map<string, Record<string, string>>();
  const noted = new WeakSet<Item>();

  const chunk = (
    kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
    text: string,
    id: string,
  ) => ({ sessionUpdate: kind, content: { type: "text", text }, messageId: id }) as const;

  const streamed = (item: TextItem | ThoughtItem): SessionUpdate[] => {
    if (item.within.length > 0) return []; // a subagent's words are for the agent
    const restarts = item.type === "text" ? item.restarts : 0;
    const before = told.get(item);
    const from = before && before.restarts === restarts ? before.length : 0;
    told.set(item, { restarts, length: item.text.length });
    const text = item.text.slice(from);
    const kind = item.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const again = before && from === 0 && before.length > 0 ? "\n\n" : ""; // what was begun cannot be unsaid
    return text === "" ? [] : [chunk(kind, again + prose(text), `${item.type}:${item.key}#${restarts}`)];
  };

  const called = (item: CallItem): SessionUpdate[] => {
    const todos = todosOf(item);
    if (todos) return planOf(item, todos);
    const { status, ...rest } = shownCall(item, t, cwd());
    const fields = { status, ...rest };
    const now = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, codeOf(canonicalJson(value ?? null))]),
    );
    const before = calls.get(item.key);
    calls.set(item.key, now);
    if (!before) return [{ sessionUpdate: "tool_call", toolCallId: item.key, ...fields }];
    const changed = Object.entries(fields).filter(([name]) => before[name] !== now[name]);
    if (changed.length === 0) return [];
    return [{ sessionUpdate: "tool_call_update", toolCallId: item.key, ...Object.fromEntries(changed) }];
  };

  const planOf = (item: CallItem, todos: { content: string; status: string }[]): SessionUpdate[] => {
    if (item.standing !== "done" || noted.has(item)) return [];
    noted.add(item);
    const entries = todos.map(({ content, status }) => ({
      content: prose(content),
      priority: "medium" as const,
      status: statuses.find((known) => known === status) ?? ("pending" as const),
    }));
    return [{ sessionUpdate: "plan", entries }];
  };

  /** Sage's own words about something that nobody in the editor did. */
  const note = (item: Item): SessionUpdate[] => {
    const found = noteOf(item, t, me);
    if (!found || noted.has(item)) return [];
    noted.add(item);
    const text = found.foreign === undefined ? found.line : `${found.line}\n${prose(found.foreign)}`;
    return [chunk("agent_thought_chunk", `${text}\n`, `note:${item.type}`)];
  };

  return {
    update(item) {
      switch (item.type) {
        case "said":
          if (isOwn(item.key) || noted.has(item)) return [];
          noted.add(item);
          return [chunk("user_message_chunk", prose(item.text), item.key)];
        case "text":
        case "thought":
          return streamed(item);
        case "call":
          return called(item);
        case "mode":
          return [{ sessionUpdate: "current_mode_update", currentModeId: item.mode }];
        case "end":
          return item.end.status === "success" || item.end.status === "error" ? [] : note(item);
        case "asked":
          return item.resolution ? note(item) : [];
        case "notice":
        case "rewound":
        case "restored":
        case "lost":
        case "rule":
        case "ruleRemoved":
        case "approved":
        case "silence":
        case "inquiry":
        case "interrupted":
        case "withdrawn":
        case "compacted":
          return note(item);
        case "model":
          return []; // the list of models tells
        default:
          return item satisfies never;
      }
    },
  };
}
