import { version } from "../runtime/version.ts";
import { sage } from "../texts/command.ts";
import { helpTexts, type ExitName } from "../texts/help.ts";
import { exitCodes } from "./exit-codes.ts";
import { langOf } from "./flags.ts";

export async function help(args: string[]): Promise<number> {
  const { usage, insteadOf, exitTitle, exit } = helpTexts(langOf(args));
  const codes = (Object.keys(exitCodes) as ExitName[]).map(
    (name) => `  ${`${exitCodes[name]}`.padEnd(5)}${exit[name]}`,
  );
  // A clone that was not linked has no command of that name.
  const [title = "", ...rest] = usage.split("\n");
  const note = sage() === "sage" ? [] : ["", insteadOf(sage("…"))];
  console.log([title, ...note, ...rest, "", exitTitle, ...codes].join("\n"));
  return exitCodes.success;
}

export async function showVersion(): Promise<number> {
  console.log(version);
  return exitCodes.success;
}
