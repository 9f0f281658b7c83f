import { reason } from "../../../../protocol/reasons/reason.ts";
import type { Reach } from "../../../rules/access.ts";
import { PathError, type Disk } from "../../../paths/canonical.ts";
import type { Word } from "../../read/word.ts";
import type { Command, Item, Loop, Redirect, Script, Simple } from "../../read/script.ts";
import { expandPattern } from "./expand-pattern.ts";
import { stdinOf } from "./stdin.ts";
import { MAX_BASES, folderChangeOf, unique, type FolderChange } from "./folder-changes.ts";
import type { Fed } from "../../suspect/code.ts";
import { variablesOf, type Variables } from "./variables.ts";
import { tracesWords } from "../../../programs/builtins.ts";
import { readerUse } from "../../../programs/files/readers.ts";
import { listingOf, type Listing } from "../../../programs/files/xargs.ts";
import { unwrapped } from "../../../programs/wrappers.ts";

/** A simple command with its variables replaced, and the folders it may run in. */
export type Step = {
  command: Simple;
  bases: readonly string[];
  moves?: FolderChange;
  /** Its standard input. */
  fed: Fed;
  /** The names of files that it reads from there, if it is only names. */
  listing?: Listing;
  /** It, or what it is part of, is given a text that may hold a secret which the line inherits, or prints one. */
  secret: boolean;
  /** It may run again after everything else in its loop. */
  repeats: boolean;
};

/** Redirections of a group, which belong to no command in it. */
type Loose = {
  redirects: readonly Redirect[];
  bases: readonly string[];
  /** A `cd` before it leads nobody knows where. */
  isLost: boolean;
};

type Scene = { reach: Reach; disk: Disk; environment?: ReadonlySet<string> | undefined };

/** `lists`: the words that the variables of loops go through. */
export type Flow = {
  steps: Step[];
  loose: Loose[];
  lists: { name: string; words: readonly Word[]; bases: readonly string[] }[];
};

/** `isMixed`: messages come with the output, and they are no names. */
type Pipeline = { op: Item["op"]; commands: Command[]; isMixed: boolean };
/** The command before it in a pipeline. */
type Before = { command: Command | undefined; isMixed: boolean };

const MAX_STEPS = 5_000;

/** Where a walk through a script has come. */
type Walking = Flow & {
  scene: Scene;
  variables: Variables;
  /** Loops, and commands that are fed a secret, around the one that is looked at. */
  loops: number;
  secrets: number;
  walked: number;
  isLost: boolean;
  /** The folders that `popd` may lead back to. */
  left: readonly string[];
};

/** All commands in text order, with every folder that `cd` may have led to: after `&&` it has worked, after anything else both folders count. */
export function stepsOf(script: Script, cwd: string, scene: Scene): Flow {
  const variables = variablesOf(script, scene.environment);
  if (!variables.sumsNumbers()) throw new PathError(reason("not-understood", { construct: "arithmetic" }), "sum");
  const counts = { loops: 0, secrets: 0, walked: 0, isLost: false };
  const walking: Walking = { scene, variables, steps: [], loose: [], lists: [], left: [], ...counts };
  walk(walking, script, unique([cwd, scene.disk.follow(cwd)]));
  const { steps, loose, lists } = walking;
  return { steps, loose, lists };
}

/** Returns the folders it may end in. */
function walk(walking: Walking, { items }: Script, from: readonly string[]): readonly string[] {
  let ever = from;
  let worked = from;
  for (const { op, commands, isMixed } of pipelinesOf(items)) {
    const entry = op === "&&" ? worked : ever;
    const ends = commands.map((command, n) => enter(walking, command, entry, { command: commands[n - 1], isMixed }));
    // The commands of a pipeline each run in a shell of their own.
    const after = ends.length === 1 ? ends[0]! : entry;
    worked = op === "||" ? unique([...worked, ...after]) : after;
    ever = unique([...ever, ...after]);
  }
  return ever;
}

function enter(walking: Walking, command: Command, bases: readonly string[], before: Before): readonly string[] {
  const { variables } = walking;
  for (const { target, heredoc } of command.redirects) {
    walkInside(walking, [target], bases);
    for (const script of heredoc?.scripts ?? []) walk(walking, script, bases);
  }
  const redirects = command.redirects.map((redirect) => ({ ...redirect, target: variables.resolve(redirect.target) }));
  if (command.kind !== "simple" && redirects.length > 0)
    walking.loose.push({ redirects, bases, isLost: walking.isLost });
  const given = redirects.filter((redirect) => givesSecret(redirect, variables)).length;
  walking.secrets += given;
  const ends =
    command.kind === "simple"
      ? run(walking, { ...command, redirects }, bases, before)
      : within(walking, command, bases);
  walking.secrets -= given;
  return ends;
}

function within(walking: Walking, command: Exclude<Command, Simple>, bases: readonly string[]): readonly string[] {
  switch (command.kind) {
    case "subshell":
      walk(walking, command.body, bases);
      return bases;
    case "braces":
      return walk(walking, command.body, bases);
    case "if":
      if (command.subject) walkInside(walking, [command.subject], bases);
      return command.scripts.reduce((ever, script) => unique([...ever, ...walk(walking, script, ever)]), bases);
    case "loop":
      return repeat(walking, command, bases);
    default:
      return command satisfies never;
  }
}

function run(walking: Walking, command: Simple, bases: readonly string[], { command: before, isMixed }: Before) {
  if (++walking.walked > MAX_STEPS)
    throw new PathError(reason("not-understood", { construct: "too-many-parts" }), "too long");
  walkInside(walking, [...command.assignments.map(({ value }) => value), ...command.words], bases);
  const { variables, loops } = walking;
  const words = command.words.map((word) => variables.resolve(word));
  const assignments = command.assignments.map(({ name, value }) => ({ name, value: variables.resolve(value) }));
  const resolved: Simple = { ...command, words, assignments };
  // In a loop, a `pushd` further down may have come before a `popd`.
  const moves = folderChangeOf(resolved, { bases, left: loops > 0 ? [] : walking.left }, walking.scene);
  if (words[0]?.text === "pushd") walking.left = unique([...walking.left, ...bases]);
  const feeding = before && resolvedBy(variables, before);
  const fed = stdinOf(resolved, feeding);
  const listing = isMixed || !isFedOnly(resolved) ? undefined : listingBy(feeding);
  const secret = walking.secrets > 0 || (tracesWords(unwrapped(words)) && variables.holdSecret());
  walking.steps.push({
    command: resolved,
    bases,
    fed,
    secret,
    repeats: loops > 0,
    ...(moves && { moves }),
    ...(listing && { listing }),
  });
  if (moves === undefined) return bases;
  if ("why" in moves && !moves.led) walking.isLost = true;
  return "to" in moves ? moves.to : unique([...bases, ...(moves.led ?? [])]);
}

function resolvedBy(variables: Variables, command: Command): Command {
  if (command.kind !== "simple") return command;
  return { ...command, words: command.words.map((word) => variables.resolve(word)) };
}

/** A loop begins again in the folders that it ends in: it is walked until those are all among the first. */
function repeat(walking: Walking, loop: Loop, bases: readonly string[]): readonly string[] {
  const { variables, lists, scene } = walking;
  if (loop.counter) lists.push({ name: loop.counter.name, words: [], bases });
  if (loop.over) {
    lists.push({ ...loop.over, bases });
    walkInside(walking, loop.over.words, bases);
    const words = loop.over.words.map((word) => variables.resolve(word));
    variables.goesThrough(loop, textsOf(words, bases, scene.disk));
  }
  walking.loops++;
  const { steps, loose } = walking;
  let entry = bases;
  for (;;) {
    [walking.steps, walking.loose] = [[...steps], [...loose]];
    const ever = loop.scripts.reduce((so, script) => unique([...so, ...walk(walking, script, so)]), entry);
    if (ever.length === entry.length || entry.length > MAX_BASES) {
      walking.loops--;
      return ever;
    }
    entry = ever;
  }
}

function walkInside(walking: Walking, words: readonly Word[], bases: readonly string[]): void {
  for (const { scripts } of words) for (const script of scripts) walk(walking, script, bases);
}

/** Commands of a script by pipelines, each with the operator before it. */
function pipelinesOf(items: readonly Item[]): Pipeline[] {
  const pipelines: Pipeline[] = [];
  for (const { op, command } of items) {
    const last = pipelines.at(-1);
    if (last && (op === "|" || op === "|&")) {
      last.commands.push(command);
      last.isMixed ||= op === "|&";
    } else pipelines.push({ op, commands: [command], isMixed: op === "|&" });
  }
  return pipelines;
}

/** True for a here-document or a here-string with a secret in it that the line inherits. */
function givesSecret({ op, target, heredoc }: Redirect, variables: Variables): boolean {
  return (heredoc !== undefined || op === "<<<") && !variables.isPrintable((heredoc ?? target).pieces);
}

function isFedOnly({ words, redirects }: Simple): boolean {
  return words[0]?.text === "xargs" && redirects.every(({ op }) => !op.startsWith("<"));
}

function listingBy(command: Command | undefined): Listing | undefined {
  if (command?.kind !== "simple" || command.assignments.length > 0) return undefined;
  if (command.redirects.some(({ target }) => target.text !== "/dev/null")) return undefined;
  return listingOf(command.words, readerUse);
}

/** Values of the words of a `for`; undefined when they are unknown. */
function textsOf(words: readonly Word[], bases: readonly string[], disk: Disk): string[] | undefined {
  const texts = words.map(({ text, choices, glob }): readonly string[] | undefined => {
    if (text !== undefined) return [text];
    if (choices !== undefined || glob === undefined) return choices;
    const found = bases.map((base) => expandPattern(glob, base, disk));
    return found.every((names) => names !== undefined) ? found.flat() : undefined;
  });
  return texts.every((list) => list !== undefined) ? texts.flat() : undefined;
}

/** A word whose variables could not be replaced by what they hold. */
export function hasOpaqueVariable({ command: { words, redirects } }: Step): boolean {
  return [...words, ...redirects.map(({ target }) => target)].some(
    ({ text, choices, pieces }) =>
      text === undefined &&
      choices === undefined &&
      pieces.some((piece) => "name" in piece && piece.name !== undefined),
  );
}

export function stepStart({ command: { assignments, words, redirects } }: Step): number {
  const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
  return Math.min(...all.map(({ start }) => start));
}
