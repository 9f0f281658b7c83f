import { randomUUID } from "node:crypto";
import { oneLine, saidKey, type Command, type Host, type Sender } from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import type { Style } from "../../view/lines/paint.ts";
import { wholeRequest } from "../../view/lines/request.ts";
import type { Progress } from "../../view/progress.ts";

/** Input of a person when nothing is asked: messages, and commands to this surface. */
export type Talking = {
  heard(text: string): void;
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
  say(...lines: string[]): void;
  /** A command has done its work. */
  done(): void;
  leave(): void;
};

export function createTalking(parts: Parts): Talking {
  const { host, session, sender, progress, say } = parts;
  const { t, paint } = parts.style;
  const echoed = new Set<string>();

  const send = async (command: Command & { type: "say" | "resume" }) => {
    const before = progress.working;
    progress.working = true;
    const reply = await host.send(command);
    if (reply.ok) return;
    progress.working = before;
    const unknown = reply.code === "input-invalid" && command.type === "say" && command.text.trim().startsWith("/");
    say(unknown ? t.unknownCommand(oneLine(command.text)) : paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
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
    parts.done();
  };

  // Its effect is a fact, and shown as one.
  const compact = async () => {
    const reply = await host.send({ type: "compact", session });
    if (!reply.ok) say(paint.red(oneLine(errorText(reply, t))));
    parts.done();
  };

  return {
    speak,
    resume,
    isEchoed: (key) => echoed.has(key),
    heard(text) {
      const typed = text.trim();
      if (typed === "") return;
      if (typed === "/quit" || typed === "/exit") parts.leave();
      else if (typed === "/resume") resume();
      else if (typed === "/inbox") void inbox();
      else if (typed === "/compact") void compact();
      else if (typed === "/help") say(...t.help);
      else speak(text, { echoed: parts.echoes }); // the host knows the skills
    },
  };
}
