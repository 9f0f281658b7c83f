import type { ToolInput } from "../../protocol/facts/call.ts";
import { addUsage, noUsage, type Call, type Part, type Usage } from "../../protocol/facts/message.ts";
import type { Question } from "../../protocol/facts/request.ts";
import type { GuestAnswer, GuestAsk, GuestEvent, Spending } from "../driver.ts";
import { count, fields, list, text } from "../json.ts";
import type { Json } from "../peer.ts";

/** Tools that keep the guest's own books: Sage has no opinion on them, and leaves them to the guest's own rules. */
const bookkeeping = new Set([
  "TodoWrite",
  "TaskCreate",
  "TaskUpdate",
  "TaskList",
  "TaskGet",
  "TaskOutput",
  "TaskStop",
  "BashOutput",
  "KillShell",
  "ToolSearch",
  "Skill",
  "Agent",
  "Task",
  "ListAgents",
  "SendMessage",
  "EnterPlanMode",
  "ExitPlanMode",
]);

/** Fields that Sage's tool of the same name knows: its schemas are strict, and Claude Code's tools have more. */
const known: Record<string, readonly string[]> = {
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

export function isDelegation(tool: string): boolean {
  return tool === "Agent" || tool === "Task";
}

/** A call that is about to run, from the callback before every tool. */
export function askOfHook(id: string, request: Json): GuestAsk {
  const told = fields(request["input"]);
  const call = makeCall(told["tool_use_id"], told["tool_name"], told["tool_input"]);
  const agent = told["agent_id"] === undefined ? [] : [text(told["agent_type"]) ?? "subagent"];
  return { id, ...meant(call), agent };
}

/** A prompt of Claude Code's own rules. */
export function askOfPrompt(id: string, request: Json): GuestAsk {
  const call = makeCall(request["tool_use_id"], request["tool_name"], request["input"]);
  const why = text(request["decision_reason"]);
  const agent = request["agent_id"] === undefined ? [] : ["subagent"];
  return { id, ...meant(call), agent, insists: true, ...(why && { why }) };
}

function meant(call: Call): Pick<GuestAsk, "call" | "judged" | "questions"> {
  const { tool, input } = call;
  const questions = tool === "AskUserQuestion" ? readQuestions(input) : undefined;
  if (questions) return { call, judged: [], questions };
  // A rule for a server's tool names it in the same way here and there.
  if (tool.startsWith("mcp__")) return { call, judged: [{ tool, input }] };
  const names = known[tool];
  // Out of the guest's own sandbox: no rule of Sage means that.
  if (!names || input["dangerouslyDisableSandbox"] === true) return { call, judged: [] };
  return {
    call,
    judged: [{ tool, input: Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name))) }],
  };
}

function makeCall(id: unknown, tool: unknown, input: unknown): Call {
  return { type: "call", id: text(id) ?? "", tool: text(tool) ?? "", input: { ...fields(input) } };
}

/** Undefined where they do not have the form of questions: then it is a call like any other. */
function readQuestions(input: ToolInput): Question[] | undefined {
  const read = list(input["questions"]).map((entry) => {
    const { question, header, options, multiSelect } = fields(entry);
    const choices = list(options).map((option) => {
      const { label, description } = fields(option);
      return { label: text(label) ?? "", description: text(description) ?? "" };
    });
    return {
      question: text(question) ?? "",
      header: text(header) ?? "",
      options: choices,
      multiSelect: multiSelect === true,
    };
  });
  const isWhole = read.every(({ question, options }) => question !== "" && options.every(({ label }) => label !== ""));
  const isDistinct = new Set(read.map(({ question }) => question)).size === read.length;
  return read.length > 0 && isWhole && isDistinct ? read : undefined;
}

/** A message of its model. Each comes with one block; all blocks of one message tell the same usage, which counts once. */
export function saidOf(message: Json, isCounted: (id: string) => boolean): (GuestEvent & { type: "said" }) | undefined {
  const { id, content, model, usage } = fields(message["message"]);
  const parts = blocks(content).flatMap(partOf);
  if (parts.length === 0) return undefined;
  const isSubagent = text(message["parent_tool_use_id"]) !== undefined;
  const agent = isSubagent ? [text(message["subagent_type"]) ?? "subagent"] : [];
  const counts = isCounted(text(id) ?? "") ? {} : { usage: readUsage(fields(usage)) };
  return { type: "said", parts, model: text(model) ?? "claude", agent, ...counts };
}

function partOf(block: Json): Part[] {
  const words = text(block["text"]);
  const thought = text(block["thinking"]);
  switch (block["type"]) {
    case "text":
      return words ? [{ type: "text", text: words }] : [];
    case "thinking":
      return thought ? [{ type: "reasoning", text: thought }] : [];
    case "tool_use":
      return [makeCall(block["id"], block["name"], block["input"])];
    default:
      return [];
  }
}

function readUsage(usage: Readonly<Json>): Usage {
  return makeUsage({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"],
  });
}

/** It counts input beside what was cached, and Sage all of it. */
function makeUsage(told: Record<"input" | "output" | "cacheRead" | "cacheWrite", unknown>): Usage {
  const [cacheReadTokens, cacheWriteTokens] = [count(told.cacheRead), count(told.cacheWrite)];
  const inputTokens = count(told.input) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens, outputTokens: count(told.output), cacheReadTokens, cacheWriteTokens };
}

/** Totals of the conversation: its messages tell the output as it began, and nothing of what it uses on the side. */
export function readSpent({ modelUsage, total_cost_usd: usd }: Json): { spent: Spending } | undefined {
  const models = Object.values(fields(modelUsage)).map(fields);
  if (models.length === 0) return undefined;
  const usage = models
    .map((model) =>
      makeUsage({
        input: model["inputTokens"],
        output: model["outputTokens"],
        cacheRead: model["cacheReadInputTokens"],
        cacheWrite: model["cacheCreationInputTokens"],
      }),
    )
    .reduce(addUsage, noUsage);
  return { spent: { usage, ...(typeof usd === "number" && { usd: count(usd) }) } };
}

/** Results of calls, as the model reads them. */
export function readResults(message: Json): (GuestEvent & { type: "result" })[] {
  return blocks(fields(message["message"])["content"]).flatMap((block) => {
    const call = block["type"] === "tool_result" ? text(block["tool_use_id"]) : undefined;
    if (call === undefined) return [];
    const words = blocks(block["content"]).map(
      (block) => text(block["text"]) ?? `[${text(block["type"]) ?? "something"}]`,
    );
    return [{ type: "result", call, ok: block["is_error"] !== true, text: words.join("\n") }];
  });
}

/** The end of a turn. Undefined: something else has ended, such as a command in the background, or another message waits. */
export function readEnd(result: Json): (GuestEvent & { type: "ended" }) | "unavailable" | undefined {
  const { stop_reason: stop, terminal_reason: why, queued_turn_count: queued } = result;
  if (stop === "tool_deferred") return { type: "ended", how: "parked" };
  if (stop === "tool_deferred_unavailable") return "unavailable";
  if (typeof why !== "string" || (typeof queued === "number" && queued > 0)) return undefined;
  if (why.startsWith("aborted")) return { type: "ended", how: "interrupted" };
  if (why === "completed" && result["is_error"] !== true) return { type: "ended", how: "done" };
  const errors = list(result["errors"]).flatMap((error) => text(error) ?? []);
  return { type: "ended", how: "failed", words: errors.join("; ") || text(result["result"]) || why };
}

/** The reply to the callback before a tool. */
export function hookReply({ call }: GuestAsk, answer: GuestAnswer | "defer"): Json {
  const decision = (permissionDecision: string, more: Json = {}) => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
  });
  if (answer === "defer") return decision("defer");
  if (answer.type === "refused") return decision("deny", { permissionDecisionReason: answer.words });
  const input = inputFor(call, answer);
  const words = answer.type === "allowed" ? answer.words : undefined;
  return decision("allow", {
    ...(input && { updatedInput: input }),
    ...(words !== undefined && { additionalContext: words }),
  });
}

/** The reply to a prompt. Rules are never sent along: Sage's are kept in Sage's files. */
export function promptReply({ call }: GuestAsk, answer: GuestAnswer): Json {
  if (answer.type === "refused") return { behavior: "deny", message: answer.words };
  return { behavior: "allow", updatedInput: inputFor(call, answer) ?? call.input };
}

/** The input that runs in the place of the call's own. */
export function inputFor({ input }: Call, answer: Exclude<GuestAnswer, { type: "refused" }>): ToolInput | undefined {
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
  return typeof content === "string"
    ? [{ type: "text", text: content }]
    : list(content).map((block) => ({ ...fields(block) }));
}
