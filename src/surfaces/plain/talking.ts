import { randomUUID } from "node:crypto";
import { readSlash } from "../../base/slash.ts";
import { oneLine } from "../../base/visible.ts";
import type { Command } from "../../protocol/host/host.ts";
import { saidKey } from "../../protocol/key.ts";
import { modeWords, type SessionMode } from "../../protocol/mode.ts";
import { reasonOf } from "../../protocol/reasons/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { Style } from "../../view/lines/paint.ts";
import { wholeRequest } from "../../view/lines/request.ts";
import type { FollowedSession } from "../../view/session.ts";
import type { PlainOptions } from "./options.ts";

/** Input of a person when nothing is asked: messages, and commands to this surface. */
export type Talking = {
  heard(text: string): void;
  speak(text: string, options: { echoed: boolean }): void;
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
  commands: NonNullable<PlainOptions["commands"]>;
  say(...lines: string[]): void;
  /** A command has done its work. */
  done(): void;
  leave(): void;
};

export function createTalking(parts: Parts): Talking {
  const { session, sender, say } = parts;
  const { t, paint } = parts.style;
  const echoed = new Set<string>();

  const send = async (command: Command & { type: "say" | "resume" }) => {
    const reply = await session.send(command);
    if (reply.ok) return;
    const unknown = reply.code === "input-invalid" && command.type === "say" && command.text.trim().startsWith("/");
    say(unknown ? t.unknownCommand(oneLine(command.text)) : paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
    parts.done();
  };
  const resume = () => void send({ type: "resume", session: session.id });
  const speak: Talking["speak"] = (text, options) => {
    const id = randomUUID();
    if (options.echoed) echoed.add(saidKey(id));
    void send({ type: "say", session: session.id, text, id, ...sender });
  };
  const inbox = async () => {
    const reply = await session.send({ type: "pending" });
    if (!reply.ok) say(paint.red(oneLine(errorText(reply, t))));
    else if (reply.requests.length === 0) say(t.inboxEmpty);
    else
      for (const { request } of reply.requests)
        say(...wholeRequest(request, parts.style), paint.dim(t.answerWith(request.id)));
    parts.done();
  };

  // Its effect is a fact, and shown as one.
  const compact = async () => {
    const reply = await session.send({ type: "compact", session: session.id });
    if (!reply.ok) say(paint.red(oneLine(errorText(reply, t))));
    parts.done();
  };

  const chooseMode = async (mode: SessionMode): Promise<boolean> => {
    const reply = await session.send({ type: "chooseMode", session: session.id, mode, ...sender });
    if (!reply.ok) say(paint.red(oneLine(errorText(reply, t))));
    return reply.ok;
  };
  const own: Record<string, (args: string) => Promise<unknown>> = {
    async plan(task) {
      if ((await chooseMode("plan")) && task !== "") speak(task, { echoed: parts.echoes });
    },
    async mode(word) {
      const mode = modeWords[word];
      if (mode) await chooseMode(mode);
      else say(t.modeNow(t.modes[session.progress.mode], Object.keys(modeWords)));
    },
  };
  const run = async (name: string, args: string): Promise<void> => {
    try {
      const lines = await parts.commands[name]?.(args);
      if (lines) say(...lines.map(oneLine));
      else await own[name]?.(args);
    } catch (error) {
      say(paint.red(oneLine(t.because(reasonOf(error)))));
    }
    parts.done();
  };

  return {
    speak,
    resume,
    isEchoed: (key) => echoed.has(key),
    heard(text) {
      const typed = text.trim();
      if (typed === "") return;
      const slash = readSlash(typed);
      const known = slash && (Object.hasOwn(own, slash.name) || Object.hasOwn(parts.commands, slash.name));
      if (typed === "/quit" || typed === "/exit") parts.leave();
      else if (typed === "/resume") resume();
      else if (typed === "/inbox") void inbox();
      else if (typed === "/compact") void compact();
      else if (typed === "/help") say(...t.help);
      else if (known) void run(slash.name, slash.args);
      else speak(text, { echoed: parts.echoes }); // the host knows the skills
    },
  };
}
