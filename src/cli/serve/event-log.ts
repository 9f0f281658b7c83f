import type { Store } from "../../journal/store/store.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Log } from "../../surfaces/feishu/transport/api/config.ts";
import type { Lang } from "../../texts/language.ts";
import { whoOf } from "../../texts/shared/resolution.ts";
import { serveTexts } from "../../texts/serve/serve.ts";
import { texts, type Texts } from "../../texts/shared/texts.ts";
import { endNote } from "../../view/note.ts";

export type EventLog = {
  /** Logs what happens in a session until its turn has ended. */
  follow(session: string): void;
  close(): void;
};

/** A line of the log for each message, request, answer and end. Who did what, and nothing of what people or the agent wrote. */
export function createEventLog(store: Store, log: Log, lang: Lang): EventLog {
  const following = new Map<string, () => void>();
  const [t, words] = [texts(lang), serveTexts(lang)];
  const tell = (fact: Fact) => {
    const line = lineOf(fact, t, words);
    if (line !== undefined) log("info", `${fact.session}: ${line}`);
    if (fact.type !== "turn.ended") return;
    following.get(fact.session)?.();
    following.delete(fact.session);
  };
  return {
    follow(session) {
      if (!following.has(session)) following.set(session, store.hub.subscribe(session, { fact: tell }));
    },
    close() {
      for (const stop of following.values()) stop();
      following.clear();
    },
  };
}

function lineOf(fact: Fact, t: Texts, words: ReturnType<typeof serveTexts>): string | undefined {
  switch (fact.type) {
    case "user.said":
      return words.message(whoOf(fact.data, t));
    case "input.requested":
      return words.asks(fact.data.kind, askedFor(fact.data), fact.data.id);
    case "input.resolved":
      return words.answered(fact.data.requestId, whoOf(fact.data, t), words.outcomes[howEnded(fact.data)]);
    case "turn.interrupted":
      return words.interrupted(whoOf(fact.data, t));
    case "turn.ended":
      return endNote(fact.data, t).line;
    default:
      return undefined;
  }
}

function askedFor(request: InputRequest): string {
  return request.kind === "permission" ? request.tool : "";
}

function howEnded(resolution: Resolution): Resolution["outcome"] | "granted" | "denied" {
  if (resolution.outcome !== "answered") return resolution.outcome;
  const { type } = resolution.response;
  return type === "granted" || type === "denied" ? type : "answered";
}
