import { subcommandAt } from "../../../programs/git/git-words.ts";
import { baseName } from "../../../text/tokens.ts";
import type { Word } from "../../read/word.ts";

/** A command of a line, as far as links are concerned. */
export type Linking = {
  words: readonly Word[];
  /** It opens a file by its name, or goes into a folder. */
  opens: boolean;
  moves: boolean;
};

/** May the line follow a link that it makes? The disk does not have it yet. `races`: a later command may be first. */
export function followsOwnLink(line: readonly Linking[], races: boolean): boolean {
  if (line.length < 2) return false;
  return line.some(({ words }, at) => {
    const texts = words.map(({ text }) => text ?? "");
    if (texts.some((text) => /^(ln|link)$/.test(baseName(text)))) return true;
    if (!unpacks(texts)) return false;
    return line.some((other, i) => i !== at && ((i > at && (other.moves || other.opens)) || (races && other.opens)));
  });
}

/** True if it puts files in place that came from elsewhere, links among them. */
function unpacks([name = "", ...args]: readonly string[]): boolean {
  const program = baseName(name);
  if (program !== "git") return unpackers.has(program);
  const at = subcommandAt(args);
  const rest = args.slice(at + 1);
  switch (args[at]) {
    case "checkout":
    case "switch":
      // A new branch where one stands changes no file.
      return !(rest.length === 2 && /^-[bBcC]$/.test(rest[0]!));
    case "reset":
      return rest.some((arg) => /^--(h|k|m)/.test(arg));
    case "stash":
      return !/^(list|show|drop)$/.test(rest[0] ?? "");
    case "submodule":
    case "worktree":
      return rest.some((arg) => /^(add|update)$/.test(arg));
    default:
      return placing.has(args[at] ?? "");
  }
}

const unpackers = new Set("tar gtar bsdtar unzip 7z 7za cpio pax rsync patch svn hg".split(" "));

const placing = new Set(
  "pull merge rebase restore clone am apply cherry-pick revert read-tree checkout-index".split(" "),
);
