import { closest } from "../../base/closest.ts";
import { oneLine } from "../../base/visible.ts";
import { modeWords, type SessionMode } from "../../protocol/mode.ts";
import { reasonOf } from "../../protocol/reasons/error.ts";
import { errorText } from "../../texts/shared/error.ts";
import { nameOf } from "../../view/items/summary.ts";
import type { Picked, SlashCommand } from "./screen/options.ts";
import type { TalkParts } from "./talk.ts";

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

/** Commands to Sage: `/name`. */
type Slash = {
  commands(): readonly { name: string; hint: string }[];
  /** Does what was typed as a command; `text` is the whole line. */
  command(name: string, args: string, text: string): void;
  /** Runs a command as if it had been typed, if there is one of this name. */
  run(name: string): void;
  /** Does what a command or a choice came to. */
  picked(result: Picked): void;
};

type Acts = {
  speak(text: string): void;
  resume(): void;
  compact(): Promise<void>;
  chooseMode(mode: SessionMode): Promise<boolean>;
};

export function createSlash(parts: TalkParts, { speak, resume, compact, chooseMode }: Acts): Slash {
  const { host, options, session, t, tt, scroll, redraw } = parts;
  const plan = async (task: string) => {
    if ((await chooseMode("plan")) && task !== "") speak(task);
  };
  const mode = async (word: string) => {
    const chosen = modeWords[word];
    if (chosen) return void (await chooseMode(chosen));
    return { text: tt.modeIs(t.modes[session.progress.mode], Object.keys(modeWords)) };
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
    { name: "compact", hint: tt.commands.compact, run: compact },
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
    if (name === "resume" && args === "" && (session.run === "paused" || session.run === "stopped")) return resume();
    const found = all.find((one) => one.name === name);
    if (found) return void run(found, args);
    if (args !== "" || skills.some((one) => one.name === name)) return speak(text); // the host knows the skills
    const meant = closest(name, names);
    scroll.note("warn", tt.unknownCommand(oneLine(name), meant));
    redraw();
  };

  return {
    picked,
    command,
    commands: () => [...all, ...(options.skills ?? [])],
    run(name) {
      const found = all.find((one) => one.name === name);
      if (found) void run(found, "");
    },
  };
}
