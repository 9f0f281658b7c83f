import { randomUUID } from "node:crypto";
import { oneLine } from "../../base/visible.ts";
import type { Command, Host } from "../../protocol/host/host.ts";
import { saidKey } from "../../protocol/key.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { Style } from "../../view/lines/paint.ts";
import { wholeRequest } from "../../view/lines/request.ts";
import type { Progress } from "../../view/transcript/progress.ts";
import { type Outcome, type SlashWords, failed, runSlash } from "../../view/slash/run.ts";
import {
  completeSlash,
  readTypedSlash,
  unknownSlash,
  type Completion,
  type Offer,
  type TypedSlash,
} from "../../view/slash/read.ts";
import type { OwnSlash } from "../../view/slash/table.ts";
import type { PlainActs, PlainOptions } from "./options.ts";

/** Input of a person when nothing is asked: messages, and commands to this surface. */
export type Talking = {
  /** `echoed`: it was seen as it was typed. */
  heard(text: string, options?: { echoed: boolean }): "nothing" | "command" | "message";
  complete(typed: string): readonly Completion[];
  speak(text: string, options: { echoed: boolean }): void;
  resume(): void;
  /** Did this message appear on the screen as it was typed? */
  isEchoed(key: string): boolean;
};

type Parts = {
  host: Host;
  session: string;
  sender: Sender;
  style: Style;
  progress: Progress;
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
  const { host, session, sender, progress, say, words, acts } = parts;
  const { t, paint } = parts.style;
  const offer: Offer<"lines"> = {
    place: "lines",
    has: (name) => ["quit", "resume", "inbox"].includes(name) || acts?.[name as keyof PlainActs] !== undefined,
    ...(parts.own && { own: parts.own }),
  };
  const echoed = new Set<string>();

  const send = async (command: Command & { type: "say" | "resume" }) => {
    const before = progress.working;
    progress.working = true;
    const reply = await host.send(command);
    if (reply.ok) return;
    progress.working = before;
    const unknown = command.type === "say" ? unknownSlash(reply, command.text, offer, words.slash) : undefined;
    say(unknown ?? paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
    parts.done();
  };
  const resume = () => void send({ type: "resume", session });
  const speak: Talking["speak"] = (text, options) => {
    const id = randomUUID();
    if (options.echoed) echoed.add(saidKey(id));
    void send({ type: "say", session, text, id, ...sender });
  };
  const inbox = async () => {
    const reply = await host.send({ type: "pending" });
    if (!reply.ok) say(paint.red(oneLine(errorText(reply, t))));
    else if (reply.requests.length === 0) say(t.inboxEmpty);
    else
      for (const { request } of reply.requests)
        say(...wholeRequest(request, parts.style), paint.dim(t.answerWith(request.id)));
  };

  const own = async (name: OwnSlash<"lines">, args: string): Promise<void> => {
    switch (name) {
      case "quit":
        return parts.leave();
      case "resume":
        return resume();
      case "inbox":
        return inbox();
      case "tasks":
      case "export":
        return say(...((await acts?.[name]?.(args)) ?? "").split("\n").map(oneLine));
      default:
        return name satisfies never;
    }
  };

  const came = async (outcome: Outcome<"lines">): Promise<void> => {
    switch (outcome.type) {
      case "own":
        return own(outcome.name, outcome.args);
      case "told": {
        const lines = outcome.told(words).map(oneLine);
        return say(...(outcome.tone === "danger" ? lines.map(paint.red) : lines));
      }
      case "done":
        return; // a fact, which is shown
      case "back":
        return say(...outcome.told(words).map(oneLine));
      case "say":
        return speak(outcome.text, { echoed: parts.echoes });
      case "go":
        return say(words.slash.elsewhere(outcome.session));
      default:
        return outcome satisfies never;
    }
  };
  const run = async (typed: TypedSlash): Promise<void> => {
    try {
      await came(await runSlash(typed, { host, session, sender, offer, mode: () => progress.mode }));
    } catch (error) {
      await came(failed(typed.name, error));
    }
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
