import { reason, type Reason } from "../../../protocol/reasons/reason.ts";

/** Longer commands are not analysed: nobody approves them by reading, and the analysis takes too long. */
const longestCommand = 10_000;

// Characters that a terminal or an eye reads otherwise than the shell does. A command needs no control but tab and line break.
const deceptive =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;

/** Why a command is not fit to be judged at all, or undefined. */
export function troubleWith(command: string): Reason | undefined {
  if (command.length > longestCommand)
    return reason("command-too-long", { length: command.length, most: longestCommand });
  const found = deceptive.exec(command)?.[0];
  if (found !== undefined) return reason("hidden-character", { codePoint: codeOf(found) });
  return command.isWellFormed() ? undefined : reason("not-understood", { construct: "half-character" });
}

function codeOf(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** Joins lines that end in a backslash. Undefined where telling which do takes more than quotes and comments. */
export function joinLines(command: string): string | undefined {
  if (!command.includes("\\\n")) return command;
  if (command.includes("<<") || command.includes("`") || command.includes("$'")) return undefined;
  let joined = "";
  /** Closing token of each construct we are in, innermost last. */
  const within: string[] = [];
  let fresh = true;
  for (let i = 0; i < command.length; i++) {
    const char = command[i]!;
    const pair = char + (command[i + 1] ?? "");
    const inner = within.at(-1);
    if (inner === "'" || inner === "\n") {
      if (char === inner) within.pop();
      joined += char;
      fresh = char === "\n";
    } else if (pair === "\\\n") i++;
    else if (char === "\\") {
      joined += pair;
      i++;
      fresh = false;
    } else if (char === inner) {
      within.pop();
      joined += char;
      fresh = false;
    } else if (pair === "$(" || pair === "${") {
      within.push(pair === "$(" ? ")" : "}");
      joined += pair;
      i++;
      fresh = pair === "$(";
    } else {
      const quoted = inner === '"';
      if (char === '"') within.push(char);
      else if (!quoted && char === "'") within.push(char);
      else if (!quoted && char === "(") within.push(")");
      else if (!quoted && char === "#" && fresh) within.push("\n");
      joined += char;
      fresh = " \t\n;&|<>()".includes(char);
    }
  }
  return joined;
}
