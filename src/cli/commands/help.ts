import { version } from "../../config/version.ts";
import { sage } from "../../texts/command.ts";
import { helpTexts, type ExitName } from "../../texts/help.ts";
import { exitCodes } from "../exit-codes.ts";
import { langOf } from "../flags.ts";

export async function help(args: string[], commands: readonly string[] = []): Promise<number> {
  const { usage, insteadOf, exitTitle, exit } = helpTexts(langOf(args));
  const codes = (Object.keys(exitCodes) as ExitName[]).map(
    (name) => `  ${`${exitCodes[name]}`.padEnd(5)}${exit[name]}`,
  );
  const command = commands.find((one) => one === args[0] && one !== "help");
  // A clone that was not linked has no command of that name.
  const [title = "", ...rest] = usage.split("\n");
  const note = sage() === "sage" ? [] : ["", insteadOf(sage("…"))];
  if (command !== undefined) {
    console.log([...partOf(command, rest), ...note].join("\n"));
    return exitCodes.success;
  }
  console.log([title, ...note, ...rest, "", exitTitle, ...codes].join("\n"));
  return exitCodes.success;
}

export async function showVersion(): Promise<number> {
  console.log(version);
  return exitCodes.success;
}

/** Help for a command: its lines, details below them, and the flags it shares with others. */
function partOf(command: string, lines: readonly string[]): string[] {
  const shared = { answer: ["--run", "--model"], sessions: ["--json"], inbox: ["--json"] } as Record<string, string[]>;
  const starts = [`sage ${command}`, "--lang", ...(shared[command] ?? [])];
  let within = false;
  return lines.filter((line) => {
    if (!/^ {20}/.test(line)) within = starts.some((start) => new RegExp(`^ {2}${start}(?![\\w-])`).test(line));
    return within;
  });
}
