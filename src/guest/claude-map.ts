import type { Call, Part, Question, ToolInput, Usage } from "../protocol/index.ts";
import type { GuestAnswer, GuestAsk, GuestEvent } from "./driver.ts";
import type { Json } from "./peer.ts";

/** Tools that keep the guest's own books: Sage has no opinion on them, and leaves them to the guest's own rules. */
const bookkeeping = new Set([
  ...[
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "TaskStop",
    "BashOutput",
    "KillShell",
  ],
  ...["ToolSearch", "Skill", "Agent", "Task", "ListAgents", "EnterPlanMode", "ExitPlanMode"],
]);

/** Fields that Sage's tool of the same name knows: its schemas are strict, and Claude Code's tools have more. */
const fields: Record<string, readonly string[]> = {
  Bash: ["command", "description"],
  Read: ["file_path", "offset", "limit"],
  Write: ["file_path", "content"],
  Edit: ["file_path", "old_string", "new_string", "replace_all"],
  Glob: ["pattern", "path"],
  Grep: ["pattern", "path", "glob", "type", "output_mode"],
  WebFetch: ["url"],
  WebSearch: ["query"],
};

export function isBookkeeping(tool: string): boolean {
  return bookkeeping.has(tool);
}

/** A call that is about to run, from the callback before every tool. */
export function askOfHook(id: string, { input: told = {} }: { input?: Json }): GuestAsk {
  const call = callOf(told["tool_use_id"], told["tool_name"], told["tool_input"]);
  const type = told["agent_type"];
  const isInSubagent = told["agent_id"] !== undefined;
  return { id, ...meant(call), agent: isInSubagent ? [typeof type === "string" ? type : "subagent"] : [] };
}

/** A prompt of Claude Code's own rules. */
export function askOfPrompt(id: string, request: Json): GuestAsk {
  const call = callOf(request["tool_use_id"], request["tool_name"], request["input"]);
  const { decision_reason: why, agent_id: agent } = request;
  return {
    ...{ id, ...meant(call), agent: agent === undefined ? [] : ["subagent"], insists: true },
    ...(typeof why === "string" && why !== "" && { why }),
  };
}

function meant(call: Call): Pick<GuestAsk, "call" | "judged" | "questions"> {
  const { tool, input } = call;
  const questions = tool === "AskUserQuestion" ? questionsOf(input) : undefined;
  if (questions) return { call, judged: [], questions };
  // A rule for a server's tool names it in the same way here and there.
  if (tool.startsWith("mcp__")) return { call, judged: [{ tool, input }] };
  const known = fields[tool];
  if (!known) return { call, judged: [] };
  return {
    call,
    judged: [{ tool, input: Object.fromEntries(Object.entries(input).filter(([name]) => known.includes(name))) }],
  };
}

function callOf(id: unknown, tool: unknown, input: unknown): Call {
  return { type: "call", id: text(id), tool: text(tool), input: isObject(input) ? input : {} };
}

/** Undefined where they do not have the form of questions: then it is a call like any other. */
function questionsOf({ questions }: ToolInput): Question[] | undefined {
  if (!Array.isArray(questions) || questions.length === 0) return undefined;
  const read = questions.map((one: unknown): Question | undefined => {
    if (!isObject(one) || typeof one["question"] !== "string" || !Array.isArray(one["options"])) return undefined;
    const options = one["options"]
      .filter(isObject)
      .map(({ label, description }) => ({ label: text(label), description: text(description) }));
    return {
      question: one["question"],
      header: text(one["header"]),
      options,
      multiSelect: one["multiSelect"] === true,
    };
  });
  const whole = read.filter((one) => one !== undefined);
  const isDistinct = new Set(whole.map(({ question }) => question)).size === read.length;
  return isDistinct ? whole : undefined;
}

/** A message of its model. Each comes with one block; all blocks of one message tell the same usage, which counts once. */
export function saidOf(message: Json, isCounted: (id: string) => boolean): (GuestEvent & { type: "said" }) | undefined {
  const inner = isObject(message["message"]) ? message["message"] : {};
  const parts = blocks(inner["content"]).flatMap(partOf);
  if (parts.length === 0) return undefined;
  const usage = isCounted(text(inner["id"])) ? undefined : usageOf(inner["usage"]);
  const type = message["subagent_type"];
  const agent = typeof message["parent_tool_use_id"] === "string" ? [typeof type === "string" ? type : "subagent"] : [];
  return { type: "said", parts, model: text(inner["model"]) || "claude", agent, ...(usage && { usage }) };
}

function partOf(block: Json): Part[] {
  switch (block["type"]) {
    case "text":
      return text(block["text"]) === "" ? [] : [{ type: "text", text: text(block["text"]) }];
    case "thinking":
      return text(block["thinking"]) === "" ? [] : [{ type: "reasoning", text: text(block["thinking"]) }];
    case "tool_use":
      return [callOf(block["id"], block["name"], block["input"])];
    default:
      return [];
  }
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const count = (name: string) => (typeof usage[name] === "number" ? usage[name] : 0);
  return {
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    cacheReadTokens: count("cache_read_input_tokens"),
    cacheWriteTokens: count("cache_creation_input_tokens"),
  };
}

/** Results of calls, as the model reads them. */
export function resultsOf({ message }: Json): (GuestEvent & { type: "result" })[] {
  return blocks(isObject(message) ? message["content"] : undefined).flatMap((block) =>
    block["type"] === "tool_result"
      ? [
          {
            type: "result",
            call: text(block["tool_use_id"]),
            ok: block["is_error"] !== true,
            text: contentText(block["content"]),
          } as const,
        ]
      : [],
  );
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return blocks(content)
    .map((block) => (block["type"] === "text" ? text(block["text"]) : `[${text(block["type"])}]`))
    .join("\n");
}

/** The end of a turn. Undefined: something else has ended, such as a command in the background, or another message waits. */
export function endOf(result: Json): (GuestEvent & { type: "ended" }) | "unavailable" | undefined {
  const { stop_reason: stop, terminal_reason: why, queued_turn_count: queued } = result;
  if (stop === "tool_deferred") return { type: "ended", how: "parked" };
  if (stop === "tool_deferred_unavailable") return "unavailable";
  if (typeof why !== "string" || (typeof queued === "number" && queued > 0)) return undefined;
  if (why.startsWith("aborted")) return { type: "ended", how: "interrupted" };
  if (why === "completed" && result["is_error"] !== true) return { type: "ended", how: "done" };
  const errors = Array.isArray(result["errors"]) ? result["errors"].map(text).join("; ") : "";
  return { type: "ended", how: "failed", words: errors || text(result["result"]) || why };
}

/** The reply to the callback before a tool. */
export function hookReply({ call }: GuestAsk, answer: GuestAnswer | "defer"): Json {
  const decision = (permissionDecision: string, more: Json = {}) => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
  });
  if (answer === "defer") return decision("defer");
  if (answer.type === "refused") return decision("deny", { permissionDecisionReason: answer.words });
  const input = inputFor(call, answer);
  return decision("allow", input ? { updatedInput: input } : {});
}

/** The reply to a prompt. Rules are never sent along: Sage's are kept in Sage's files. */
export function promptReply({ call }: GuestAsk, answer: GuestAnswer): Json {
  if (answer.type === "refused") return { behavior: "deny", message: answer.words };
  return { behavior: "allow", updatedInput: inputFor(call, answer) ?? call.input };
}

function inputFor({ input }: Call, answer: Exclude<GuestAnswer, { type: "refused" }>): ToolInput | undefined {
  if (answer.type === "allowed") return answer.input;
  const given = Object.entries(answer.answers).map(([question, { selected, other }]) => [
    question,
    [...selected, ...(other === undefined ? [] : [other])].join(", "),
  ]);
  const first = given[0]?.[0];
  const notes = answer.remark !== undefined &&
    first !== undefined && { annotations: { [first]: { notes: answer.remark } } };
  return { ...input, answers: Object.fromEntries(given), ...notes };
}

function blocks(content: unknown): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
