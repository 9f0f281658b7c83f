import { isAbsolute, join, resolve } from "node:path";
import { reason } from "../../../protocol/index.ts";
import type { Reason } from "../../../protocol/index.ts";
import type { Reach } from "../../rules/access.ts";
import type { Disk } from "../../paths/canonical.ts";
import type { Word } from "../read/word.ts";
import type { Group, Redirect, Script, Simple } from "../read/script.ts";

/** One simple command, and the folders it may find itself in. */
export type Step = { command: Simple; bases: readonly string[]; moves?: Move };

/** Redirections of a group, which belong to no command in it. */
export type Loose = { redirects: readonly Redirect[]; bases: readonly string[] };

/** What a `cd` does: to where, or why rules cannot cover it. */
export type Move = { to: readonly string[] } | { why: Reason };

const mostBases = 8;

/**
 * All commands of a script in the order of their text, each with every folder that `cd` may have led to by then. After
 * `&&` the `cd` has worked; after anything else it may have failed, and both folders count.
 */
export function stepsOf(
  script: Script,
  cwd: string,
  { reach, disk }: { reach: Reach; disk: Disk },
): { steps: Step[]; loose: Loose[] } {
  const steps: Step[] = [];
  const loose: Loose[] = [];
  walk(script, unique([cwd, disk.follow(cwd)]));
  return { steps, loose };

  /** Gives back the folders it may end in. */
  function walk({ items }: Script, from: readonly string[]): readonly string[] {
    let ever = from;
    let worked = from;
    for (let at = 0; at < items.length;) {
      const { op } = items[at]!;
      let end = at + 1;
      while (items[end]?.op === "|" || items[end]?.op === "|&") end++;
      const entry = op === "&&" ? worked : ever;
      const ends = items.slice(at, end).map(({ command }) => enter(command, entry));
      // The commands of a pipeline each run in a shell of their own.
      const after = ends.length === 1 ? ends[0]! : entry;
      worked = op === "||" ? unique([...worked, ...after]) : after;
      ever = unique([...ever, ...after]);
      at = end;
    }
    return ever;
  }

  function enter(command: Simple | Group, bases: readonly string[]): readonly string[] {
    for (const { target, heredoc } of command.redirects) {
      inside([target], bases);
      for (const script of heredoc?.scripts ?? []) walk(script, bases);
    }
    if (command.kind !== "simple") {
      if (command.redirects.length > 0) loose.push({ redirects: command.redirects, bases });
      const after = walk(command.body, bases);
      return command.kind === "braces" ? after : bases;
    }
    inside([...command.assignments.map(({ value }) => value), ...command.words], bases);
    const moves = moveOf(command, bases);
    steps.push({ command, bases, ...(moves && { moves }) });
    return moves !== undefined && "to" in moves ? moves.to : bases;
  }

  function inside(words: readonly Word[], bases: readonly string[]): void {
    for (const { scripts } of words) for (const script of scripts) walk(script, bases);
  }

  function moveOf({ words, assignments }: Simple, bases: readonly string[]): Move | undefined {
    const [name, to, ...more] = words.map(({ text }) => text);
    if (name === "popd" || name === "dirs") return { why: reason("move-unknown", { command: name }) };
    if (name !== "cd" && name !== "pushd") return undefined;
    if (
      to === undefined ||
      to === "" ||
      to.startsWith("-") ||
      /^\+\d/.test(to) ||
      more.length > 0 ||
      assignments.length > 0
    )
      return { why: reason("move-unknown", { command: name }) };
    // The shell first takes dots as they are written, and the system takes them after links.
    const led = bases.flatMap((base) => [resolve(base, to), disk.follow(isAbsolute(to) ? to : join(base, "/") + to)]);
    const outside = led.find((path) => !reach.inside({ lexical: path, real: disk.follow(path) }));
    if (outside !== undefined) return { why: reason("outside", { path: outside }) };
    const all = unique(led);
    return all.length > mostBases ? { why: reason("moves-too-many", {}) } : { to: all };
  }
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}
