import { randomUUID } from "node:crypto";
import { oneLine } from "../../base/visible.ts";
import type { Command, Host } from "../../protocol/host/host.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import { reasonOf } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import type { TerminalTexts } from "../../texts/surfaces/terminal.ts";
import type { FollowedSession } from "../../view/session.ts";
import type { Completion, Offer, TypedSlash } from "../../view/slash/read.ts";
import { completeSlash, offeredAt, unknownSlash } from "../../view/slash/read.ts";
import { newestOf, runSlash, type Hand, type SlashWords } from "../../view/slash/run.ts";
import type { SlashName } from "../../view/slash/table.ts";
import { readTyped } from "./input.ts";
import type { Picked, Picking, TerminalActs, TerminalOptions } from "./screen/options.ts";
import type { BoxItem, Scroll } from "./screen/scroll.ts";

/** Input of a person: messages, commands to Sage, and commands to their own shell. */
export type Talk = {
  submit(text: string): void;
  speak(text: string, when?: "now" | "next"): void;
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

type TalkParts = {
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
  const speak = (text: string, when: "now" | "next" = "next") => {
    const told = ran;
    ran = [];
    const whole = [text, ...told].join("\n\n");
    void send({ type: "say", session: session.id, text: whole, id: randomUUID(), when, ...sender }).then((ok) => {
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

/** Commands to Sage: `/name`. */
type Slash = {
  offer: Offer<"terminal">;
  words: SlashWords;
  /** `shown`: it stands in the transcript as it was typed. */
  command(typed: TypedSlash, how: { shown: boolean }): void;
  /** Runs a command as if it had been typed, if it works here. */
  run(name: SlashName): void;
  /** Does what a command or a choice came to. */
  picked(result: Picked): void;
};

type Acts = Pick<Talk, "speak" | "resume">;

function createSlash(parts: TalkParts, { speak, resume }: Acts): Slash {
  const { options, session, sender, t, scroll, redraw } = parts;
  const { lang, acts, own: ownNames = () => [] } = options;
  const words: SlashWords = { t, slash: slashTexts(lang), intro: parts.tt.help };
  const offer: Offer<"terminal"> = {
    place: "terminal",
    has: (name) => ["quit", "resume"].includes(name) || acts?.[name as keyof TerminalActs] !== undefined,
    own: ownNames,
  };

  const picked = (result: Picked) => {
    if (!result) return;
    if ("text" in result) scroll.note("dim", ...result.text.split("\n").map(oneLine));
    else if ("draft" in result) {
      if (parts.typed() === "") parts.write(result.draft);
    } else if ("session" in result) parts.switchTo(result.session);
    else if ("write" in result) parts.write(result.write);
    else parts.pick(result.pick);
    redraw();
  };

  const hand: Hand<"terminal", Picked> = {
    own(name, args) {
      switch (name) {
        case "quit":
          return parts.leave();
        case "resume":
          if (!acts?.resume || (args === "" && (session.run === "paused" || session.run === "stopped")))
            return resume();
          return acts.resume(args);
        case "sessions":
        case "new":
        case "model":
        case "rewind":
        case "tasks":
        case "permissions":
        case "export":
          return acts?.[name]?.(args);
        default:
          return name satisfies never;
      }
    },
    say: (reply, tone) => scroll.note(tone, ...reply(words).map(oneLine)),
    done() {}, // a fact, which is shown
    back: (text) => ({ write: [text, parts.typed()].filter((each) => each !== "").join("\n") }),
    speak: (text, _, when) => speak(text, when),
    async go(id) {
      await options.ready?.(id);
      return { session: id };
    },
  };

  const command = async (typed: TypedSlash, { shown }: { shown: boolean }) => {
    const { name, args } = typed;
    if (shown)
      scroll.add({ type: "note", tone: "dim", lines: [oneLine(`❯ /${name} ${args}`.trimEnd())] }, { apart: true });
    picked(await runSlash(typed, { session, sender, offer }, hand));
    redraw();
  };

  return {
    offer,
    words,
    picked,
    command: (typed, how) => void command(typed, how),
    run(name) {
      if (offeredAt(offer).includes(name)) void command({ name, args: "" }, { shown: true });
    },
  };
}

/** Characters of an output that the model is told. */
const TOLD = 8_000;

/** The person's own shell: `!command`, one at a time. */
type OwnShell = {
  run(line: string): Promise<void>;
  /** The command that runs. */
  running(): { since: number; stop(): void } | undefined;
};

type Parts = Pick<TalkParts, "options" | "t" | "tt" | "scroll" | "now" | "redraw">;

/** `told`: a command has ended; this is the text for the model. */
function createOwnShell(parts: Parts, told: (text: string) => void): OwnShell {
  const { options, t, tt, scroll, redraw } = parts;
  let running: { since: number; stop(): void } | undefined;
  const run = async (line: string): Promise<void> => {
    if (!options.shell) return scroll.note("warn", tt.shellNone);
    if (running) return scroll.note("warn", tt.shellBusy);
    const stop = new AbortController();
    running = { since: parts.now(), stop: () => stop.abort() };
    const box = scroll.add<BoxItem>({ type: "box", title: `! ${line}`, text: "", done: false }, { apart: true });
    redraw();
    try {
      const { code, told: printed } = await options.shell(line, {
        output: (text) => void (box.text = (box.text + text).slice(-TOLD * 8)),
        signal: stop.signal,
      });
      box.note = code === 0 ? tt.shellPrefix : `${tt.printed(code)} · ${tt.shellPrefix}`;
      told(toldOf(line, code === 0 ? printed : `${printed}\n(${tt.printed(code)})`, tt));
    } catch (error) {
      box.note = oneLine(t.because(reasonOf(error)));
    } finally {
      box.done = true;
      running = undefined;
      redraw();
    }
  };
  return { run, running: () => running };
}

/** Text for the model about a command that the person ran. */
export function toldOf(command: string, printed: string, tt: TerminalTexts): string {
  const whole = printed.trimEnd();
  if (whole === "") return `${tt.shellTold(command)}\n${tt.shellNothing}`;
  const cut = Math.max(0, whole.length - TOLD);
  const fence = "`".repeat(Math.max(3, ...[...whole.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return [
    tt.shellTold(command),
    tt.shellPrinted,
    ...(cut > 0 ? [tt.shellCut(cut)] : []),
    fence,
    whole.slice(cut),
    fence,
  ].join("\n");
}
