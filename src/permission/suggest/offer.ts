import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { CommandView } from "../shell/judge/command-view.ts";
import type { Word } from "../shell/read/word.ts";
import { escapeSpecifier } from "../text/wild.ts";
import { baseName } from "../text/tokens.ts";
import { isA } from "../programs/table.ts";
import { codeIn } from "../shell/suspect/code.ts";

/** A rule for this command and its like, or for exactly this one; undefined when neither is fit to be kept. */
export function commandRule({ words, unfit }: CommandView): { rule: string; note?: Reason } | undefined {
  const name = words[0]?.text;
  if (unfit !== undefined || name === undefined || runsInput(words)) return undefined;
  const literal = leading(words);
  const length = prefixLength(literal);
  if (length === undefined || literal.length < length) return exactly(words);
  const prefix = literal.slice(0, length).map(quoted);
  if (prefix.includes(undefined)) return undefined;
  const note = reason("offer-arguments", { command: prefix.join(" "), others: words.length > length });
  return { ...rule(`${prefix.join(" ")}:*`), note };
}

/** Runs code, or commands made of lines, from its standard input: no rule could say what. */
function runsInput(words: readonly Word[]): boolean {
  const texts = words.map(({ text }) => text ?? "\0");
  const program = baseName(texts[0]!);
  if (
    /^(xargs|parallel|at|batch)$/.test(program) ||
    texts.some((text) => /^(-|\/dev\/stdin)$/.test(text) && isA("runner", program))
  )
    return true;
  if (program === "ssh" && texts.slice(1).filter((text) => !text.startsWith("-")).length < 2) return true;
  return codeIn({ words: texts, anywhere: true }, "unknown").some(({ type }) => type === "unknown");
}

function rule(specifier: string): { rule: string } {
  const end = specifier.endsWith(":*") ? ":*" : "";
  return { rule: `Bash(${escapeSpecifier(specifier.slice(0, specifier.length - end.length))}${end})` };
}

function exactly(words: readonly Word[]): { rule: string } | undefined {
  const all = words.map(({ text }) => (text === undefined ? undefined : quoted(text)));
  return all.includes(undefined) ? undefined : rule(all.join(" "));
}

/** Up to the first option: what comes after it may be anything. */
function leading(words: readonly Word[]): string[] {
  const end = words.findIndex(({ text }) => text === undefined || text.startsWith("-"));
  return (end < 0 ? words : words.slice(0, end)).map(({ text }) => text!);
}

/** Number of words that say what a command is about. Undefined: only all of them do. */
function prefixLength([name = "", second = ""]: readonly string[]): number | undefined {
  const program = Object.hasOwn(families, name) ? families[name] : undefined;
  if (program === undefined || baseName(name) !== name) return undefined;
  if (program.exact?.split(" ").includes(second) === true) return undefined;
  return program.three?.split(" ").includes(second) === true ? 3 : 2;
}

/** `three`: the third word still says what it is. `exact`: what follows is code, or a program to run. */
const families: Record<string, { three?: string; exact?: string }> = {
  git: { three: "stash remote worktree submodule bisect", exact: "config" },
  npm: { three: "run run-script", exact: "exec x explore" },
  pnpm: { three: "run", exact: "exec dlx" },
  yarn: { three: "run workspace", exact: "exec dlx node" },
  bun: { three: "run", exact: "x exec" },
  deno: { three: "task", exact: "run eval repl" },
  cargo: {},
  go: { three: "mod tool", exact: "run" },
  docker: { three: "compose image container volume network", exact: "run exec" },
  kubectl: { exact: "exec run debug" },
  gh: { three: "pr issue run repo release workflow", exact: "api alias extension" },
  pip: {},
  pip3: {},
  uv: { three: "run pip tool" },
  terraform: {},
  make: {},
  just: {},
  mvn: {},
  gradle: {},
  poetry: { three: "run" },
  bundle: { three: "exec" },
  dotnet: {},
  swift: {},
  mix: {},
  rake: {},
};

/** The word as it would be typed. What takes more than one kind of quotes is not worth keeping. */
function quoted(text: string): string | undefined {
  if (/^[A-Za-z0-9_./,:@%+=^-]+$/.test(text)) return text;
  if (/[\n\t]/.test(text)) return undefined;
  if (!text.includes("'")) return `'${text}'`;
  return /["$`\\]/.test(text) ? undefined : `"${text}"`;
}
