import { isAbsolute } from "node:path";
import type { Rule } from "../../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { RuleBook } from "../../rules/book.ts";
import type { Disk } from "../../paths/canonical.ts";
import { allowedBy, firstOf, uncovered } from "../../rules/compile.ts";
import { escalates } from "../../programs/escalating.ts";
import type { Step } from "./flow/flow.ts";
import type { Assignment, Simple } from "../read/script.ts";
import type { Word } from "../read/word.ts";
import { changesReading, isOwnVariable, isPlainBuiltin } from "../../programs/builtins.ts";
import { isHarmlessAssignment, isHarmlessVariable } from "../../programs/harmless.ts";
import { gitElsewhere, gitTrouble, programOf, rebinding, type Program } from "../../programs/program.ts";
import { foldersOfGit } from "../../programs/git/git-words.ts";
import { setsVariable } from "../../programs/files/readers.ts";
import { tamed } from "./files/targets.ts";
import { unwrapped } from "../../programs/wrappers.ts";
import { covers } from "./covering.ts";

/** Judgement on one simple command, its files aside. */
export type CommandView = {
  reason: Reason;
  /** Runs without further ado: by a rule, or because it only reads. */
  allowed: boolean;
  rule?: Rule;
  /** Words that stand in the rule, and were meant. */
  meant: ReadonlySet<string>;
  /** Makes the whole line more than rules can cover; the exact text of it still can, if `exactly`. */
  blocks?: { exactly: boolean };
  /** The command that runs in the end. */
  words: readonly Word[];
  program: Program;
  /** No rule should be offered for it. */
  unfit?: true;
};

type Rules = {
  book: RuleBook;
  exact: Rule | undefined;
  session: string;
  disk: Disk;
  /** Nothing in the line makes a file. */
  changesNothing: boolean;
  /** Nothing of the line has run by then that could make a file: patterns stand for what they stand for now. */
  settled: boolean;
  environment: ReadonlySet<string> | undefined;
};

export function viewOf(step: Step, rules: Rules): CommandView {
  const { command, moves, secret, listing } = step;
  const { changesNothing, exact, environment } = rules;
  const words = unwrapped(command.words);
  const name = words[0]?.text;
  const program: Program =
    name === undefined ? { kind: "other" } : programOf(words, changesNothing ? listing : undefined);
  const view = { words, program, allowed: false, meant: none };
  const isOwn = (variable: string) => isOwnVariable(variable, environment);

  if (words.length === 0) return assignmentsView(view, command, isOwn);
  if (name === undefined) return { ...view, reason: reason("program-unknown", {}), unfit: true };
  if (moves !== undefined) {
    if ("to" in moves) return { ...view, allowed: true, reason: reason("stays-inside", {}) };
    return { ...view, blocks: { exactly: false }, reason: moves.why };
  }
  if (!secret && isPlainBuiltin(words, command.assignments, isOwn))
    return { ...view, allowed: true, reason: reason("sets-nothing", {}) };
  if (rebinding.has(name) || (name === "printf" && setsVariable(words)))
    return { ...view, blocks: { exactly: true }, reason: reason("changes-names", { name }) };
  const foreign = command.assignments.find(isForeign);
  if (foreign !== undefined) {
    if (exact) return { ...view, allowed: true, rule: exact, reason: allowedBy(exact) };
    return { ...view, reason: reason("variable-changes", { variable: foreign.name, program: name }), unfit: true };
  }
  return programView({ ...view, name }, step, rules);
}

/** Assignments without a program: set for good, some of them change how the lines after them are read. */
function assignmentsView(view: Began, { assignments }: Simple, isOwn: (variable: string) => boolean): CommandView {
  const lasting = assignments.find(
    (assignment) =>
      !isOwn(assignment.name) &&
      (isForeign(assignment) || !isHarmlessVariable(assignment.name) || changesReading(assignment.name)),
  );
  if (lasting === undefined) return { ...view, allowed: true, reason: reason("sets-nothing", {}) };
  return { ...view, blocks: { exactly: true }, reason: reason("changes-names", { name: lasting.name }) };
}

function isForeign({ name, value }: Assignment): boolean {
  return !isHarmlessAssignment(name, value.text);
}

/** A program: a rule covers it, or it may run by itself. */
function programView(
  { name, ...view }: Named,
  step: Step,
  { book, exact, session, disk, settled }: Rules,
): CommandView {
  const { command, bases } = step;
  const { words } = view;
  const named = new Set([name, command.words[0]?.text ?? name]);
  const given = settled ? words.map((word) => tamed(word, bases, disk)) : words;
  const place = { bases, session, disk };
  const held = [...named]
    .flatMap((form) => book.covering(form))
    .map((each) => ({ each, by: covers(each, given, command.words, place) }));
  const covering = held.filter(({ by }) => by === true).map(({ each }) => each);
  const rule = firstOf(covering) ?? exact;
  if (rule === undefined) {
    const nearly = held.find(({ by }) => typeof by === "object")?.by as Reason | undefined;
    return unruledView({ ...view, name }, { given, nearly }, step, place);
  }
  // The same name in another folder is another program.
  if (name.includes("/") && !isAbsolute(name) && bases.some((base) => disk.follow(base) !== session))
    return { ...view, reason: reason("program-moved", { program: name, folder: session }), unfit: true };
  const meant = new Set(covering.flatMap(({ command: named }) => [...(named?.literal ?? [])]));
  const elsewhere = name === "git" ? gitElsewhere(words, { ...place, meant }) : undefined;
  if (elsewhere !== undefined) return { ...view, reason: elsewhere, unfit: true };
  return { ...view, allowed: true, rule, reason: allowedBy(rule), meant };
}

/** A program without a rule: free if it only reads. `nearly`: why a rule that names it does not cover it. */
function unruledView(
  { name, ...view }: Named,
  { given, nearly }: { given: readonly Word[]; nearly: Reason | undefined },
  { command, secret }: Step,
  { bases, session, disk }: { bases: readonly string[]; session: string; disk: Disk },
): CommandView {
  const { program, words } = view;
  // Its target is judged as that of a redirection is, and it does nothing else.
  const isTee = name === "tee" && program.use !== undefined && !secret;
  if (isTee && program.use?.writes.length) return { ...view, allowed: true, reason: reason("writes-named", {}) };
  const isFree = program.use?.readOnly === true && !secret;
  const isRead = isFree && program.use?.closed === true;
  if (nearly && !isRead) return { ...view, reason: nearly, unfit: true };
  if (!isRead && escalates(given, none))
    return { ...view, reason: reason("option-unnamed", { program: name }), unfit: true };
  if (!isFree) return { ...view, reason: uncovered };
  const locks = command.assignments.some((assignment) => assignment.name === "GIT_OPTIONAL_LOCKS");
  const trouble =
    program.git &&
    (locks
      ? reason("repository-locks", {})
      : gitTrouble(program.git, foldersOfGit(words, bases, disk) ?? bases, session));
  if (trouble !== undefined) return { ...view, reason: reason("repository-unsafe", { why: trouble }) };
  return { ...view, allowed: true, reason: reason("only-reads", {}) };
}

/** A view that is not decided yet. */
type Began = Pick<CommandView, "words" | "program" | "allowed" | "meant">;
type Named = Began & { name: string };

const none: ReadonlySet<string> = new Set();
