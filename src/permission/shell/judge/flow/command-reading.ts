import type { Construct } from "../../../../protocol/reasons/permission.ts";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import type { ShellGrammar, ShellNode } from "../../read/grammar.ts";
import { linesOf } from "../../suspect/lines.ts";
import { readScript, readWord, type Script } from "../../read/script.ts";
import { spelled, type Word } from "../../read/word.ts";
import { anyFile, anyText, anyWords } from "../../suspect/resemblance.ts";
import type { PossibleCommand, PossibleCommands } from "../../suspect/possible.ts";
import { waysToRun, possibleCommands, withoutTicks } from "../../suspect/possible.ts";
import { joinLines, troubleWith } from "../../read/text.ts";
import { variablesOf } from "./variables.ts";
import { commandsIn, marksOf, uncoveredNode } from "../../read/tree.ts";

/** A command line, taken apart. */
export type CommandReading = {
  /** The line as the shell reads it, continued lines joined. */
  text: string;
  /** Why nobody can tell what it runs: only a person may allow it. */
  trouble?: Reason;
  /** Why rules may not cover it although it parses. */
  unclear?: Reason;
  /** Only of a command without trouble that is wholly clear. */
  script?: Script;
  /** The simple commands that the grammar found, wherever they stand. */
  commands: { text: string; possible: PossibleCommand[] }[];
  /** Everything that may run by the most generous reading. */
  possible: PossibleCommands;
};

/** An allow needs two readers that agree on every word: the grammar, and our own. A deny needs a suspicion. */
export function readCommand(command: string, grammar: ShellGrammar | undefined, home: string): CommandReading {
  const seen = (commands: CommandReading["commands"]) => ({
    commands,
    possible: possibleCommands(
      command,
      commands.flatMap(({ possible }) => possible),
    ),
  });
  const trouble = troubleWith(command) ?? tooMuch(command);
  if (trouble !== undefined) return { text: command, trouble, ...seen([]) };
  if (grammar === undefined) return { text: command, trouble: unread("grammar-missing"), ...seen([]) };

  const joined = joinLines(command);
  const text = joined ?? command.replaceAll("\\\n", "");
  const tree = grammar.parse(text);
  // The grammar does not take nested backticks apart.
  const plain = text.includes("\\`") ? withoutTicks(text) : text;
  const inTicks = plain === text ? undefined : grammar.parse(plain);
  const found = {
    text,
    ...seen([
      ...(tree === undefined ? [] : commandsOf(tree.root, text, home)),
      ...(inTicks === undefined ? [] : commandsOf(inTicks.root, plain, home)),
    ]),
  };
  if (tree?.sound !== true) return { ...found, trouble: unread("unparsable") };
  const uncovered = uncoveredNode(tree.root);
  if (uncovered !== undefined) return { ...found, unclear: uncovered };
  if (joined === undefined) return { ...found, unclear: unread("continued-lines") };
  const reading = readScript(text, home);
  if (!reading.ok) return { ...found, unclear: reading.why };
  if (reading.script.items.length === 0) return { ...found, unclear: unread("no-command") };
  if (!variablesOf(reading.script, undefined).sumsNumbers()) return { ...found, unclear: unread("arithmetic") };
  const agreed = reading.marks.sort().join() === marksOf(tree.root).sort().join();
  return agreed ? { ...found, script: reading.script } : { ...found, unclear: unread("two-readings") };
}

function unread(construct: Construct): Reason {
  return reason("not-understood", { construct });
}

/** The grammar's cost grows faster than the text with these operators; nobody writes so many by hand. */
function tooMuch(command: string): Reason | undefined {
  const count = (text: string) => command.split(text).length - 1;
  return count("|") > 400 || count("<<") > 100 || count("=(") > 200 ? unread("too-many-parts") : undefined;
}

function commandsOf(root: ShellNode, text: string, home: string): CommandReading["commands"] {
  return commandsIn(root).map(({ start, end, words }) => {
    const sources = words.map((word) => text.slice(word.start, word.end));
    const given = sources.map((source) => knownText(readWord(source, home)));
    // A script that is spelled in escapes shows only when they are decoded.
    const scripts = sources.flatMap((source, i) =>
      source.includes("$'") && /[\s;|&]/.test(given[i]!) ? scriptsIn(given[i]!) : [],
    );
    return { text: text.slice(start, end), possible: [...waysToRun(given), ...scripts] };
  });
}

/** The word as far as it is known; no rule names the rest. */
export function knownText(word: Word | undefined): string {
  if (word?.pipe) return "/dev/fd/63";
  return word === undefined ? anyWords : spelled(word, { text: anyText, words: anyWords, file: anyFile });
}

function scriptsIn(word: string): PossibleCommand[] {
  return linesOf([...word], { quotes: true, joins: "always" }).flatMap(({ words }) =>
    waysToRun(words.map((each) => each.join(""))),
  );
}
