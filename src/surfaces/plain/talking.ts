import { randomUUID } from "node:crypto";
import { oneLine } from "../../base/visible.ts";
import type { Command } from "../../protocol/host/host.ts";
import { saidKey } from "../../protocol/key.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { Style } from "../../view/lines/paint.ts";
import type { FollowedSession } from "../../view/session.ts";
import type { Completion, Offer, TypedSlash } from "../../view/slash/read.ts";
import { completeSlash, readTypedSlash, unknownSlash } from "../../view/slash/read.ts";
import { runSlash, type Hand, type Reply, type SlashWords } from "../../view/slash/run.ts";
import type { PlainActs, PlainOptions } from "./options.ts";

/** Input of a person when nothing is asked: messages, and commands to this surface. */
export type Talking = {
  /** `echoed`: it is already visible as typed. */
  heard(text: string, options?: { echoed: boolean }): "nothing" | "command" | "message";
  complete(typed: string): readonly Completion[];
  speak(text: string, options: { echoed: boolean; when?: "now" | "next" }): void;
  resume(): void;
  /** Did this message appear on the screen as it was typed? */
  isEchoed(key: string): boolean;
};

type Parts = {
  session: FollowedSession;
  sender: Sender;
  style: Style;
  /** Typing is seen on the screen. */
  echoes: boolean;
  words: SlashWords;
  acts: PlainOptions["acts"];
  own: PlainOptions["own"];
  say(...lines: string[]): void;
  /** A command has done its work. */
  done(): void;
  leave(): void;
};

export function createTalking(parts: Parts): Talking {
  const { session, sender, say, words, acts } = parts;
  const { t, paint } = parts.style;
  const offer: Offer<"lines"> = {
    place: "lines",
    has: (name) => name === "quit" || acts?.[name as keyof PlainActs] !== undefined,
    ...(parts.own && { own: parts.own }),
  };
  const echoed = new Set<string>();

  const send = async (command: Command & { type: "say" | "resume" }) => {
    const reply = await session.send(command);
    if (reply.ok) return;
    const unknown = command.type === "say" ? unknownSlash(reply, command.text, offer, words.slash) : undefined;
    say(unknown ?? paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
    parts.done();
  };
  const resume = () => void send({ type: "resume", session: session.id });
  const speak: Talking["speak"] = (text, options) => {
    const id = randomUUID();
    if (options.echoed) echoed.add(saidKey(id));
    void send({ type: "say", session: session.id, text, id, when: options.when ?? "next", ...sender });
  };
  const show = (reply: Reply, tone = "dim") => {
    const lines = reply(words).map(oneLine);
    say(...(tone === "danger" ? lines.map(paint.red) : lines));
  };
  const hand: Hand<"lines", void> = {
    async own(name, args) {
      switch (name) {
        case "quit":
          return parts.leave();
        case "tasks":
        case "export":
          return say(...((await acts?.[name]?.(args)) ?? "").split("\n").map(oneLine));
        default:
          return name satisfies never;
      }
    },
    say: show,
    done() {}, // a fact, which is shown
    speak: (text, _, when) => speak(text, { echoed: parts.echoes, when }),
  };
  const run = async (typed: TypedSlash): Promise<void> => {
    await runSlash(typed, { session, sender, offer }, hand);
    parts.done();
  };

  return {
    speak,
    resume,
    isEchoed: (key) => echoed.has(key),
    complete: (typed) => completeSlash(typed, offer, words.slash),
    heard(text, { echoed } = { echoed: parts.echoes }) {
      if (text.trim() === "") return "nothing";
      const typed = readTypedSlash(text, offer);
      if (typed) void run(typed);
      else speak(text, { echoed }); // the host knows the skills
      return typed ? "command" : "message";
    },
  };
}
