import { messageOf } from "../../../protocol/index.ts";
import type { CallPart, Rule } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import type { RuleBook } from "../../rules/book.ts";
import type { CanonicalPath, Disk } from "../../paths/canonical.ts";
import { textsInCode } from "../suspect/carriers.ts";
import { viewOf } from "./command.ts";
import type { CommandView } from "./command.ts";
import { stepsOf } from "./flow.ts";
import { followsOwnLink } from "./links.ts";
import type { Linking } from "./links.ts";
import type { Step } from "./flow.ts";
import type { ShellGrammar } from "../read/grammar.ts";
import type { Word } from "../read/word.ts";
import { namePattern } from "../../paths/pattern.ts";
import { dynamic, readCommand } from "./reading.ts";
import type { CommandReading } from "./reading.ts";
import type { Script } from "../read/script.ts";
import { collect, isSuspected, suspectsIn, suspicionOf } from "../suspect/suspects.ts";
import type { Suspect } from "../suspect/suspects.ts";
import { suspiciousPaths, suspiciousRemoval, suspiciousWrite } from "./suspicions.ts";
import { judgeTarget, marked } from "./target-view.ts";
import { gluedTo, namesIn, operandTargets, redirectTargets } from "./targets.ts";
import type { Target } from "./targets.ts";
import { packed, shownByGit, unknownParts } from "./unknown.ts";
import { currentFolder } from "../../programs/use.ts";

/** What is known about a command line before mode and tool have their say. */
export type ShellFinding = {
  parts: JudgedPart[];
  deny?: Rule;
  ask?: Rule;
  /** Only a person may let it run. */
  hard?: string;
  /** Why rules cannot cover it as a whole. */
  blocked?: string;
  reading: CommandReading;
};

/** A part, with what it would take to allow it. */
export type JudgedPart = Omit<CallPart, "reason"> & { reason: string; found?: Rule; hard?: string; need?: Need };

export type Need =
  | { kind: "command"; view: CommandView; heredoc: boolean }
  | { kind: "read" | "write"; paths: readonly CanonicalPath[]; deep: boolean }
  | { kind: "nothing" };

export type ShellCall = {
  command: string;
  book: RuleBook;
  reach: Reach;
  disk: Disk;
  cwd: string;
  home: string;
  grammar: ShellGrammar | undefined;
};

const itself = suspicionOf("sage:*");

export function judgeShell(call: ShellCall): ShellFinding {
  const reading = readCommand(call.command, call.grammar, call.home);
  const finding: ShellFinding = { parts: [], reading, ...call.book.against(reading.suspects) };
  // An agent that runs Sage could answer its own requests, trust a folder or change the rules.
  if (isSuspected(itself, reading.suspects)) finding.hard = "The command runs Sage itself, which only a person may do.";
  if (reading.trouble !== undefined) finding.hard = `The command needs a person: ${reading.trouble}.`;
  try {
    const words = reading.script === undefined ? guess(finding, call) : prove(finding, reading.script, call);
    for (const { found, behavior, hard } of finding.parts) {
      if (found && behavior === "deny") finding.deny ??= found;
      if (found && behavior === "ask") finding.ask ??= found;
      if (hard !== undefined) finding.hard ??= hard;
    }
    return { ...finding, ...suspect(words, finding, call), ...pick(finding) };
  } catch (error) {
    // A link that loops, a folder that may not be looked into: what rules have seen so far stays seen.
    const why = messageOf(error);
    return { hard: `The command needs a person: ${why}.`, blocked: why, ...finding };
  }
}

function pick({ deny, ask, hard }: ShellFinding): Pick<ShellFinding, "deny" | "ask" | "hard"> {
  return { ...(deny && { deny }), ...(ask && { ask }), ...(hard !== undefined && { hard }) };
}

/** What was found in a command that rules cannot cover. Gives every word of it, since any may be a file. */
function guess(finding: ShellFinding, { book }: ShellCall): string[] {
  const { unclear, trouble, commands, suspects } = finding.reading;
  const reason = unclear ?? trouble ?? "";
  finding.blocked = reason;
  finding.parts = commands.map(({ text, suspects }) => ({
    ...{ text, behavior: "ask", reason },
    ...marked(book.against(collect(suspects))),
  }));
  return [...suspects.words];
}

/** Judges every command by itself. Gives the words of those whose files are not known. */
function prove(finding: ShellFinding, script: Script, call: ShellCall): string[] {
  const { book, reach, disk, cwd, command } = call;
  const { text } = finding.reading;
  const exact = book.spelling(command);
  const session = disk.follow(cwd);
  const { steps, loose } = stepsOf(script, cwd, call);
  const source = (word: Word) => (word === currentFolder ? "." : text.slice(word.start, word.end));
  const carries = finding.reading.suspects.readings[0].some(({ anywhere }) => anywhere) || hasScripts(steps);
  const common = { home: call.home, disk, source, busy: steps.length > 1, carries };
  const words: string[] = [];
  const linking: Linking[] = [];
  const judged: { at: number; parts: JudgedPart[] }[] = loose.map(({ redirects, bases }) => ({
    at: redirects[0]!.target.start,
    parts: redirectTargets(redirects, { ...common, bases }).flatMap((target) => judgeTarget(target, reach)),
  }));
  for (const step of steps) {
    const view = viewOf(step, { book, exact, session, disk, first: step === steps[0] });
    const where = { ...common, bases: step.bases };
    if (view.blocks && !(exact && view.blocks.exactly)) finding.blocked ??= view.reason;
    const targets = targetsOf(step, view, where);
    const opens = !view.known.git && targets.some(({ text }) => text !== ".");
    linking.push({ words: view.words, opens, moves: step.moves !== undefined });
    const parts = targets.flatMap((target) => judgeTarget(target, reach, view.meant));
    parts.push(...unknownParts(view, where, reach));
    judged.push({ at: startOf(step), parts: [...commandPart(step, view, { book, exact, source }), ...parts] });
    if (reach.watchful) words.push(...doubtful(view, common.carries).flatMap((word) => namesIn(word, where)));
    if (reach.watchful) words.push(...textsInCode(view.words.map(({ text }) => text ?? "")));
    const shown = shownByGit(view, where, reach) ?? packed(view, where, reach);
    if (shown !== undefined) finding.hard ??= shown;
  }
  for (const { redirects, bases } of loose)
    linking.push({ words: [], opens: redirectTargets(redirects, { ...common, bases }).length > 0, moves: false });
  if (followsOwnLink(linking, runsBeside.test(text)))
    finding.blocked ??= "a link is made and may be followed in the same line";
  finding.parts = judged.sort((a, b) => a.at - b.at).flatMap(({ parts }) => parts);
  if (finding.parts.length === 0) finding.blocked = "it holds no command";
  return words;
}

/** A pipe, or a command in the background; quoted ones count as well. */
const runsBeside = /(^|[^&>|])[&|]([^&>|]|$)|\|&/;

/** Words that may name a file although nothing is known to open them. */
function doubtful({ known: { use, git }, words }: CommandView, carries: boolean): readonly Word[] {
  // What follows the colon in `HEAD:file` is a file too; and what is printed may be handed on.
  const prints = carries && /^(echo|printf)$/.test(words[0]?.text ?? "");
  return use === undefined || git || prints ? words : words.filter(({ text }) => text === undefined);
}

function hasScripts(steps: readonly Step[]): boolean {
  return steps.some(({ command: { words } }) => words.some(({ scripts }) => scripts.length > 0));
}

function suspect(
  words: readonly string[],
  { reading: { suspects, script, text } }: ShellFinding,
  call: ShellCall,
): Pick<ShellFinding, "deny" | "ask" | "hard"> {
  const doubts = { ...call, suspects };
  const carried = script === undefined || suspects.readings[0].some(({ anywhere }) => anywhere);
  const hard = suspiciousRemoval(doubts) ?? (carried ? suspiciousWrite(text, doubts) : undefined);
  return { ...suspiciousPaths(words, doubts), ...(hard !== undefined && { hard }) };
}

/** The command itself, its files aside. There is none where something is only redirected. */
function commandPart(
  { command }: Step,
  view: CommandView,
  { book, exact, source }: { book: RuleBook; exact: Rule | undefined; source(word: Word): string },
): JudgedPart[] {
  const words = [...command.assignments.map(({ value }) => value), ...command.words];
  if (words.length === 0) return [];
  const byText = view.blocks?.exactly === true ? exact : undefined;
  const rule = view.rule ?? byText;
  const allowed = view.allowed || byText !== undefined;
  const heredoc = command.redirects.some((redirect) => redirect.heredoc !== undefined);
  const need: Need = view.blocks ? { kind: "nothing" } : { kind: "command", view, heredoc };
  return [
    {
      text: words.map(source).join(" "),
      behavior: allowed ? "allow" : "ask",
      reason: rule ? `allowed by ${rule.text}` : view.reason,
      ...(rule && { rule: rule.text, found: rule }),
      ...(!allowed && { need }),
      ...marked(book.against(collect(suspected(command.words, book)))),
    },
  ];
}

/** `/bin/r?` may be any program that its last name fits. */
function suspected(words: readonly Word[], book: RuleBook): Suspect[] {
  const texts = words.map(({ text }) => text ?? dynamic);
  const pattern = words[0]?.glob?.split("/").at(-1);
  const fits = pattern === undefined ? undefined : namePattern(pattern);
  const names = fits === undefined ? [] : book.accused.filter(fits);
  return [...suspectsIn(texts), ...names.flatMap((name) => suspectsIn([name, ...texts.slice(1)]))];
}

/** The files of a command. Of a program that is known, and words that are not, any word may be one. */
function targetsOf(
  { command }: Step,
  { known: { kind, use }, words, allowed }: CommandView,
  where: Parameters<typeof operandTargets>[1],
): Target[] {
  const redirected = redirectTargets(command.redirects, where);
  if (use !== undefined) return [...redirected, ...operandTargets(use, where)];
  if (!allowed || kind === "other") return redirected;
  const rest = words.slice(1).flatMap((word): Word[] => {
    const value = /^--?[^=]*=([^]*)$/.exec(word.text ?? "")?.[1];
    if (value !== undefined) return [{ ...word, text: value, lead: value }];
    return word.text?.startsWith("-") === true ? gluedTo(word) : [word];
  });
  const unsure = operandTargets({ readOnly: false, reads: rest, writes: [], deep: true }, where);
  if (kind === "reads") return [...redirected, ...unsure];
  const written = unsure.map((target) => ({ ...target, writes: true, trouble: "what it writes is not clear" }));
  return [...redirected, ...written];
}

function startOf({ command: { assignments, words, redirects } }: Step): number {
  const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
  return Math.min(...all.map(({ start }) => start));
}
