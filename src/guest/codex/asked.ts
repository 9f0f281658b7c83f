import type { CodexNews } from "./news.ts";
import type { CodexLine } from "./server.ts";
import type { GuestAnswer, GuestAsk, GuestEvent } from "../driver.ts";
import { type Fields, fields, list, text } from "../json.ts";
import { NOT_OFFERED, type Rpc, type RpcId } from "../rpc.ts";
import type { Call } from "../../protocol/facts/message.ts";
import { type CodexQuestion, toCodexAnswers, readCall, changesOf, judgedPatch, readQuestions } from "./map.ts";

/** Requests of Codex that wait for an answer. Its app-server keeps the thread for as long as there are any. */
type CodexAsked = {
  open(id: RpcId, method: string, params: Fields): Promise<void>;
  /** A request has ended, here or elsewhere. */
  resolved(id: unknown): void;
  answer(ask: GuestAsk, given: GuestAnswer): void;
};

type AskedParts = {
  /** The agent's name. */
  agent: string;
  cwd: string;
  session: string;
  line: CodexLine;
  rpc: Rpc;
  signal: AbortSignal;
  news: CodexNews;
  push(event: GuestEvent): void;
  /** Words for the turn that runs. */
  steer(words: string): Promise<void>;
};

export function createCodexAsked(parts: AskedParts): CodexAsked {
  const { agent, cwd, session, line, rpc, signal, news, push, steer } = parts;
  const asked = new Map<string, CodexAsk>();

  return {
    async open(id, method, params) {
      const name = [text(params["itemId"]) ?? `request-${id}`, text(params["approvalId"])].filter(Boolean).join(":");
      const isOwn = params["threadId"] === session;
      // Calls of its subagents are in threads of their own, and may have the same ids.
      const callId = isOwn ? name : `${text(params["threadId"])}/${name}`;
      if (!isOwn) news.follow(callId);
      const frame: AskFrame = { id, callId, agent: isOwn ? [] : ["subagent"], params };
      switch (method) {
        case "item/commandExecution/requestApproval":
          return put(commandAsk(frame, cwd));
        case "item/fileChange/requestApproval":
          return put(patchAsk(frame, news.item(callId), cwd));
        case "item/permissions/requestApproval":
          return put(permissionsAsk(frame));
        case "item/tool/requestUserInput": {
          const open = questionsAsk(frame);
          return open ? put(open) : rpc.reply(id, { answers: {} });
        }
        case "mcpServer/elicitation/request":
          return rpc.reply(id, { content: null, _meta: null, ...(await askServerForm(frame)) });
        default:
          return rpc.refuse(id, NOT_OFFERED, "not offered");
      }
    },
    resolved(id) {
      const name = JSON.stringify(id);
      if (asked.delete(name)) push({ type: "withdrawn", id: name });
      if (asked.size === 0) line.release(session);
    },
    answer(ask, given) {
      const open = asked.get(ask.id);
      if (open === undefined) return;
      asked.delete(ask.id);
      if (asked.size === 0) line.release(session);
      if (open.kind === "form") return open.answered(given);
      const reply = () => rpc.reply(open.id, replyTo(open, given));
      if (given.type === "allowed" && given.words !== undefined) void steer(given.words).catch(() => {});
      if (given.type !== "refused") return reply();
      // The refusal has no place for a reason. Words that come before it are read in the same request to the model.
      void steer(given.words).then(reply, reply);
    },
  };

  async function askServerForm(frame: AskFrame): Promise<object> {
    const { askForm } = await import("../form.ts");
    return askForm(frame.params, {
      name: text(frame.params["serverName"]) ?? agent,
      signal,
      ask: (questions) =>
        new Promise((answered) => {
          const ask = askOf(frame, { tool: "AskUserQuestion", input: { questions } }, { questions });
          put({ id: frame.id, ask, kind: "form", answered });
        }),
    });
  }

  function put(open: CodexAsk): void {
    news.flush();
    asked.set(open.ask.id, open);
    line.keep(session);
    push({ type: "asks", ask: open.ask });
  }
}

/** A request of Codex's that Sage has not replied to. */
type CodexAsk = { id: RpcId; ask: GuestAsk } & (
  | { kind: "approval" }
  | { kind: "permissions"; wanted: Fields }
  | { kind: "questions"; questions: readonly CodexQuestion[] }
  | { kind: "form"; answered(answer: GuestAnswer): void }
);

/** A request as it came, and the call that it is about. */
type AskFrame = { id: RpcId; callId: string; agent: string[]; params: Fields };

/** The request as Sage asks it, about one call. */
function askOf(
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
function commandAsk(frame: AskFrame, cwd: string): CodexAsk {
  const { id, callId, params } = frame;
  const { kind, networkApprovalContext: host, additionalPermissions: wanted } = params;
  const { input = {} } = readCall({ type: "commandExecution", id: callId, ...params }, { cwd }) ?? {};
  // Input to a running program, a network host, or extra permissions: always for a person.
  const more = { ...(host ? { host } : {}), ...(wanted ? { permissions: wanted } : {}) };
  const isPlain = (kind ?? "command") === "command" && Object.keys(more).length === 0 && input["command"] !== "";
  const tool = isPlain ? "Bash" : kind === "writeStdin" ? "write_stdin" : "exec_command";
  const ask = askOf(frame, { tool, input: { ...input, ...more } }, isPlain ? { judged: [{ tool, input }] } : {});
  return { id, ask, kind: "approval" };
}

/** Asks for a patch: `item` is the patch as it was announced. */
function patchAsk(frame: AskFrame, item: Fields | undefined, cwd: string): CodexAsk {
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

/** A patch that was not announced here. It gets a name of its own, so that a yes to one never counts for another. */
function unannouncedPatch(params: Fields): Omit<Call, "type" | "id"> {
  const { threadId: thread, itemId: item, grantRoot: writesUnder } = params;
  return { tool: "Patch", input: { thread, item, ...(typeof writesUnder === "string" && { writesUnder }) } };
}

function permissionsAsk(frame: AskFrame): CodexAsk {
  const wanted = fields(frame.params["permissions"]);
  const ask = askOf(frame, { tool: "permissions", input: { ...wanted } });
  return { id: frame.id, ask, kind: "permissions", wanted };
}

/** Asks questions; undefined if there is none to show. */
function questionsAsk(frame: AskFrame): CodexAsk | undefined {
  const questions = readQuestions(frame.params);
  if (!questions || questions.length === 0) return undefined;
  const shown = questions.map(({ id: _id, ...question }) => question);
  const ask = askOf(frame, { tool: "AskUserQuestion", input: { questions: shown } }, { questions: shown });
  return { id: frame.id, ask, kind: "questions", questions };
}

/** Allows only this once: Sage's rules live in Sage's files, and not in Codex's. */
function replyTo(open: Exclude<CodexAsk, { kind: "form" }>, given: GuestAnswer): object {
  switch (open.kind) {
    case "approval":
      return { decision: given.type === "refused" ? "decline" : "accept" };
    case "permissions":
      return { permissions: given.type === "allowed" ? open.wanted : {}, scope: "turn" };
    case "questions":
      return { answers: given.type === "answers" ? toCodexAnswers(open.questions, given.answers) : {} };
    default:
      return open satisfies never;
  }
}
