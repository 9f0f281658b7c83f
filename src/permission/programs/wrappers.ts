import type { Word } from "../shell/read/word.ts";

/** Programs that run the rest of their words and change nothing else about it: what they run is what counts. */
export const transparent: ReadonlySet<string> = new Set(["timeout", "time", "nice", "nohup", "stdbuf", "command"]);

/** The words of the command that runs in the end. One that is wrapped in a way not understood stays as it is. */
export function unwrapped(words: readonly Word[]): readonly Word[] {
  let rest = words;
  for (let inner = unwrap(rest); inner !== undefined; inner = unwrap(rest)) rest = inner;
  return rest;
}

function unwrap(words: readonly Word[]): readonly Word[] | undefined {
  const taken = length(words.map(({ text }) => text));
  const first = taken === undefined ? undefined : words[taken];
  // The first word that is left must be a command, and not an option that was overlooked.
  return first?.text === undefined || first.text.startsWith("-") ? undefined : words.slice(taken);
}

function length(words: readonly (string | undefined)[]): number | undefined {
  const [name, ...args] = words;
  switch (name) {
    case "nohup":
    case "command":
      return 1;
    case "time":
      return args[0] === "-p" ? 2 : 1;
    case "nice":
      if (args[0] === "-n" && /^-?\d+$/.test(args[1] ?? "")) return 3;
      return /^(-n-?\d+|--?\d+|--adjustment=-?\d+)$/.test(args[0] ?? "") ? 2 : 1;
    case "stdbuf":
      // Without an option it runs nothing.
      if (args[0]?.startsWith("-") !== true) return undefined;
      return after(args, /^(-[ioe]([0L]|\d+[KMG]?)|--(input|output|error)=([0L]|\d+[KMG]?))$/, /^-[ioe]$/);
    case "timeout": {
      const flag =
        /^(-v|--verbose|--foreground|--preserve-status|-[sk][A-Za-z0-9.+]+|--(signal|kill-after)=[A-Za-z0-9.+]+)$/;
      const at = after(args, flag, /^(-s|-k|--signal|--kill-after)$/);
      return /^\d+(\.\d+)?[smhd]?$/.test(words[at] ?? "") ? at + 1 : undefined;
    }
    default:
      return undefined;
  }
}

/** The position after the options, of which some take the next word as their value. */
function after(args: readonly (string | undefined)[], flag: RegExp, valued: RegExp): number {
  let at = 0;
  for (;;) {
    const arg = args[at] ?? "";
    if (flag.test(arg)) at++;
    else if (valued.test(arg) && args[at + 1] !== undefined) at += 2;
    else return at + 1;
  }
}
