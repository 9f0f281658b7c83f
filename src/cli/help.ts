import { version } from "../runtime/version.ts";
import { helpTexts, type ExitName } from "../texts/help.ts";
import { exitCodes } from "./exit-codes.ts";
import { langOf } from "./flags.ts";

export async function help(args: string[]): Promise<number> {
  const { usage, exitTitle, exit } = helpTexts(langOf(args));
  const codes = (Object.keys(exitCodes) as ExitName[]).map(
    (name) => `  ${`${exitCodes[name]}`.padEnd(5)}${exit[name]}`,
  );
  console.log([usage, "", exitTitle, ...codes].join("\n"));
  return exitCodes.success;
}

export async function showVersion(): Promise<number> {
  console.log(version);
  return exitCodes.success;
}
