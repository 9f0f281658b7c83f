import { readCall, judgedOf, numbered, findOption, questionsIn } from "./map.ts";
import type { News } from "./news.ts";
import type { GuestAnswer, GuestAsk, GuestEvent } from "../driver.ts";
import { fields, text, type Fields } from "../json.ts";
import { NOT_OFFERED, type Rpc, type RpcId } from "../rpc.ts";

/** Prompts of an agent that wait for an answer. */
type Asks = {
  permission(id: RpcId, params: Fields): void;
  form(id: RpcId, params: Fields): Promise<void>;
  answer(ask: GuestAsk, given: GuestAnswer): void;
  /** The turn is over, and nobody there waits for an answer; that ends no request. */
  forget(): void;
  /** The turn is interrupted: the agent hears that of each. */
  cancel(): void;
};

/** Words for which an answer has no place. Without a reason, an agent that goes on has understood. */
export type Untold = { words: string; reason?: string };

type Open = { id: RpcId; params: Fields; ask: GuestAsk } & (
  | { kind: "permission" }
  | { kind: "questions" }
  | { kind: "form"; answered(answer: GuestAnswer): void }
);

type AsksParts = {
  name: string;
  cwd: string;
  rpc: Rpc;
  news: News;
  push(event: GuestEvent): void;
  tellLater(untold: Untold): void;
  signal: AbortSignal;
};

export function createAsks({ name, cwd, rpc, news, push, tellLater, signal }: AsksParts): Asks {
  const asked = new Map<string, Open>();
  const put = (open: Open) => {
    asked.set(open.ask.id, open);
    push({ type: "asks", ask: open.ask });
  };

  return {
    permission(id, params) {
      const seen = news.seen(fields(params["toolCall"]));
      if (seen === undefined) return rpc.refuse(id, NOT_OFFERED, "a permission for no call");
      news.asksAbout(seen.toolCallId);
      const frame = { id: JSON.stringify(id), agent: [] };
      const questions = questionsIn(seen);
      if (questions === undefined)
        return put({
          id,
          params,
          kind: "permission",
          ask: { ...frame, call: readCall(seen, cwd), judged: judgedOf(seen, cwd) },
        });
      const call = { type: "call" as const, id: seen.toolCallId, tool: "AskUserQuestion", input: { questions } };
      put({ id, params, kind: "questions", ask: { ...frame, call, judged: [], questions } });
    },
    async form(id, params) {
      const { askForm } = await import("../form.ts");
      const ask = (questions: NonNullable<GuestAsk["questions"]>) => {
        const callId = text(params["toolCallId"]) ?? `form-${id}`;
        news.asksAbout(callId);
        const call = { type: "call" as const, id: callId, tool: "AskUserQuestion", input: { questions } };
        const why = text(params["message"]);
        const { promise, resolve } = Promise.withResolvers<GuestAnswer>();
        put({
          id,
          params,
          kind: "form",
          answered: resolve,
          ask: { id: JSON.stringify(id), call, judged: [], questions, agent: [], ...(why !== undefined && { why }) },
        });
        return promise;
      };
      rpc.reply(id, await askForm(params, { name, signal, ask }));
    },
    answer(ask, given) {
      const open = asked.get(ask.id);
      if (open === undefined) return;
      asked.delete(ask.id);
      if (given.type === "refused") tellLater(given);
      else if (given.type === "allowed" && given.words !== undefined)
        tellLater({ words: given.words, reason: given.words });
      if (open.kind === "form") return open.answered(given);
      const chosen = findOption(open.params, given.type === "refused" ? "reject_once" : "allow_once");
      const outcome = chosen === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: chosen };
      const answers = given.type === "answers" && { answers: numbered(ask.questions ?? [], given.answers) };
      rpc.reply(open.id, { outcome, ...answers });
    },
    forget: () => asked.clear(),
    cancel() {
      for (const { id, kind } of asked.values())
        rpc.reply(id, kind === "form" ? { action: "cancel" } : { outcome: { outcome: "cancelled" } });
      asked.clear();
    },
  };
}
