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
  // Escapes of another kind than a line break spell characters that are not there to be read.
  const isSpelled = words.some((word) => /\\(x|u|U|0|c|[1-7])/.test(word));
  if (name === "echo" || name === "printf") {
    if (isSpelled) return "hidden";
    const given = words.slice(1).map((word) => word.replaceAll("\\n", "\n").replaceAll("\\t", "\t"));
    if (name === "printf") return formatted(given[0] === "--" ? given.slice(1) : given);
    const from = given.findIndex((word) => !/^-[neE]+$/.test(word));
    return { text: given.slice(from < 0 ? given.length : from).join(" ") };
  }
  if (decodes(words)) return "hidden";
  const own = command.redirects.findLast(({ op }) => op.startsWith("<"));
  if (own && /^(cat|tee)$/.test(name)) return redirected(own);
  return "unknown";
}

/** Prints as `printf` does: the format again and again until there is no word left. */
function formatted([format = "", ...words]: readonly string[]): Fed {
  const holes = format.match(/%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z%]/g)?.filter((hole) => hole !== "%%") ?? [];
  if (holes.some((hole) => !/^%[sbcdi]$/.test(hole))) return "hidden";
  let rest = words;
  let text = "";
  do {
    let next = 0;
    const given = rest;
    text += format.replace(/%[sbcdi%]/g, (hole) => {
      if (hole === "%%") return "%";
      const word = given[next++] ?? "";
      return hole === "%c" ? word.slice(0, 1) : word;
    });
    rest = rest.slice(Math.max(next, 1));
  } while (holes.length > 0 && rest.length > 0 && text.length < MAX_PRINTED);
  return rest.length > 0 && holes.length > 0 ? "hidden" : { text };
}

const MAX_PRINTED = 20_000;
