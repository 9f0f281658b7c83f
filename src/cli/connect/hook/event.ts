import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { canonicalJson } from "../../../base/canonical-json.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { InputRequest, Question, Resolution } from "../../../protocol/facts/request.ts";
import type { OutsideAsk, OutsideBody } from "../../../protocol/host/outside.ts";

export const hookAgents = ["claude", "codex"] as const;
export type HookAgent = (typeof hookAgents)[number];

type Frame = { conversation: string; cwd: string };

/** An event of the agent, as far as it matters here: it asks, a call ran, or a turn or the session is over. */
export type HookEvent = Frame &
  (
    | { kind: "asks"; tool: string; input: ToolInput; subagent: string | undefined }
    | { kind: "ran"; tool: string; input: ToolInput }
    | { kind: "over" }
  );

/** Undefined for other events, and for anything malformed. */
export function eventFrom(text: string): HookEvent | undefined {
  const event = parsed(text);
  const { hook_event_name: name, session_id: conversation, cwd, tool_name: tool, tool_input: input } = event;
  if (typeof conversation !== "string" || typeof cwd !== "string" || !isAbsolute(cwd)) return undefined;
  const frame = { conversation, cwd };
  if (name === "UserPromptSubmit" || name === "Stop" || name === "SessionEnd") return { ...frame, kind: "over" };
  if (typeof tool !== "string" || typeof input !== "object" || input === null) return undefined;
  const call = { tool, input: input as ToolInput };
  const { agent_type: subagent } = event;
  if (name === "PermissionRequest")
    return { ...frame, ...call, kind: "asks", subagent: typeof subagent === "string" ? subagent : undefined };
  return name === "PostToolUse" || name === "PostToolUseFailure" ? { ...frame, ...call, kind: "ran" } : undefined;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const event: unknown = JSON.parse(text);
    return typeof event === "object" && event !== null ? (event as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The request that people see. Each prompt has an id of its own: the agent gives its calls none here. */
export function outsideAsk(agent: HookAgent, event: HookEvent & { kind: "asks" }): OutsideAsk {
  const { conversation, cwd, subagent } = event;
  const named = subagent === undefined ? [] : [subagent.replaceAll(/[^\w .-]/g, "-").slice(0, 40)].filter(Boolean);
  return { agent: [agent, ...named], conversation, cwd, id: randomUUID(), body: hookBody(event), title: cwd };
}

function hookBody({ tool, input }: { tool: string; input: ToolInput }): OutsideBody {
  const questions = readQuestions(tool, input);
  if (questions) return { kind: "question", questions };
  const { description } = input;
  return { kind: "permission", tool, input, ...(typeof description === "string" && { description }) };
}

/** Undefined where the questions have another form than the one we know: then it is a permission with its whole input. */
function readQuestions(tool: string, { questions }: ToolInput): Question[] | undefined {
  if (tool !== "AskUserQuestion" || !Array.isArray(questions) || questions.length === 0) return undefined;
  const read = questions.map((entry: unknown) => {
    const { question, header, options, multiSelect } = (entry ?? {}) as Record<string, unknown>;
    if (typeof question !== "string" || !Array.isArray(options)) return undefined;
    const choices = options.map((option: unknown) => (option ?? {}) as Record<string, unknown>);
    if (!choices.every(({ label }) => typeof label === "string")) return undefined;
    return {
      question,
      header: typeof header === "string" ? header : "",
      options: choices.map(({ label, description }) => ({
        label: label as string,
        description: typeof description === "string" ? description : "",
      })),
      multiSelect: multiSelect === true,
    };
  });
  return read.every((question) => question !== undefined) ? read : undefined;
}

/** The agent names no call: the same tool with the same input is taken for it. Answered questions come back with their answers. */
export function isSameCall(request: InputRequest, { tool, input }: { tool: string; input: ToolInput }): boolean {
  const body = hookBody({ tool, input });
  if (body.kind === "question")
    return request.kind === "question" && canonicalJson(request.questions) === canonicalJson(body.questions);
  return (
    request.kind === "permission" && request.tool === tool && canonicalJson(request.input) === canonicalJson(input)
  );
}

/** The agent's words for an answer that was given through Sage. Undefined: no opinion, its own dialog decides. */
export function hookDecision(
  agent: HookAgent,
  event: HookEvent & { kind: "asks" },
  resolution: Resolution,
): object | undefined {
  if (resolution.surface === agent) return undefined; // decided over there
  const response = "response" in resolution ? resolution.response : undefined;
  const said = (decision: object) => ({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision } });
  if (resolution.outcome === "timed_out" && response?.type === "denied")
    return said({ behavior: "deny", message: response.reason ?? "Nobody answered in time." });
  if (resolution.outcome === "declined") return said({ behavior: "deny", message: refusal(resolution.by, undefined) });
  // A person stopped the turn, not only this call.
  if (resolution.outcome === "cancelled" && resolution.by !== "sage")
    return said({
      behavior: "deny",
      message: refusal(resolution.by, undefined),
      ...(agent === "claude" && { interrupt: true }),
    });
  switch (response?.type) {
    case "granted":
      return said({ behavior: "allow" });
    case "answers": {
      const answers = Object.fromEntries(
        Object.entries(response.answers).map(([question, { selected, other }]) => [
          question,
          [...selected, ...(other ? [other] : [])].join(", "),
        ]),
      );
      const { remark } = response;
      const noted = remark ? { annotations: notes(Object.keys(answers), remark) } : {};
      return said({ behavior: "allow", updatedInput: { ...event.input, answers, ...noted } });
    }
    case "denied":
      return said({ behavior: "deny", message: refusal(resolution.by, response.reason) });
    case "cancelled":
    case "text":
    case undefined:
      return undefined;
    default:
      return response satisfies never;
  }
}

function notes(questions: readonly string[], remark: string): object {
  return Object.fromEntries(questions.slice(0, 1).map((question) => [question, { notes: remark }]));
}

function refusal(by: string, reason: string | undefined): string {
  return reason ? `${by} said no, in these words: ${JSON.stringify(reason)}` : `${by} said no.`;
}
