import type { SessionLog } from "../../journal/session/session.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import { textOf } from "../../protocol/facts/message.ts";
import { titleKey } from "../../protocol/key.ts";

const TIMEOUT_MS = 30_000;
const MAX_TITLE_LENGTH = 60;
const QUOTED = 4_000;

const instructions = `You name conversations for a list. Write a title for the one that begins with the message below: at most eight
words, in the language of the message, saying what is to be done. Only the title: no quotes, no full stop, no answer to the message.`;

export type Titles = {
  /** Names the session while its first turn runs. */
  begin(log: SessionLog): void;
  stop(): void;
};

/** Titles by the small model, beside the turn. Failures are ignored: the first message serves as the title. */
export function createTitles(store: Store, model: () => Promise<Model>): Titles {
  const stopping = new AbortController();
  const write = async (session: string, message: string): Promise<void> => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const writer = await model();
    const reply = await writer.reply(
      {
        system: instructions,
        messages: [{ role: "user", text: message.slice(0, QUOTED) }],
        tools: [],
        options: {},
        agent: ["title"],
      },
      { signal, text() {}, reasoning() {}, retry() {} },
    );
    const title = cleaned(textOf(reply));
    if (title === "" || signal.aborted) return;
    if (store.load(session).some(({ type }) => type === "session.titled")) return; // a person was faster, and knows better
    const by = "auto";
    const data = { title, by, surface: "runtime", usage: reply.usage, model: writer.id };
    await store.append(session, { key: titleKey("auto"), type: "session.titled", at: Date.now(), data });
  };
  return {
    begin(log) {
      const [first] = log.unseen();
      const isNamed = log.loaded.some(({ type }) => type === "turn.begun" || type === "session.titled");
      if (first && !isNamed) write(log.id, first.data.text).catch(() => {});
    },
    stop: () => stopping.abort(),
  };
}

/** The first line, without the quotes and labels that models add. It is printed to a terminal, so it must be plain text. */
function cleaned(text: string): string {
  const [line = ""] = text.trim().split("\n");
  const plain = line
    .replace(/[\p{C}\s]+/gu, " ")
    .replace(/^(title:|标题[:：])\s*/iu, "")
    .replace(/^["'“”「『*#\s]+|["'“”」』*.。\s]+$/gu, "");
  return [...plain].slice(0, MAX_TITLE_LENGTH).join("").trim();
}
