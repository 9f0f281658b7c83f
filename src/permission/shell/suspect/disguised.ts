import { isReader } from "../../programs/files/readers.ts";
import { isWriter } from "../../programs/files/writers.ts";
import { isA } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";

/** Commands behind a program that nobody knows, such as `x rm`. `names`: what rules are against. Such a doubt asks and denies nothing. */
export function disguised(words: readonly string[], names: readonly string[]): string[][] {
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  if (names.length === 0 || at < 0) return [];
  const name = baseName(words[at]!).toLowerCase();
  const args = words.slice(at + 1);
  const pushes = names.includes("git") && isPush(name, args) ? [["git", "push", ...args]] : [];
  const direct = names.includes("git") && name.startsWith("git-") ? [["git", name.slice(4), ...args]] : [];
  return [...pushes, ...direct, ...(isKnown(name, args) ? [] : behind(args, names))];
}

/** A program that is not known may run any of its words, also one that is an option's value or begins a text. */
function behind(args: readonly string[], names: readonly string[]): string[][] {
  const isNamed = (word: string) =>
    names.includes(baseName(word).toLowerCase()) && (!word.includes("/") || /(^|\/)s?bin\//.test(word));
  return args.flatMap((arg, n): string[][] => {
    const rest = args.slice(n + 1);
    const value = /^-[^=]*=([^]+)$/.exec(arg)?.[1];
    const scripts = [arg, value ?? ""].flatMap((text) =>
      /\s/.test(text)
        ? text.split(/[;&|\n(){}]|\b(?:do|then|exec|eval)\b/).map((part) => part.trim().split(/\s+/))
        : [],
    );
    return [...[arg, value ?? ""].filter(isNamed).map((word) => [word, ...rest]), ...scripts].filter(([first = ""]) =>
      isNamed(first.replace(/^["'`]+/, "")),
    );
  });
}

/** Programs whose words are known to be no commands; some of those have a verb that is called like a program. */
function isKnown(name: string, args: readonly string[]): boolean {
  if (isReader(name) || isWriter(name) || isA("elsewhere", name)) return name !== "arch";
  // Runs a script of a package, whatever that is called.
  const runsScript = /^(npm|pnpm|yarn|bun|deno)$/.test(name) && args.includes("run");
  if (!runsScript && args.some((arg) => /^(run|exec|watch|unshare|x|dlx|shell|develop|enter)$/.test(arg)))
    return name === "git";
  return isA("known", name);
}

/** Commits go to another repository by this command, or may. */
function isPush(name: string, args: readonly string[]): boolean {
  const text = args.filter((arg) => !arg.startsWith("-")).join(" ");
  const all = args.join(" ");
  switch (name) {
    case "git":
      return /(^| )(send-pack|http-push|remote-[\w-]+|review|push-\w+|cl (upload|land)|(subtree|lfs|town|annex|branchless|bug|appraise|stack|ps) (push|sync|submit|ship|propose|publish|copy)|svn (dcommit|branch|tag)|p4 submit|cvsexportcommit|flow \S+ (publish|finish)|machete \S+|spice \S+|remote update|publish|sync)( |$)/.test(
        text,
      );
    case "git-send-pack":
    case "git-http-push":
    case "git-receive-pack":
    case "git-review":
      return true;
    case "git-lfs":
    case "git-subtree":
    case "git-town":
    case "git-annex":
      return /^(push|sync|ship|propose|copy)\b/.test(text);
    case "hub":
      return /^(push|sync|pull-request|pr|merge|release|create|fork|api)\b/.test(text);
    case "gh":
      if (/^(repo (sync|create|fork)|pr (create|merge|update-branch|revert)|release (create|edit|upload))\b/.test(text))
        return true;
      return (
        /^api\b/.test(text) &&
        (/(^| )(-X|-f|-F|--method|--field|--raw-field|--input)/.test(all) || /graphql/.test(text))
      );
    case "glab":
      return /^(mr (create|merge|rebase)|repo (create|fork|mirror)|release create|api)\b/.test(text);
    case "jj":
      return /^git push\b/.test(text);
    case "gt":
    case "graphite":
      return /^(submit|s|ss|stack|sync|merge)\b/.test(text);
    case "sl":
    case "hg":
    case "dulwich":
    case "got":
    case "gix":
    case "legit":
    case "gitui":
    case "lazygit":
    case "tig":
      return /(^| )(push|send|publish|pr|submit)( |$)/.test(text);
    default:
      return false;
  }
}
