import type { CallPart, Rule } from "../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Reach } from "../../rules/access.ts";
import type { RuleBook } from "../../rules/book.ts";
import { allowedBy, nameOf } from "../../rules/compile.ts";
import { pathTrouble, type CanonicalPath, type Disk } from "../../paths/canonical.ts";
import { builtInCode, codeIn, listsFiles, namesInCode, type Fed } from "../suspect/code.ts";
import { viewOf, type CommandView } from "./command-view.ts";
import { hasOpaqueVariable, startOf, stepsOf, type Flow, type Step } from "./flow/flow.ts";
import { followsOwnLink, type Linking } from "./files/links.ts";
import type { ShellGrammar } from "../read/grammar.ts";
import type { Word } from "../read/word.ts";
import { namePattern } from "../../paths/pattern.ts";
import { knownText, readCommand, type CommandReading } from "./flow/command-reading.ts";
import type { Redirect, Script } from "../read/script.ts";
import { runsScript } from "../../programs/runners.ts";
import { isHarmlessVariable } from "../../programs/harmless.ts";
import { programOf } from "../../programs/program.ts";
import { foldersOfGit } from "../../programs/git/git-words.ts";
import { unwrapped } from "../../programs/wrappers.ts";
import { disguised } from "../suspect/disguised.ts";
import { gather, mayRun, waysToRun, commandPatternOf, type PossibleCommand } from "../suspect/possible.ts";
import { builtPath, protectedPath, protectedWrite, rootRemoval, rulesAgainst } from "./files/possible-paths.ts";
import { judgeTarget, marked, mayBeHook } from "./judge-target.ts";
import { gluedTo, namesIn, operandTargets, redirectTargets, type Target, type Where } from "./files/targets.ts";
import { isOwnVariable } from "../../programs/builtins.ts";
import { placeWritten } from "../../programs/guarded-programs.ts";
import { isReader } from "../../programs/files/readers.ts";
import { baseName, keywords } from "../../text/tokens.ts";
import { packed, shownByGit } from "./shown-files.ts";
import { foundWrite } from "./files/found-writes.ts";
import { servesRuledFolder, ruleInside } from "./files/served-folders.ts";
import { unlistedParts } from "./unlisted.ts";
import { patchedParts } from "./patches.ts";
import { downloadsOf } from "../../programs/files/downloads.ts";
import { currentFolder } from "../../programs/files/use.ts";

/** Judgement on a command line before mode and tool have their say. */
export type ShellFinding = {
  parts: JudgedPart[];
  deny?: Rule;
  ask?: Rule;
  /** Only a person may let it run. */
  mustAsk?: Reason;
  /** Why rules cannot cover it as a whole. */
  blocked?: Reason;
  reading: CommandReading;
};

/** A part, with what it would take to allow it. */
export type JudgedPart = CallPart & { found?: Rule; mustAsk?: Reason; need?: Need };

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
  /** Names of the variables that commands inherit, where they are known. */
  environment?: ReadonlySet<string> | undefined;
  /** The same command as it was read before. */
  reading?: CommandReading | undefined;
  /** Number of commands that this one is given to, each by the one before. */
  depth?: number;
};

const itself = commandPatternOf("sage:*");

export function judgeShell(call: ShellCall): ShellFinding {
  const reading = call.reading ?? readCommand(call.command, call.grammar, call.home);
  const finding: ShellFinding = { parts: [], reading, ...call.book.against(reading.possible) };
  // An agent that runs Sage could answer its own requests, trust a folder or change the rules.
  if (mayRun(itself, reading.possible)) finding.mustAsk = reason("runs-sage", {});
  if (reading.trouble) finding.mustAsk = reading.trouble;
  try {
    const words = reading.script === undefined ? guess(finding, call) : prove(finding, reading.script, call);
    for (const { found, behavior, mustAsk } of finding.parts) {
      if (found && behavior === "deny") finding.deny ??= found;
      if (found && behavior === "ask") finding.ask ??= found;
      if (mustAsk) finding.mustAsk ??= mustAsk;
    }
    return { ...finding, ...guessed(words, finding, call), ...pick(finding) };
  } catch (error) {
    // A link that loops, a folder that may not be looked into: what rules have seen so far stays seen.
    const why = pathTrouble(error);
    return { mustAsk: why, blocked: why, ...finding };
  }
}

function pick({ deny, ask, mustAsk }: ShellFinding): Pick<ShellFinding, "deny" | "ask" | "mustAsk"> {
  return { ...(deny && { deny }), ...(ask && { ask }), ...(mustAsk && { mustAsk }) };
}

/** Parts of a command that rules cannot cover. Returns every word of it, since any may be a file. */
function guess(finding: ShellFinding, call: ShellCall): string[] {
  const { book } = call;
  const { unclear, trouble, commands, possible } = finding.reading;
  const why = unclear ?? trouble ?? reason("not-understood", { construct: "unparsable" });
  finding.blocked = why;
  finding.parts = commands.map(({ text, possible: ways }) => ({
    ...{ text, behavior: "ask", reason: why },
    ...against(text, ways, book),
  }));
  const given = { fed: undefined, bases: [call.cwd] };
  const ways = commands.flatMap(({ possible: all }) => all);
  const written = ways.map(({ words }) => placeWritten(words)).find(Boolean);
  if (written) finding.mustAsk ??= reason("protected", { path: written.place, kind: written.kind });
  const shown = ways
    .map(({ words }) => servesRuledFolder(words, { bases: [call.cwd], home: call.home }, call.reach))
    .find(Boolean);
  // Code from standard input is part of the text.
  const looks = ways.some(({ words: [name = ""] }) => runsScript(baseName(name))) && listsFiles(call.command);
  const held = looks && call.reach.watchful ? ruleInside(["."], [call.cwd], call) : undefined;
  if (shown ?? held) finding.mustAsk ??= (shown ?? held)!;
  const inCode = commands.flatMap(({ possible: all }) => judgeCode(all, given, finding, call));
  return [...possible.names, ...inCode];
}

type Given = { fed: Fed; bases: readonly string[] };

/**
 * Judges code that a command is given to run: a rule against something in it is against the command. Returns names in code
 * of other languages, of which any may be a file.
 */
function judgeCode(
  ways: readonly PossibleCommand[],
  { fed, bases }: Given,
  finding: ShellFinding,
  call: ShellCall,
): string[] {
  const { depth = 0, book, reach, disk, home } = call;
  const names: string[] = [];
  const isGuarded = reach.watchful || book.namedAgainst.length > 0;
  for (const code of new Map(
    ways.flatMap((way) => codeIn(way, fed)).map((one) => [JSON.stringify(one), one]),
  ).values()) {
    switch (code.type) {
      case "shell":
        if (depth >= deepest) finding.mustAsk ??= reason("not-understood", { construct: "nested-too-deeply" });
        else
          for (const base of bases)
            take(
              judgeShell({ ...call, command: code.text, cwd: base, reading: undefined, depth: depth + 1 }),
              finding,
              isGuarded,
            );
        break;
      case "program": {
        const found = namesInCode(code.text);
        const mustAsk = protectedPath(found, bases, { disk, home, reach });
        if (mustAsk) finding.mustAsk ??= mustAsk;
        const built = builtPath(builtInCode(code.text), bases, { home, reach });
        if (built) finding.mustAsk ??= reason("code-builds", { program: code.program, path: built });
        const held = reach.watchful && listsFiles(code.text) ? ruleInside(["."], bases, { home, reach }) : undefined;
        if (held) finding.mustAsk ??= held;
        names.push(...found);
        break;
      }
      case "unknown":
        if (code.hidden || isGuarded)
          finding.mustAsk ??= reason(code.hidden ? "code-hidden" : "code-unknown", { program: code.program });
        break;
      default:
        code satisfies never;
    }
  }
  return names;
}

const deepest = 4;

/** Findings in code count for the command that runs it, as far as they are against it. */
function take({ deny, ask, mustAsk, reading }: ShellFinding, finding: ShellFinding, isGuarded: boolean): void {
  if (deny) finding.deny ??= deny;
  if (ask) finding.ask ??= ask;
  // That code cannot be read matters only where something in it could be forbidden.
  if (mustAsk && (isGuarded || mustAsk !== reading.trouble)) finding.mustAsk ??= mustAsk;
}

/** Judges every command by itself. Returns the words of those whose files are not known. */
function prove(finding: ShellFinding, script: Script, call: ShellCall): string[] {
  const { book, reach, disk, cwd, command } = call;
  const { text } = finding.reading;
  const exact = book.spelling(command);
  const session = disk.follow(cwd);
  const { steps, loose, lists } = stepsOf(script, cwd, call);
  const repeats = steps.some((step) => step.repeats);
  const changesNothing = steps.every(isFree) && loose.every(({ redirects }) => redirects.every(onlyReads));
  const source = (word: Word) => (word === currentFolder ? "." : text.slice(word.start, word.end));
  const carries = finding.reading.possible.readings[0].some(({ anywhere }) => anywhere) || hasScripts(steps);
  const common = { home: call.home, disk, source, busy: steps.length > 1 || repeats, carries };
  const words: string[] = [];
  const linking: Linking[] = [];
  let lost = false;
  const judged = loose.map(({ redirects, bases, isLost }): { at: number; parts: JudgedPart[] } => {
    const targets = redirectTargets(redirects, { ...common, bases });
    const hook = isLost ? targets.find(mayBeHook) : undefined;
    if (hook) finding.mustAsk ??= reason("protected", { path: hook.shown, kind: "git" });
    return {
      at: redirects[0]!.target.start,
      parts: targets.flatMap((target) => judgeTarget(target, reach)),
    };
  });
  for (const step of steps) {
    const view = viewOf(step, {
      book,
      exact,
      session,
      disk,
      changesNothing,
      settled: changesNothing || (step === steps[0] && !step.repeats),
      environment: call.environment,
    });
    const folders = view.words[0]?.text === "git" ? foldersOfGit(view.words, step.bases, disk) : step.bases;
    const where = { ...common, bases: folders ?? step.bases };
    const isAway = where.bases.some((folder) => !step.bases.includes(folder));
    if (view.blocks && !(exact && view.blocks.exactly)) finding.blocked ??= view.reason;
    const targets = targetsOf(step, view, where, reach.watchful);
    if (isAway && view.program.git)
      targets.push(...operandTargets({ readOnly: true, reads: [currentFolder], writes: [], deep: false }, where));
    if (step.moves && "why" in step.moves && !step.moves.led) lost = true;
    const hook = lost ? targets.find(mayBeHook) : undefined;
    if (hook) finding.mustAsk ??= reason("protected", { path: hook.shown, kind: "git" });
    const opens = isAway || (!view.program.git && targets.some(({ text }) => text !== "."));
    linking.push({ words: view.words, opens, moves: step.moves !== undefined });
    const parts = targets.flatMap((target) => judgeTarget(target, reach, view.meant));
    const here = { ...common, bases: step.bases };
    parts.push(...unlistedParts(view, here, reach), ...patchedParts(view, step.fed, here, reach));
    judged.push({ at: startOf(step), parts: [...commandPart(step, view, { book, exact, source }), ...parts] });
    if (reach.watchful) words.push(...doubtful(view, common.carries).flatMap((word) => namesIn(word, where)));
    // Files that `xargs` is known to hand on were judged above.
    const isKnown = view.words[0]?.text === "xargs" && view.program.use?.readOnly === true;
    if (!isKnown)
      words.push(...judgeCode(waysOf(step.command.words, book), { fed: step.fed, bases: step.bases }, finding, call));
    const shown =
      shownByGit(view, { ...where, bases: folders }, reach) ??
      packed(view, where, reach) ??
      servesRuledFolder(
        view.words.map((word) => word.text ?? source(word)),
        where,
        reach,
      );
    if (shown) finding.mustAsk ??= shown;
  }
  const set = lists.find(({ name }) => !isOwnVariable(name, call.environment) && !isHarmlessVariable(name));
  if (set) finding.blocked ??= reason("changes-names", { name: set.name });
  if (reach.watchful && steps.some(hasOpaqueVariable)) words.push(...assigned(steps, lists, common));
  for (const { redirects, bases } of loose)
    linking.push({ words: [], opens: redirectTargets(redirects, { ...common, bases }).length > 0, moves: false });
  if (followsOwnLink(linking, repeats || runsBeside.test(text))) finding.blocked ??= reason("own-link", {});
  finding.parts = judged.sort((a, b) => a.at - b.at).flatMap(({ parts }) => parts);
  if (finding.parts.length === 0) finding.blocked = reason("not-understood", { construct: "no-command" });
  return words;
}

/** Names that variables of the line may hold: any of them may be a file. */
function assigned(steps: readonly Step[], lists: Flow["lists"], where: Omit<Where, "bases" | "busy">): string[] {
  return [
    ...steps.flatMap(({ command, bases }) =>
      command.assignments.flatMap(({ value }) => namesIn(value, { ...where, bases })),
    ),
    ...lists.flatMap(({ words, bases }) => words.flatMap((word) => namesIn(word, { ...where, bases }))),
  ];
}

/** A step that makes no file: whatever patterns stand for stays what it was. */
function isFree({ command: { words, redirects }, moves, listing }: Step): boolean {
  if (!redirects.every(onlyReads)) return false;
  return words.length === 0 || moves !== undefined || programOf(unwrapped(words), listing).use?.readOnly === true;
}

function onlyReads({ op }: Redirect): boolean {
  return op.startsWith("<") && op !== "<>";
}

/** A pipe, or a command in the background; quoted ones count as well. */
const runsBeside = /(^|[^&>|])[&|]([^&>|]|$)|\|&/;

/** Words that may name a file although nothing is known to open them. */
function doubtful({ program: { use, git }, words }: CommandView, carries: boolean): readonly Word[] {
  // The part after the colon in `HEAD:file` is a file too; and printed text may be handed on.
  const prints = carries && /^(echo|printf)$/.test(words[0]?.text ?? "");
  return use === undefined || git || prints ? words : words.filter(({ text }) => text === undefined);
}

function hasScripts(steps: readonly Step[]): boolean {
  return steps.some(({ command: { words } }) => words.some(({ scripts }) => scripts.length > 0));
}

/** Rules, protected paths and roots that the command may touch by a generous reading of its words. */
function guessed(
  words: readonly string[],
  { reading: { possible, script, text, commands } }: ShellFinding,
  call: ShellCall,
): Pick<ShellFinding, "deny" | "ask" | "mustAsk"> {
  const scene = { ...call, possible };
  const carried = script === undefined || possible.readings[0].some(({ anywhere }) => anywhere);
  const programs = script === undefined ? commands.map(({ possible: [way] }) => baseName(way?.words[0] ?? "")) : [];
  const runsOther = programs.some((name) => !isReader(name) && !keywords.has(name));
  const mustAsk =
    rootRemoval(scene) ??
    foundWrite(possible, [call.cwd], call) ??
    (carried ? protectedWrite(text, scene, runsOther) : undefined);
  return { ...rulesAgainst(words, scene), ...(mustAsk && { mustAsk }) };
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
  const text = words.map(source).join(" ");
  return [
    {
      text,
      behavior: allowed ? "allow" : "ask",
      reason: rule ? allowedBy(rule) : view.reason,
      ...(rule && { rule: rule.text, found: rule }),
      ...(!allowed && { need }),
      ...against(text, waysOf(command.words, book), book),
    },
  ];
}

/** Rules that are against a command, or may be. */
function against(text: string, ways: readonly PossibleCommand[], book: RuleBook): Partial<JudgedPart> {
  const found = book.against(gather(ways));
  if (found.deny || found.ask) return marked(found);
  const all = ways.flatMap(({ words, anywhere }) => (anywhere ? words.map((_, at) => words.slice(at)) : [words]));
  const others = all.flatMap((words) => disguised(words, book.namedAgainst));
  const rule = book.resembling([...ways, ...others.flatMap(waysToRun)]);
  if (rule === undefined) return {};
  const mustAsk = reason("resembles-rule", { command: text, rule: nameOf(rule) });
  return { behavior: "ask", reason: mustAsk, mustAsk };
}

/** `/bin/r?` may be any program that its last name fits. */
function waysOf(words: readonly Word[], book: RuleBook): PossibleCommand[] {
  const texts = words.map(knownText);
  const pattern = words[0]?.glob?.split("/").at(-1);
  const fits = pattern === undefined ? undefined : namePattern(pattern);
  const names = fits === undefined ? [] : book.namedAgainst.filter(fits);
  return [...waysToRun(texts), ...names.flatMap((name) => waysToRun([name, ...texts.slice(1)]))];
}

/** The files of a command. Of a program that is known, and words that are not, any word may be one. */
function targetsOf(
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
