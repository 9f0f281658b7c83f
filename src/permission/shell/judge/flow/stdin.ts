import { baseName } from "../../../text/tokens.ts";
import type { Command, Redirect, Simple } from "../../read/script.ts";
import { type Fed, decodes } from "../../suspect/code.ts";
import { knownText } from "./command-reading.ts";

/** Standard input of a command: by its own redirections, else from the command before it in the pipeline. */
export function stdinOf(command: Simple, before: Command | undefined): Fed {
  const own = command.redirects.findLast(({ op }) => op.startsWith("<"));
  if (own) return redirected(own);
  const pipe = command.words.slice(1).find((word) => word.pipe);
  if (pipe) return printedBy(pipe.scripts[0]?.items.length === 1 ? pipe.scripts[0].items[0]!.command : undefined);
  return before && printedBy(before);
}

function redirected({ op, target, heredoc }: Redirect): Fed {
  if (heredoc)
    return {
      text: heredoc.literal ? heredoc.text : heredoc.text.replace(/\$(\w+|\{[^}]*\}|\([^)]*\))|`[^`]*`/g, "\0"),
    };
  if (target.pipe)
    return printedBy(target.scripts[0]?.items.length === 1 ? target.scripts[0].items[0]!.command : undefined);
  if (op === "<<<") return { text: knownText(target) };
  return op === "<" ? "unknown" : undefined;
}

/** The output of a command that only prints its words, or what it is fed with itself. */
function printedBy(command: Command | undefined): Fed {
  if (command?.kind !== "simple") return "unknown";
  const words = command.words.map(knownText);
  const name = baseName(words[0] ?? "");
  if (name === "echo" || name === "printf") {
    const printed = words.slice(1).filter((word, n) => !(name === "echo" && n === 0 && /^-[neE]+$/.test(word)));
    const text = printed.join(" ").replaceAll("\\n", "\n");
    // Escapes of another kind spell characters that are not there to be read.
    return /\\(x|u|0|[1-7])/.test(text) ? "hidden" : { text: name === "printf" ? text.replace(/%[sb]/g, " ") : text };
  }
  if (decodes(words)) return "hidden";
  const own = command.redirects.findLast(({ op }) => op.startsWith("<"));
  if (own && /^(cat|tee)$/.test(name)) return redirected(own);
  return "unknown";
}
