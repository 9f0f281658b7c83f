import type { Call } from "../../protocol/facts/message.ts";
import { answersOf, callOf, changesOf, judgedPatch, questionsOf, type CodexQuestion } from "./map.ts";
import type { GuestAnswer, GuestAsk } from "../driver.ts";
import { fields, list, text, type Fields } from "../json.ts";
import type { RpcId } from "../rpc.ts";

/** A request of Codex's that Sage has not replied to. */
export type CodexAsk = { id: RpcId; ask: GuestAsk } & (
  | { kind: "approval" }
  | { kind: "permissions"; wanted: Fields }
  | { kind: "questions"; questions: readonly CodexQuestion[] }
  | { kind: "form"; answered(answer: GuestAnswer): void }
);

/** A request as it came, and the call that it is about. */
export type AskFrame = { id: RpcId; callId: string; agent: string[]; params: Fields };

/** The request as Sage asks it, about one call. */
export function askOf(
  { id, callId, agent, params }: AskFrame,
  call: Omit<Call, "type" | "id">,
  more: Partial<GuestAsk> = {},
): GuestAsk {
  const why = text(params["reason"]);
  return {
    id: JSON.stringify(id),
    agent,
    ...(why !== undefined && why !== "" && { why }),
    call: { type: "call", id: callId, ...call },
    judged: [],
    ...more,
  };
}

/** Asks for a command. */
export function commandAsk(frame: AskFrame, cwd: string): CodexAsk {
  const { id, callId, params } = frame;
  const { kind, networkApprovalContext: host, additionalPermissions: wanted } = params;
  const { input = {} } = callOf({ type: "commandExecution", id: callId, ...params }, { cwd }) ?? {};
  // Words for a program that runs already, a host to connect to, and more than the usual permissions: a person looks at these.
  const more = { ...(host ? { host } : {}), ...(wanted ? { permissions: wanted } : {}) };
  const isPlain = (kind ?? "command") === "command" && Object.keys(more).length === 0 && input["command"] !== "";
  const tool = isPlain ? "Bash" : kind === "writeStdin" ? "write_stdin" : "exec_command";
  const ask = askOf(frame, { tool, input: { ...input, ...more } }, isPlain ? { judged: [{ tool, input }] } : {});
  return { id, ask, kind: "approval" };
}

/** Asks for a patch: `item` is the patch as it was announced. */
export function patchAsk(frame: AskFrame, item: Fields | undefined, cwd: string): CodexAsk {
  const { id, params } = frame;
  if (item === undefined)
    return { id, ask: askOf(frame, unannouncedPatch(params), { untold: true }), kind: "approval" };
  const changes = changesOf(item);
  const writesUnder = text(params["grantRoot"]);
  // A change of a kind that nobody here knows is for a person, whatever the others are.
  const isWhole = changes.length === list(item["changes"]).length;
  const judged = writesUnder === undefined && isWhole ? judgedPatch(changes, { cwd }) : [];
  const input = {
    changes: isWhole ? changes : list(item["changes"]),
    ...(writesUnder !== undefined && { writesUnder }),
  };
  return { id, ask: askOf(frame, { tool: "Patch", input }, { judged }), kind: "approval" };
}

/** A patch that was not announced here. It has its own names, so that a yes to one is none to another. */
function unannouncedPatch(params: Fields): Omit<Call, "type" | "id"> {
  const { threadId: thread, itemId: item, grantRoot: writesUnder } = params;
  return { tool: "Patch", input: { thread, item, ...(typeof writesUnder === "string" && { writesUnder }) } };
}

export function permissionsAsk(frame: AskFrame): CodexAsk {
  const wanted = fields(frame.params["permissions"]);
  const ask = askOf(frame, { tool: "permissions", input: { ...wanted } });
  return { id: frame.id, ask, kind: "permissions", wanted };
}

/** Asks questions; undefined where there are none that could be shown. */
export function questionsAsk(frame: AskFrame): CodexAsk | undefined {
  const questions = questionsOf(frame.params);
  if (!questions || questions.length === 0) return undefined;
  const shown = questions.map(({ id: _id, ...question }) => question);
  const ask = askOf(frame, { tool: "AskUserQuestion", input: { questions: shown } }, { questions: shown });
  return { id: frame.id, ask, kind: "questions", questions };
}

/** Allows only this once: Sage's rules live in Sage's files, and not in Codex's. */
export function replyTo(open: Exclude<CodexAsk, { kind: "form" }>, given: GuestAnswer): object {
  switch (open.kind) {
    case "approval":
      return { decision: given.type === "refused" ? "decline" : "accept" };
    case "permissions":
      return { permissions: given.type === "allowed" ? open.wanted : {}, scope: "turn" };
    case "questions":
      return { answers: given.type === "answers" ? answersOf(open.questions, given.answers) : {} };
    default:
      return open satisfies never;
  }
}
