import type { Rule } from "../../../protocol/facts/permission.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import { namePattern } from "../../paths/pattern.ts";
import { downloadsOf } from "../../programs/files/downloads.ts";
import { isA } from "../../programs/table.ts";
import { baseName } from "../../text/tokens.ts";
import { currentFolder } from "../../programs/files/use.ts";
import type { RuleBook } from "../../rules/book.ts";
import { allowedBy, namedRule } from "../../rules/compile.ts";
import type { Simple } from "../read/script.ts";
import type { Word } from "../read/word.ts";
import { trueNames, type Places } from "./files/copied-programs.ts";
import { disguised } from "../suspect/disguised.ts";
import { gather, waysToRun, type PossibleCommand } from "../suspect/possible.ts";
import type { CommandView } from "./command-view.ts";
import { gluedTo, operandTargets, redirectTargets, type Target } from "./files/targets.ts";
import { knownText } from "./flow/command-reading.ts";
import type { Step } from "./flow/flow.ts";
import { marked } from "./judge-target.ts";
import type { JudgedPart, Need } from "./shell-finding.ts";

/** The command itself, its files aside. There is none where something is only redirected. */
export function commandPart(
  { command, bases }: Step,
  view: CommandView,
  {
    book,
    exact,
    source,
    searched,
  }: { book: RuleBook; exact: Rule | undefined; source(word: Word): string; searched: readonly string[] },
): JudgedPart[] {
  const words = [...command.assignments.map(({ value }) => value), ...command.words];
  if (words.length === 0) return [];
  const byText = view.blocks?.exactly === true ? exact : undefined;
  const rule = view.rule ?? byText;
  const allowed = view.allowed || byText !== undefined;
  const heredoc = command.redirects.some((redirect) => redirect.heredoc !== undefined);
  const need: Need = view.blocks ? { kind: "nothing" } : { kind: "command", view, heredoc };
  const text = words.map(source).join(" ");
  return [
    {
      text,
      behavior: allowed ? "allow" : "ask",
      reason: rule ? allowedBy(rule) : view.reason,
      ...(rule && { rule: rule.text, found: rule }),
      ...(!allowed && { need }),
      ...against(text, waysOf(command, { bases, searched }, book), book),
    },
  ];
}

/** Rules that are against a command, or may be. */
export function against(text: string, ways: readonly PossibleCommand[], book: RuleBook): Partial<JudgedPart> {
  const found = book.against(gather(ways));
  if (found.deny || found.ask) return marked(found);
  const runs = ways.flatMap(({ words, anywhere }) => (anywhere ? words.map((_, at) => words.slice(at)) : [words]));
  const others = runs.flatMap((words) => disguised(words, book.namedAgainst));
  const rule = book.resembling([...ways, ...others.flatMap(waysToRun)]);
  if (rule === undefined) return {};
  const mustAsk = reason("resembles-rule", { command: text, rule: namedRule(rule) });
  return { behavior: "ask", reason: mustAsk, mustAsk };
}

/** `/bin/r?` may be any program that its last name fits, and a file may be a program under another name. */
export function waysOf({ words, assignments }: Simple, places: Places, book: RuleBook): PossibleCommand[] {
  const texts = words.map(knownText);
  const set = assignments.map(({ name, value }) => `${name}=${knownText(value)}`);
  const pattern = words[0]?.glob?.split("/").at(-1);
  const fits = pattern === undefined ? undefined : namePattern(pattern);
  const names = fits === undefined ? [] : book.namedAgainst.filter(fits);
  const fitting = names.flatMap((name) => waysToRun([name, ...texts.slice(1)]));
  return [...waysToRun([...set, ...texts]), ...fitting, ...otherWays(texts, places, book)];
}

/** The same words, with the names of the programs that their files really are. */
export function otherWays(texts: readonly string[], places: Places, { namedAgainst }: RuleBook): PossibleCommand[] {
  const reach = isA("wrapper", baseName(texts[0] ?? "")) ? texts.length : 1;
  return texts
    .slice(0, reach)
    .flatMap((text, at) =>
      trueNames(text, places, namedAgainst).flatMap((name) => waysToRun([name, ...texts.slice(at + 1)])),
    );
}

/** The files of a command. Of a program that is known, and words that are not, any word may be one. */
export function targetsOf(
  { command }: Step,
  { program: { kind, use }, words, allowed }: CommandView,
  where: Parameters<typeof operandTargets>[1],
  watchful: boolean,
): Target[] {
  const redirected = redirectTargets(command.redirects, where);
  if (use !== undefined) return [...redirected, ...operandTargets(use, where)];
  if (kind === "other") {
    const writes = downloadsOf(words);
    return [...redirected, ...operandTargets({ readOnly: false, reads: [], writes, deep: false }, where)];
  }
  if (!allowed && !watchful) return redirected;
  const rest = words.slice(1).flatMap((word): Word[] => {
    const value = /^--?[^=]*=([^]*)$/.exec(word.text ?? "")?.[1];
    if (value !== undefined) return [{ ...word, text: value, lead: value }];
    return word.text?.startsWith("-") === true ? gluedTo(word) : [word];
  });
  // Without a file among its words, it may look at all of the folder.
  const reads = kind === "reads" ? [...rest, currentFolder] : rest;
  const found = operandTargets({ readOnly: false, reads, writes: [], deep: true, follows: true }, where);
  const unsure = allowed ? found : found.map((target) => ({ ...target, maybe: true }));
  if (kind === "reads") return [...redirected, ...unsure];
  const written = unsure.map((target) => ({ ...target, writes: true, trouble: reason("write-unclear", {}) }));
  return [...redirected, ...written];
}
