import {
  askOf,
  commandAsk,
  patchAsk,
  permissionsAsk,
  questionsAsk,
  replyTo,
  type AskFrame,
  type CodexAsk,
} from "./asks.ts";
import type { CodexNews } from "./news.ts";
import type { CodexLine } from "./server.ts";
import type { GuestAnswer, GuestAsk, GuestEvent } from "../driver.ts";
import { text, type Fields } from "../json.ts";
import { NOT_OFFERED, type Rpc, type RpcId } from "../rpc.ts";

/** Requests of Codex that wait for an answer. Its app-server keeps the thread for as long as there are any. */
export type CodexAsked = {
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
