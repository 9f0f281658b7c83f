import type { InputRequest, PermissionRequest } from "../../../protocol/facts/request.ts";
import { readTypedSlash, type Offer } from "../../../view/slash/read.ts";
import { entryOf, type AnswerSlash } from "../../../view/slash/table.ts";

/** State of a session in a chat. Never set: it follows from the facts and the request that waits. */
export type ChatState = "IDLE" | "EXECUTING" | "WAITING_INPUT" | "WAITING_CONFIRM";

export function stateOf({ working, open }: { working: boolean; open: readonly InputRequest[] }): ChatState {
  const [first] = open;
  if (first) return wantsText(first) ? "WAITING_INPUT" : "WAITING_CONFIRM";
  return working ? "EXECUTING" : "IDLE";
}

/** A text is asked for, and nothing is offered to choose from. */
function wantsText(request: InputRequest): boolean {
  if (request.kind === "question") return request.questions.every(({ options }) => options.length === 0);
  return request.kind === "text";
}

export type Said = {
  text: string;
  /** The request whose card is quoted, or named by its code; `closed` when it asks no more. */
  meant?: InputRequest | "closed";
};

export type Decision = { allow: "once" | "always" | "outside"; comment?: string } | { deny: string };

/** Fate of a message that is no command. Decided here and nowhere else. */
export type Hint = "useCard" | "replyToCard" | "notThis" | "quoteCard";

type Route =
  | { to: "task" }
  | { to: "queue" }
  | { to: "answer"; request: InputRequest; text: string }
  | { to: "decide"; request: PermissionRequest; decision: Decision }
  /** A question about the request, which stays open. */
  | { to: "inquire"; request: InputRequest; text: string }
  | { to: "hint"; hint: Hint };

/** `open`: everything that asks in this chat, also for other sessions. */
export function route(state: ChatState, { text, meant }: Said, open: readonly InputRequest[]): Route {
  const hint = (hint: Hint): Route => ({ to: "hint", hint });
  const inquiry = readInquiry(text, { quoted: meant !== undefined });
  if (inquiry !== undefined) {
    const about = meant ?? (open.length === 1 ? open[0] : undefined);
    if (about === undefined) return hint(open.length === 0 ? "notThis" : "quoteCard");
    return about === "closed" ? hint("notThis") : { to: "inquire", request: about, text: inquiry };
  }
  const decision = readDecision(text);
  if (meant === "closed") {
    if (decision || state === "WAITING_INPUT" || state === "WAITING_CONFIRM") return hint("notThis");
  } else if (meant) {
    if (meant.kind === "permission") return decision ? { to: "decide", request: meant, decision } : hint("useCard");
    return decision ? hint("quoteCard") : { to: "answer", request: meant, text };
  }
  const permissions = open.filter((request) => request.kind === "permission");
  const [asked] = permissions;
  // Without a card, a word could allow something that was not yet there when it was typed; refusing is harmless.
  if (decision && "deny" in decision && asked && permissions.length === 1)
    return { to: "decide", request: asked, decision };
  if (decision) return hint("quoteCard");
  if (state === "IDLE") return { to: "task" };
  if (state === "EXECUTING") return { to: "queue" };
  const [only] = open;
  if (only && open.length === 1 && only.kind !== "permission") return { to: "answer", request: only, text };
  return hint(open.some(({ kind }) => kind !== "permission") ? "replyToCard" : "useCard");
}

/** A chat offers the same commands to everybody. */
export const chatOffer: Offer<"feishu"> = { place: "feishu" };

/** `/allow`, `/deny`, `/answer` and `/ask`: they are read together with the request that they answer. */
function answerIn(text: string): { verb: AnswerSlash<"feishu">; words: string } | undefined {
  const typed = readTypedSlash(text, chatOffer);
  if (!typed || entryOf(typed.name).on.feishu !== "answer") return undefined;
  return { verb: typed.name as AnswerSlash<"feishu">, words: typed.args };
}

/** `/ask why not with sed`; in reply to a card, `?` is enough. */
function readInquiry(text: string, { quoted }: { quoted: boolean }): string | undefined {
  const typed = answerIn(text);
  if (typed?.verb === "ask") return typed.words;
  return quoted ? /^[?？]\s*([^]*)$/.exec(text.trim())?.[1] : undefined;
}

export function readDecision(text: string): Decision | undefined {
  const { verb, words = "" } = answerIn(text) ?? {};
  if (verb === "deny") return { deny: words };
  if (verb !== "allow") return undefined;
  if (words === "") return { allow: "once" };
  if (/^(outside|沙箱外)$/i.test(words)) return { allow: "outside" };
  return /^(always|始终)$/i.test(words) ? { allow: "always" } : undefined;
}

/** `/allow #482913 always` names a card. Without the sign it must be a code of a card: a reason may begin with any number. */
export function readCode(text: string): { code: string; rest: string; sure: boolean } | undefined {
  const typed = answerIn(text);
  const found = typed && /^([#＃]?)\s*([0-9０-９]{6})(?![0-9０-９])\s*([^]*)$/.exec(typed.words);
  if (!found) return undefined;
  const { verb } = typed;
  const [, sign = "", code = "", words = ""] = found;
  return {
    code: code.normalize("NFKC"),
    rest: verb === "answer" ? words : `/${verb} ${words}`.trim(),
    sure: sign !== "" || verb === "answer",
  };
}
