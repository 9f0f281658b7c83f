import { rebinding } from "../../../programs/program.ts";
import { setsVariable } from "../../../programs/files/readers.ts";
import { unwrapped } from "../../../programs/wrappers.ts";
import type { Command, Item, Loop, Script, Simple } from "../../read/script.ts";
import type { Piece, Word } from "../../read/word.ts";

/** Variables that the commands of a line set, and all its words. */
export type Assigned = {
  sources: ReadonlyMap<string, readonly Source[]>;
  /** Ranges of the text in which a variable is surely set. */
  certain: ReadonlyMap<string, readonly Span[]>;
  /** Words that name a program, or a variable that a builtin sets, and are not literal. */
  indirect: readonly Word[];
  words: readonly Word[];
  /** Pieces of here-documents. */
  bodies: readonly Piece[];
  /** A command may set any variable, or split values into other words. */
  anySet: boolean;
};

export type Span = { from: number; to: number };

export type Source =
  | { type: "word"; word: Word }
  | { type: "loop"; loop: Loop }
  | { type: "opaque" }
  /** Counted by the head of a loop. */
  | { type: "number" };

export function assignedIn(script: Script): Assigned {
  const sources = new Map<string, Source[]>();
  const certain = new Map<string, Span[]>();
  const indirect: Word[] = [];
  const words: Word[] = [];
  const bodies: Piece[] = [];
  let anySet = false;
  collect(script, true);
  return { sources, certain, indirect, words, bodies, anySet };

  function collect({ items }: Script, isTop: boolean): void {
    for (const [at, { command }] of items.entries()) {
      words.push(...command.redirects.map(({ target }) => target));
      bodies.push(...command.redirects.flatMap(({ heredoc }) => heredoc?.pieces ?? []));
      if (command.kind === "if" && command.subject) words.push(command.subject);
      if (command.kind === "simple") collectSimple(command, (from) => (isTop ? spanOf(items, at, from) : undefined));
      if (command.kind === "loop") collectLoop(command);
      for (const inner of scriptsIn(command)) collect(inner, false);
    }
  }

  /** `spanFrom`: the range in which an assignment that ends there surely holds. */
  function collectSimple(command: Simple, spanFrom: (end: number) => Span | undefined): void {
    words.push(...command.words, ...command.assignments.map(({ value }) => value));
    for (const { name, value } of command.assignments) {
      add(sources, name, { type: "word", word: value });
      const span = command.words.length === 0 ? spanFrom(value.end) : undefined;
      if (span) add(certain, name, span);
    }
    const run = unwrapped(command.words);
    for (const name of setByBuiltin(run)) add(sources, name, { type: "opaque" });
    // With other separators a value is other words.
    const separates = run.length === 0 && command.assignments.some(({ name }) => name === "IFS");
    if (separates || setByBuiltin(run).includes("IFS") || maySetAny(run)) anySet = true;
    if (run[0] && run[0].text === undefined) indirect.push(run[0]);
  }

  function collectLoop(loop: Loop): void {
    if (loop.over) {
      const { name, words: listed } = loop.over;
      if (name === "IFS") anySet = true;
      words.push(...listed);
      add(sources, name, { type: "loop", loop });
      add(certain, name, { from: listed[0]?.start ?? 0, to: commandEnd(loop) });
    }
    if (loop.counter) {
      const { name, start } = loop.counter;
      add(sources, name, { type: "number" });
      add(certain, name, { from: start, to: commandEnd(loop) });
    }
  }
}

function add<T>(map: Map<string, T[]>, name: string, value: T): void {
  map.set(name, [...(map.get(name) ?? []), value]);
}

/** From an assignment to the end of the text, or of the `&&` chain that it is part of. */
function spanOf(items: readonly Item[], n: number, from: number): Span | undefined {
  const next = items[n + 1]?.op;
  if (next === "|" || next === "|&" || items[n]!.op.startsWith("|")) return undefined;
  // All of `x=a && b &` runs in a shell of its own.
  if (items.find(({ op }, i) => i > n && (op === ";" || op === "&"))?.op === "&") return undefined;
  if (items[n]!.op === ";") return { from, to: Infinity };
  if (items[n]!.op !== "&&") return undefined;
  const end = items.findIndex(({ op }, i) => i > n && op !== "&&" && op !== "|" && op !== "|&");
  return { from, to: end < 0 ? Infinity : commandStart(items[end]!.command) };
}

function commandStart(command: Command): number {
  if (command.kind === "simple") {
    const { assignments, words, redirects } = command;
    const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
    return Math.min(...all.map(({ start }) => start));
  }
  const list = command.kind === "loop" ? (command.counter ?? command.over?.words[0]) : undefined;
  const first = command.kind === "if" ? command.subject : list;
  if (first) return first.start;
  const scripts = command.kind === "if" || command.kind === "loop" ? command.scripts : [command.body];
  return commandStart(scripts[0]!.items[0]!.command);
}

/** Position at which the last word of a command ends. */
function commandEnd(command: Command): number {
  if (command.kind === "simple") {
    const { assignments, words, redirects } = command;
    const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
    return Math.max(...all.map(({ end }) => end));
  }
  const last = command.kind === "if" || command.kind === "loop" ? command.scripts.at(-1)! : command.body;
  return commandEnd(last.items.at(-1)!.command);
}

/** Scripts that are part of a command, in whatever place. */
function scriptsIn(command: Command): Script[] {
  const redirected = command.redirects.flatMap(({ target, heredoc }) => [
    ...target.scripts,
    ...(heredoc?.scripts ?? []),
  ]);
  switch (command.kind) {
    case "simple":
      return [
        ...command.assignments.flatMap(({ value }) => value.scripts),
        ...command.words.flatMap(({ scripts }) => scripts),
        ...redirected,
      ];
    case "subshell":
    case "braces":
      return [command.body, ...redirected];
    case "if":
      return [...(command.subject?.scripts ?? []), ...command.scripts, ...redirected];
    case "loop":
      return [...(command.over?.words.flatMap(({ scripts }) => scripts) ?? []), ...command.scripts, ...redirected];
    default:
      return command satisfies never;
  }
}

/** Names that `read` and `export` set. */
function setByBuiltin([name, ...args]: readonly Word[]): string[] {
  const find = (pattern: RegExp) => args.flatMap(({ text }) => pattern.exec(text ?? "")?.[0] ?? []);
  if (name?.text === "export") return find(/^[A-Za-z_]\w*(?=\+?=)/);
  if (name?.text !== "read") return [];
  const names = find(/^[A-Za-z_]\w*$/);
  return names.length > 0 ? names : ["REPLY"];
}

/** A builtin that may set any variable, or one that is told by a variable which. */
function maySetAny(words: readonly Word[]): boolean {
  const name = words[0]?.text ?? "";
  if (name === "printf") return setsVariable(words);
  if (name === "wait") return words.length > 1;
  if (name === "read" || name === "export") return words.some(({ text }) => text === undefined);
  return rebinding.has(name) && !leavesVariables.has(name);
}

const leavesVariables = new Set("cd pushd popd dirs set".split(" "));
