import { randomUUID } from "node:crypto";
import {
  closest,
  modeWords,
  oneLine,
  reasonOf,
  type Command,
  type Host,
  type Sender,
  type SessionMode,
} from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import type { TerminalTexts } from "../../texts/terminal.ts";
import type { Texts } from "../../texts/texts.ts";
import type { Picked, Picking, SlashCommand, TerminalOptions } from "./options.ts";
import { readTyped } from "./input.ts";
import type { SaidItem } from "../../view/item.ts";
import type { BoxItem, Scroll } from "./scroll.ts";
import type { Progress } from "../../view/progress.ts";
import { nameOf } from "../../view/summary.ts";

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
  run(name: string): void;
  /** Does what a command or a choice came to. */
  picked(result: Picked): void;
  /** The person's own command, while it runs. */
  shell(): { since: number; stop(): void } | undefined;
  commands(): readonly { name: string; hint: string }[];
};

type Parts = {
  host: Host;
  sender: Sender;
  options: TerminalOptions;
  t: Texts;
  tt: TerminalTexts;
  scroll: Scroll;
  progress: Progress;
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

const TOLD = 8_000;

/** Names that other agents have for a command. */
const otherNames: Readonly<Record<string, string>> = {
  new: "clear",
  reset: "clear",
  undo: "rewind",
  usage: "cost",
  approvals: "mode",
  "allowed-tools": "permissions",
  bashes: "tasks",
  ps: "tasks",
};

export function createTalk(parts: Parts): Talk {
  const { host, sender, options, t, tt, scroll, progress, redraw } = parts;
  const { session } = options;
  let running: { since: number; stop(): void } | undefined;
  /** Commands that the person ran since their last message. */
  let ran: string[] = [];

  const send = async (command: Command & { type: "say" | "resume" | "compact" }) => {
    const before = progress.working;
    progress.working = true;
    redraw();
    const reply = await host.send(command);
    if (command.type === "compact") progress.working = before;
    if (!reply.ok) {
      progress.working = before;
      scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
    }
    redraw();
    return reply.ok;
  };
  const resume = () => void send({ type: "resume", session });
  const speak = (text: string) => {
    const told = ran;
    ran = [];
    const whole = [text, ...told].join("\n\n");
    void send({ type: "say", session, text: whole, id: randomUUID(), ...sender }).then((ok) => {
      if (!ok) ran = [...told, ...ran];
    });
  };

  let taking: string | undefined;
  const newest = () =>
    scroll.waiting().findLast(({ key, sender: { by, surface } }) => {
      return by === sender.by && surface === sender.surface && key !== taking;
    });
  const takeBack = async ({ key, text }: SaidItem) => {
    taking = key;
    const reply = await host.send({ type: "withdraw", session, message: key, ...sender });
    if (reply.ok) parts.write([text, parts.typed()].filter((one) => one !== "").join("\n"));
    else {
      taking = undefined;
      scroll.note("warn", tt.notTakenBack(oneLine(errorText(reply, t))));
    }
    redraw();
  };

  const chooseMode = async (mode: SessionMode): Promise<boolean> => {
    const reply = await host.send({ type: "chooseMode", session, mode, ...sender });
    if (!reply.ok) scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
    redraw();
    return reply.ok;
  };
  const plan = async (task: string) => {
    if ((await chooseMode("plan")) && task !== "") speak(task);
  };
  const mode = async (word: string) => {
    const chosen = modeWords[word];
    if (chosen) return void (await chooseMode(chosen));
    return { text: tt.modeIs(t.modes[progress.mode], Object.keys(modeWords)) };
  };

  const inbox = async () => {
    const reply = await host.send({ type: "pending" });
    if (!reply.ok) scroll.note("danger", oneLine(errorText(reply, t)));
    else if (reply.requests.length === 0) scroll.note("dim", t.inboxEmpty);
    else
      for (const { request } of reply.requests)
        scroll.note("dim", `◆ ${oneLine(nameOf(request, t))}`, `  ${t.answerWith(request.id)}`);
    redraw();
  };

  const own: SlashCommand[] = [
    { name: "help", hint: tt.commands.help, run: async () => ({ text: [...tt.help, "", ...listed()].join("\n") }) },
    { name: "inbox", hint: tt.commands.inbox, run: inbox },
    { name: "compact", hint: tt.commands.compact, run: async () => void (await send({ type: "compact", session })) },
    { name: "plan", hint: tt.commands.plan, run: plan },
    { name: "mode", hint: tt.commands.mode, run: mode },
    { name: "quit", hint: tt.commands.quit, run: async () => parts.leave() },
  ];
  const given = options.commands ?? [];
  const canResume = given.some(({ name }) => name === "resume");
  if (!canResume) own.push({ name: "resume", hint: tt.commands.resume, run: async () => resume() });
  const all = [...own, ...given].sort((a, b) => (a.name < b.name ? -1 : 1));
  const listed = () => [...all, ...(options.skills ?? [])].map(({ name, hint }) => `/${name.padEnd(12)} ${hint}`);

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

  const run = async ({ name, run: act }: SlashCommand, args: string) => {
    scroll.add({ type: "note", tone: "dim", lines: [oneLine(`❯ /${name} ${args}`.trimEnd())] }, { apart: true });
    try {
      picked(await act(args));
    } catch (error) {
      scroll.note("danger", tt.commandFailed(name, oneLine(t.because(reasonOf(error)))));
    } finally {
      redraw();
    }
  };

  const command = (given: string, args: string, text: string) => {
    const skills = options.skills ?? [];
    const names = [...all, ...skills].map((one) => one.name);
    const other = names.includes(given) ? undefined : names.find((one) => one === otherNames[given]);
    const name = other ?? given;
    if (name === "exit") return parts.leave();
    if (name === "resume" && args === "" && progress.open && !progress.working) return resume();
    const found = all.find((one) => one.name === name);
    if (found) return void run(found, args);
    if (args !== "" || skills.some((one) => one.name === name)) return speak(text); // the host knows the skills
    const meant = closest(name, names);
    scroll.note("warn", tt.unknownCommand(oneLine(name), meant));
    redraw();
  };

  const shell = async (line: string) => {
    if (!options.shell) return scroll.note("warn", tt.shellNone);
    if (running) return scroll.note("warn", tt.shellBusy);
    const stop = new AbortController();
    running = { since: parts.now(), stop: () => stop.abort() };
    const box = scroll.add<BoxItem>({ type: "box", title: `! ${line}`, text: "", done: false }, { apart: true });
    redraw();
    try {
      const { code, told } = await options.shell(line, {
        output: (text) => void (box.text = (box.text + text).slice(-TOLD * 8)),
        signal: stop.signal,
      });
      box.note = code === 0 ? tt.shellPrefix : `${tt.printed(code)} · ${tt.shellPrefix}`;
      ran.push(toldOf(line, code === 0 ? told : `${told}\n(${tt.printed(code)})`, tt));
    } catch (error) {
      box.note = oneLine(t.because(reasonOf(error)));
    } finally {
      box.done = true;
      running = undefined;
      redraw();
    }
  };

  return {
    speak,
    resume,
    picked,
    canTakeBack: () => newest() !== undefined,
    takeBack() {
      const found = newest();
      if (found) void takeBack(found);
    },
    chooseMode: (chosen) => void chooseMode(chosen),
    run(name) {
      const found = all.find((one) => one.name === name);
      if (found) void run(found, "");
    },
    shell: () => running,
    commands: () => [...all, ...(options.skills ?? [])],
    submit(text) {
      const typed = readTyped(text);
      switch (typed.type) {
        case "nothing":
          return;
        case "say":
          return speak(typed.text);
        case "command":
          return command(typed.name, typed.args, text);
        case "shell":
          return void shell(typed.command);
        default:
          return typed satisfies never;
      }
    },
  };
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
