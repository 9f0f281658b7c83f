import { isAbsolute, join, resolve } from "node:path";
import { reason } from "../../../protocol/index.ts";
import type { Reason } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import { PathError } from "../../paths/canonical.ts";
import type { Disk } from "../../paths/canonical.ts";
import type { Word } from "../read/word.ts";
import type { Command, Loop, Redirect, Script, Simple } from "../read/script.ts";
import { expandPattern } from "./patterns.ts";
import { fedTo } from "./input.ts";
import type { Fed } from "../suspect/code.ts";
import { variablesOf } from "./variables.ts";
import { tracesWords } from "../../programs/builtins.ts";
import { readerUse } from "../../programs/readers.ts";
import { listingOf } from "../../programs/xargs.ts";
import type { Listing } from "../../programs/xargs.ts";
import { unwrapped } from "../../programs/wrappers.ts";

/** A simple command with its variables replaced, and the folders it may run in. */
export type Step = {
  command: Simple;
  bases: readonly string[];
  moves?: Move;
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
export type Loose = {
  redirects: readonly Redirect[];
  bases: readonly string[];
  /** A `cd` before it leads nobody knows where. */
  isLost: boolean;
};

/** A `cd`: the folders it leads to, or why rules cannot cover it, and where it leads if that is known. */
export type Move = { to: readonly string[] } | { why: Reason; led?: readonly string[] };

type Scene = { reach: Reach; disk: Disk; environment?: ReadonlySet<string> | undefined };

/** `lists`: the words that the variables of loops go through. */
export type Flow = {
  steps: Step[];
  loose: Loose[];
  lists: { name: string; words: readonly Word[]; bases: readonly string[] }[];
};

/** The command before it in a pipeline. */
type Before = { command: Command | undefined; isMixed: boolean };

const mostBases = 8;
const mostSteps = 5_000;

/**
 * All commands of a script in the order of their text, each with every folder that `cd` may have led to by then. After
 * `&&` the `cd` has worked; after anything else it may have failed, and both folders count.
 */
export function stepsOf(script: Script, cwd: string, scene: Scene): Flow {
  const { reach, disk, environment } = scene;
  const variables = variablesOf(script, environment);
  if (!variables.sumsNumbers()) throw new PathError(reason("not-understood", { construct: "arithmetic" }), "sum");
  let steps: Step[] = [];
  let loose: Loose[] = [];
  const lists: Flow["lists"] = [];
  let loops = 0;
  let secrets = 0;
  let walked = 0;
  let isLost = false;
  /** The folders that `popd` may lead back to. */
  let left: readonly string[] = [];
  walk(script, unique([cwd, disk.follow(cwd)]));
  return { steps, loose, lists };

  /** Returns the folders it may end in. */
  function walk({ items }: Script, from: readonly string[]): readonly string[] {
    let ever = from;
    let worked = from;
    for (let at = 0; at < items.length;) {
      const { op } = items[at]!;
      let end = at + 1;
      while (items[end]?.op === "|" || items[end]?.op === "|&") end++;
      const entry = op === "&&" ? worked : ever;
      const pipeline = items.slice(at, end).map(({ command }) => command);
      // Messages are no names.
      const isMixed = items.slice(at, end).some((item) => item.op === "|&");
      const ends = pipeline.map((command, n) => enter(command, entry, { command: pipeline[n - 1], isMixed }));
      // The commands of a pipeline each run in a shell of their own.
      const after = ends.length === 1 ? ends[0]! : entry;
      worked = op === "||" ? unique([...worked, ...after]) : after;
      ever = unique([...ever, ...after]);
      at = end;
    }
    return ever;
  }

  function enter(command: Command, bases: readonly string[], before: Before): readonly string[] {
    for (const { target, heredoc } of command.redirects) {
      inside([target], bases);
      for (const script of heredoc?.scripts ?? []) walk(script, bases);
    }
    const redirects = command.redirects.map((one) => ({ ...one, target: variables.resolve(one.target) }));
    if (command.kind !== "simple" && redirects.length > 0) loose.push({ redirects, bases, isLost });
    const given = redirects.filter(isSecret).length;
    secrets += given;
    const ends = command.kind === "simple" ? run({ ...command, redirects }, bases, before) : within(command, bases);
    secrets -= given;
    return ends;
  }

  /** A here-document or a here-string with a secret in it that the line inherits. */
  function isSecret({ op, target, heredoc }: Redirect): boolean {
    return (heredoc !== undefined || op === "<<<") && !variables.isPrintable((heredoc ?? target).pieces);
  }

  function within(command: Exclude<Command, Simple>, bases: readonly string[]): readonly string[] {
    switch (command.kind) {
      case "subshell":
        walk(command.body, bases);
        return bases;
      case "braces":
        return walk(command.body, bases);
      case "if":
        if (command.subject) inside([command.subject], bases);
        return command.scripts.reduce((ever, script) => unique([...ever, ...walk(script, ever)]), bases);
      case "loop":
        return repeat(command, bases);
      default:
        return command satisfies never;
    }
  }

  function run(command: Simple, bases: readonly string[], { command: before, isMixed }: Before): readonly string[] {
    if (++walked > mostSteps)
      throw new PathError(reason("not-understood", { construct: "too-many-parts" }), "too long");
    inside([...command.assignments.map(({ value }) => value), ...command.words], bases);
    const words = command.words.map((word) => variables.resolve(word));
    const assignments = command.assignments.map(({ name, value }) => ({ name, value: variables.resolve(value) }));
    const resolved: Simple = { ...command, words, assignments };
    const moves = moveOf(resolved, bases);
    const feeding = before && resolvedOf(before);
    const fed = fedTo(resolved, feeding);
    const listing = isMixed || !isFedOnly(resolved) ? undefined : listingBy(feeding);
    const secret = secrets > 0 || (tracesWords(unwrapped(words)) && variables.holdSecret());
    steps.push({
      command: resolved,
      bases,
      fed,
      secret,
      repeats: loops > 0,
      ...(moves && { moves }),
      ...(listing && { listing }),
    });
    if (moves === undefined) return bases;
    if ("why" in moves && !moves.led) isLost = true;
    return "to" in moves ? moves.to : unique([...bases, ...(moves.led ?? [])]);
  }

  function resolvedOf(command: Command): Command {
    if (command.kind !== "simple") return command;
    return { ...command, words: command.words.map((word) => variables.resolve(word)) };
  }

  /** A loop begins again in the folders that it ends in: it is walked until those are all among the first. */
  function repeat(loop: Loop, bases: readonly string[]): readonly string[] {
    if (loop.counter) lists.push({ name: loop.counter.name, words: [], bases });
    if (loop.over) {
      lists.push({ ...loop.over, bases });
      inside(loop.over.words, bases);
      variables.goesThrough(loop, textsOf(loop.over.words, bases));
    }
    loops++;
    const kept = { steps, loose };
    let entry = bases;
    for (;;) {
      [steps, loose] = [[...kept.steps], [...kept.loose]];
      const ever = loop.scripts.reduce((so, script) => unique([...so, ...walk(script, so)]), entry);
      if (ever.length === entry.length || entry.length > mostBases) {
        loops--;
        return ever;
      }
      entry = ever;
    }
  }

  /** Values of the words of a `for`, or undefined. */
  function textsOf(words: readonly Word[], bases: readonly string[]): string[] | undefined {
    const texts = words.map((given): readonly string[] | undefined => {
      const word = variables.resolve(given);
      if (word.text !== undefined) return [word.text];
      if (word.choices !== undefined) return word.choices;
      if (word.glob === undefined) return undefined;
      const found = bases.map((base) => expandPattern(word.glob!, base, disk));
      return found.every((names) => names !== undefined) ? found.flat() : undefined;
    });
    return texts.every((list) => list !== undefined) ? texts.flat() : undefined;
  }

  function inside(words: readonly Word[], bases: readonly string[]): void {
    for (const { scripts } of words) for (const script of scripts) walk(script, bases);
  }

  function moveOf({ words, assignments }: Simple, bases: readonly string[]): Move | undefined {
    const [name, ...more] = words.map(({ text }) => text);
    const to = words[1] && (words[1].text === undefined ? words[1].choices : [words[1].text]);
    // In a loop, a `pushd` further down may have come before it.
    if (name === "popd" && left.length > 0 && more.length === 0 && loops === 0 && assignments.length === 0)
      return { to: unique([...left, ...bases]) };
    if (name === "popd" || name === "dirs") return { why: reason("move-unknown", { command: name }) };
    if (name !== "cd" && name !== "pushd") return undefined;
    if (name === "pushd") left = unique([...left, ...bases]);
    const isPlain = to?.every((text) => text !== "" && !/^(-|\+\d)/.test(text)) === true;
    if (!isPlain || to.length === 0 || more.length > 1 || assignments.length > 0)
      return { why: reason("move-unknown", { command: name }) };
    // The shell first takes dots as they are written, and the system takes them after links.
    const led = bases.flatMap((base) =>
      to.flatMap((text) => [resolve(base, text), disk.follow(isAbsolute(text) ? text : join(base, "/") + text)]),
    );
    const outside = led.find((path) => !reach.inside({ lexical: path, real: disk.follow(path) }));
    const all = unique(led);
    if (outside !== undefined)
      return { why: reason("outside", { path: outside }), led: all.length > mostBases ? [] : all };
    return all.length > mostBases ? { why: reason("moves-too-many", {}) } : { to: all };
  }
}

function isFedOnly({ words, redirects }: Simple): boolean {
  return words[0]?.text === "xargs" && redirects.every(({ op }) => !op.startsWith("<"));
}

function listingBy(command: Command | undefined): Listing | undefined {
  if (command?.kind !== "simple" || command.assignments.length > 0) return undefined;
  if (command.redirects.some(({ target }) => target.text !== "/dev/null")) return undefined;
  return listingOf(command.words, readerUse);
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
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

export function startOf({ command: { assignments, words, redirects } }: Step): number {
  const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
  return Math.min(...all.map(({ start }) => start));
}
