import { randomUUID } from "node:crypto";
import { oneLine } from "../../base/visible.ts";
import type { Command, Host } from "../../protocol/host/host.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { TerminalTexts } from "../../texts/surfaces/terminal.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { FollowedSession } from "../../view/session.ts";
import { completeSlash, unknownSlash, type Completion } from "../../view/slash/read.ts";
import { newestOf } from "../../view/slash/run.ts";
import type { SlashName } from "../../view/slash/table.ts";
import { readTyped } from "./input.ts";
import type { Picked, Picking, TerminalOptions } from "./screen/options.ts";
import { createOwnShell, type OwnShell } from "./own-shell.ts";
import type { Scroll } from "./screen/scroll.ts";
import { createSlash } from "./slash.ts";

/** Input of a person: messages, commands to Sage, and commands to their own shell. */
export type Talk = {
  submit(text: string): void;
  speak(text: string): void;
  resume(): void;
  /** Does a message of this person wait to be read? */
  canTakeBack(): boolean;
  /** Takes the newest of them back into the editor. */
  takeBack(): void;
  chooseMode(mode: SessionMode): void;
  /** Runs a command as if it had been typed, if there is one of this name. */
  run(name: SlashName): void;
  /** Does what a command or a choice came to. */
  picked(result: Picked): void;
  /** The person's own command, while it runs. */
  shell: OwnShell["running"];
  /** Completes a command, from the text before the caret. */
  complete(typed: string): readonly Completion[];
};

export type TalkParts = {
  host: Host;
  sender: Sender;
  options: TerminalOptions;
  t: Texts;
  tt: TerminalTexts;
  scroll: Scroll;
  session: FollowedSession;
  now(): number;
  redraw(): void;
  leave(): void;
  switchTo(session: string): void;
  /** Shows a list to choose from. */
  pick(picking: Picking): void;
  /** Puts a text into the editor. */
  write(text: string): void;
  /** The text that is in it. */
  typed(): string;
};

export function createTalk(parts: TalkParts): Talk {
  const { session, sender, t, scroll, redraw } = parts;
  /** Commands that the person ran since their last message, as the model is told of them. */
  let ran: string[] = [];

  const send = async (command: Command & { type: "say" | "resume" }) => {
    const replied = session.send(command);
    redraw();
    const reply = await replied;
    if (!reply.ok) {
      const { offer, words } = slash;
      const unknown = command.type === "say" ? unknownSlash(reply, command.text, offer, words.slash) : undefined;
      if (unknown === undefined) scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
      else scroll.note("warn", unknown);
    }
    redraw();
    return reply.ok;
  };
  const resume = () => void send({ type: "resume", session: session.id });
  const speak = (text: string) => {
    const told = ran;
    ran = [];
    const whole = [text, ...told].join("\n\n");
    void send({ type: "say", session: session.id, text: whole, id: randomUUID(), ...sender }).then((ok) => {
      if (!ok) ran = [...told, ...ran];
    });
  };

  const chooseMode = async (mode: SessionMode): Promise<void> => {
    const reply = await session.send({ type: "chooseMode", session: session.id, mode, ...sender });
    if (!reply.ok) scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
    redraw();
  };
  const shell = createOwnShell(parts, (told) => ran.push(told));
  const slash = createSlash(parts, { speak, resume });

  return {
    speak,
    resume,
    picked: slash.picked,
    canTakeBack: () => newestOf(session, sender) !== undefined,
    takeBack: () => void slash.command({ name: "withdraw", args: "" }, { shown: false }),
    chooseMode: (chosen) => void chooseMode(chosen),
    run: slash.run,
    shell: shell.running,
    complete: (typed) => completeSlash(typed, slash.offer, slash.words.slash),
    submit(text) {
      const typed = readTyped(text, slash.offer);
      switch (typed.type) {
        case "nothing":
          return;
        case "say":
          return speak(typed.text);
        case "command":
          return slash.command(typed.typed, { shown: true });
        case "shell":
          return void shell.run(typed.command);
        default:
          return typed satisfies never;
      }
    },
  };
}
