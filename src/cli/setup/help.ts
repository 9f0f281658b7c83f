import { succeed, exitCodes } from "../process/stdout.ts";
import { version } from "../../config/version.ts";
import { sage } from "../../texts/command.ts";
import { helpTexts, type ExitName } from "../../texts/commands/help.ts";
import { columns, fitted } from "../../view/lines/safe.ts";
import { langOf } from "../process/flags.ts";

export async function help(args: string[], commands: readonly string[] = []): Promise<number> {
  const { usage, insteadOf, exitTitle, exit } = helpTexts(langOf(args));
  const codes = (Object.keys(exitCodes) as ExitName[]).map(
    (name) => `  ${`${exitCodes[name]}`.padEnd(5)}${exit[name]}`,
  );
  const command = commands.find((name) => name === args[0] && name !== "help");
  // A clone that was not linked has no command of that name.
  const [title = "", ...rest] = usage.split("\n");
  const note = sage() === "sage" ? [] : ["", insteadOf(sage("…"))];
  if (command !== undefined) {
    show([...helpOfCommand(command, rest), ...note]);
    return exitCodes.success;
  }
  show([title, ...note, ...rest, "", exitTitle, ...codes]);
  return exitCodes.success;
}

export async function showVersion(): Promise<number> {
  return succeed(version);
}

/** On a terminal lines are broken between words, below the column where their text begins. */
function show(lines: readonly string[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  console.log(lines.flatMap((line) => hangingIndent(line, width)).join("\n"));
}

export function hangingIndent(line: string, width: number | undefined): string[] {
  const lead = /^(?: {20,}| {2}\S.*? {2,})(?=\S)/.exec(line)?.[0] ?? "";
  if (width === undefined || lead === "" || columns(lead) > width / 2) return fitted([line], width);
  const [first = "", ...more] = fitted([line.slice(lead.length)], width - columns(lead));
  return [lead + first, ...more.map((row) => " ".repeat(columns(lead)) + row.trimStart())];
}

/** Flags that commands share with others, by command. */
const shared: Record<string, string[]> = {
  acp: ["--model"],
  answer: ["--run", "--model", "--host", "--engine"],
  demo: ["--plain"],
  sessions: ["--json", "--host", "--engine"],
  inbox: ["--json", "--host", "--engine"],
  why: ["--host", "--engine"],
  stats: ["--engine"],
  export: ["--engine"],
};

/** Help for a command: its lines with the details below them, then the flags it shares with others. */
export function helpOfCommand(command: string, lines: readonly string[]): string[] {
  return [
    ...under(`sage ${command}`, lines),
    ...[...(shared[command] ?? []), "--lang"].flatMap((flag) => under(flag, lines)),
  ];
}

function under(start: string, lines: readonly string[]): string[] {
  let within = false;
  return lines.filter((line) => {
    if (!/^ {20}/.test(line)) within = new RegExp(`^ {2}${start}(?![\\w-])`).test(line);
    return within;
  });
}
