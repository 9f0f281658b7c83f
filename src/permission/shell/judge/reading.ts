import type { ShellGrammar, ShellNode } from "../read/grammar.ts";
import { linesOf } from "../suspect/lines.ts";
import { readScript, readWord } from "../read/script.ts";
import type { Script } from "../read/script.ts";
import { suspectsIn, suspectsOf } from "../suspect/suspects.ts";
import type { Suspect, Suspects } from "../suspect/suspects.ts";
import { joinLines, troubleWith } from "../read/text.ts";
import { commandsIn, marksOf, strangerIn } from "../read/tree.ts";

/** One command line, taken apart. */
export type CommandReading = {
  /** As the shell reads it, continued lines joined. */
  text: string;
  /** Nobody can tell what it runs, so that only a person may let it. */
  trouble?: string;
  /** It parses, and is still more than rules may cover. */
  unclear?: string;
  /** Only of a command without trouble that is wholly clear. */
  script?: Script;
  /** The simple commands that the grammar found, wherever they stand. */
  commands: { text: string; suspects: Suspect[] }[];
  /** Everything that may run by the most generous reading. */
  suspects: Suspects;
};

/** An allow needs two readers that agree on every word: the grammar, and our own. A deny needs a suspicion. */
export function readCommand(command: string, grammar: ShellGrammar | undefined, home: string): CommandReading {
  const seen = (commands: CommandReading["commands"]) => ({
    commands,
    suspects: suspectsOf(
      command,
      commands.flatMap(({ suspects }) => suspects),
    ),
  });
  const trouble = troubleWith(command) ?? tooMuch(command);
  if (trouble !== undefined) return { text: command, trouble, ...seen([]) };
  if (grammar === undefined)
    return { text: command, trouble: "the shell grammar is not available, so no command is taken apart", ...seen([]) };

  const joined = joinLines(command);
  const text = joined ?? command.replaceAll("\\\n", "");
  const tree = grammar.parse(text);
  const found = { text, ...seen(tree === undefined ? [] : commandsOf(tree.root, text, home)) };
  if (tree?.sound !== true) return { ...found, trouble: "it cannot be parsed" };
  const stranger = strangerIn(tree.root);
  if (stranger !== undefined) return { ...found, unclear: stranger };
  if (joined === undefined) return { ...found, unclear: "its continued lines can be read in two ways" };
  const reading = readScript(text, home);
  if (!reading.ok) return { ...found, unclear: reading.why };
  if (reading.script.items.length === 0) return { ...found, unclear: "it holds no command" };
  const agreed = reading.marks.sort().join() === marksOf(tree.root).sort().join();
  return agreed ? { ...found, script: reading.script } : { ...found, unclear: "it can be read in two ways" };
}

/** What makes the grammar's cost grow faster than the text. Nobody writes so much of it by hand. */
function tooMuch(command: string): string | undefined {
  const count = (text: string) => command.split(text).length - 1;
  return count("|") > 400 || count("<<") > 100 || count("=(") > 200 ? "it has too many parts" : undefined;
}

function commandsOf(root: ShellNode, text: string, home: string): CommandReading["commands"] {
  return commandsIn(root).map(({ start, end, words }) => {
    const sources = words.map((word) => text.slice(word.start, word.end));
    const given = sources.map((source) => readWord(source, home) ?? dynamic);
    // A script that is spelled in escapes shows only when they are decoded.
    const scripts = sources.flatMap((source, i) =>
      source.includes("$'") && /[\s;|&]/.test(given[i]!) ? scriptsIn(given[i]!) : [],
    );
    return { text: text.slice(start, end), suspects: [...suspectsIn(given), ...scripts] };
  });
}

/** Stands for a word that is not known: no rule names it. */
export const dynamic = "\0";

function scriptsIn(word: string): Suspect[] {
  return linesOf([...word], { quotes: true, joins: "always" }).flatMap(({ words }) =>
    suspectsIn(words.map((each) => each.join(""))),
  );
}
