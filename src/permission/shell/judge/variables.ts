import { rebinding } from "../../programs/program.ts";
import { isPublicVariable } from "../../programs/harmless.ts";
import { setsVariable } from "../../programs/readers.ts";
import { transparent, unwrapped } from "../../programs/wrappers.ts";
import type { Command, Item, Loop, Script } from "../read/script.ts";
import { literalWord } from "../read/word.ts";
import type { Piece, Word } from "../read/word.ts";

/** Variables that a line sets itself, with every text that each of them may hold. */
export type Variables = {
  /** The word with its variables replaced by their values, as far as those are known. */
  resolve(word: Word): Word;
  /** False when one of these may be a secret that the line inherits. */
  isPrintable(pieces: readonly Piece[]): boolean;
  /** A word somewhere in the line may be a secret that the line inherits. */
  holdSecret(): boolean;
  /** Every sum in the line is reckoned from numbers: a text would be evaluated, and commands in an index of it run. */
  sumsNumbers(): boolean;
  /** Keeps the texts that the variable of a loop goes through; undefined when they are not known. */
  goesThrough(loop: Loop, texts: readonly string[] | undefined): void;
};

/** Range of the text in which a variable is surely set. */
type Span = { from: number; to: number };
type Source =
  | { type: "word"; word: Word }
  | { type: "loop"; loop: Loop }
  | { type: "opaque" }
  /** Counted by the head of a loop. */
  | { type: "number" };

const mostChoices = 1_000;

/**
 * Every assignment counts wherever the word stands, for loops and branches run in an order of their own. A variable that
 * may be unset at a word may also be empty there.
 */
export function variablesOf(script: Script, environment: ReadonlySet<string> | undefined): Variables {
  const sources = new Map<string, Source[]>();
  const certain = new Map<string, Span[]>();
  const looped = new Map<Loop, readonly string[] | undefined>();
  /** Words that name a program, or a variable that a builtin sets, and are not literal. */
  const indirect: Word[] = [];
  const all: Word[] = [];
  const bodies: Piece[] = [];
  let anySet = false;
  const add = <T>(map: Map<string, T[]>, name: string, one: T) => void map.set(name, [...(map.get(name) ?? []), one]);

  function collect({ items }: Script, isTop: boolean): void {
    for (const [n, { command }] of items.entries()) {
      all.push(...command.redirects.map(({ target }) => target));
      bodies.push(...command.redirects.flatMap(({ heredoc }) => heredoc?.pieces ?? []));
      if (command.kind === "if" && command.subject) all.push(command.subject);
      if (command.kind === "simple") {
        all.push(...command.words, ...command.assignments.map(({ value }) => value));
        for (const { name, value } of command.assignments) {
          add(sources, name, { type: "word", word: value });
          if (isTop && command.words.length === 0) {
            const span = spanOf(items, n, value.end);
            if (span) add(certain, name, span);
          }
        }
        const words = unwrapped(command.words);
        for (const name of setByBuiltin(words)) add(sources, name, { type: "opaque" });
        // With other separators a value is other words.
        const separates = words.length === 0 && command.assignments.some(({ name }) => name === "IFS");
        if (separates || setsSeparator(words) || maySetAny(words)) anySet = true;
        if (words[0] && words[0].text === undefined) indirect.push(words[0]);
      }
      if (command.kind === "loop" && command.over) {
        const { name, words } = command.over;
        if (name === "IFS") anySet = true;
        all.push(...words);
        add(sources, name, { type: "loop", loop: command });
        add(certain, name, { from: words[0]?.start ?? 0, to: endOf(command) });
      }
      if (command.kind === "loop" && command.counter) {
        const { name, start } = command.counter;
        add(sources, name, { type: "number" });
        add(certain, name, { from: start, to: endOf(command) });
      }
      for (const inner of scriptsIn(command)) collect(inner, false);
    }
  }
  collect(script, true);

  function textsOf(name: string, at: number, seen: ReadonlySet<string>): readonly string[] | undefined {
    const known = sources.get(name);
    if (anySet || known === undefined || seen.has(name) || environment?.has(name) !== false) return undefined;
    const within = new Set([...seen, name]);
    const texts = new Set<string>();
    if (certain.get(name)?.some(({ from, to }) => from < at && at < to) !== true) texts.add("");
    for (const source of known) {
      if (source.type === "opaque" || source.type === "number") return undefined;
      const found = source.type === "loop" ? looped.get(source.loop) : choicesOf(source.word, within);
      if (found === undefined) return undefined;
      for (const text of found) texts.add(text);
      if (texts.size > mostChoices) return undefined;
    }
    return [...texts];
  }

  function choicesOf(word: Word, seen: ReadonlySet<string>): readonly string[] | undefined {
    if (word.text !== undefined) return [word.text];
    let texts: readonly string[] = [""];
    for (const piece of word.pieces) {
      const more = piece.type === "text" ? [piece.text] : pieceTexts(piece, word.start, seen);
      if (more === undefined || texts.length * more.length > mostChoices) return undefined;
      texts = texts.flatMap((text) => more.map((each) => text + each));
    }
    return texts;
  }

  function pieceTexts(piece: Piece, at: number, seen: ReadonlySet<string>): readonly string[] | undefined {
    if (piece.type !== "variable") return undefined;
    const texts = textsOf(piece.name, at, seen);
    // Unquoted, a text is split at its blanks, and what looks like a pattern becomes names of files.
    return piece.quoted || texts?.every((text) => /^[^\s*?[\]\\]+$/.test(text)) === true ? texts : undefined;
  }

  /** Holds no inherited variable that could be a secret, nor one that was made of such a variable. */
  function isPrintable(pieces: readonly Piece[], seen: ReadonlySet<string> = new Set()): boolean {
    return pieces.every((piece) => {
      const name = piece.type === "variable" || piece.type === "other" ? piece.name : undefined;
      if (name === undefined || isPublicVariable(name) || seen.has(name)) return true;
      if (environment?.has(name) !== false) return false;
      const within = new Set([...seen, name]);
      const made = sources.get(name)?.flatMap(wordsOf);
      return made !== undefined && made.every((word) => isPrintable(word.pieces, within));
    });
  }

  /** Every value it is given is made of digits and signs. */
  function isNumber(name: string, seen: ReadonlySet<string> = new Set()): boolean {
    const known = sources.get(name);
    if (anySet || known === undefined || environment?.has(name) === true || setsUnseen()) return false;
    const within = new Set([...seen, name]);
    return (
      seen.has(name) ||
      known.every((source) => {
        if (source.type === "number") return true;
        return source.type !== "opaque" && wordsOf(source).every((word) => isNumeric(word, within));
      })
    );
  }

  function isNumeric({ text, pieces, scripts }: Word, seen?: ReadonlySet<string>): boolean {
    if (text !== undefined) return /^[-\d]*$/.test(text);
    return (
      scripts.length === 0 &&
      pieces.every((piece) => {
        if (piece.type === "text") return /^[-\d]*$/.test(piece.text);
        return piece.type === "sum" || (piece.type === "variable" && isNumber(piece.name, seen));
      })
    );
  }

  /** A number at this place, and surely one word: nothing in it is split, and it is not missing. */
  function isOneNumber(word: Word): boolean {
    const isSet = (name: string) =>
      environment?.has(name) === false &&
      certain.get(name)?.some(({ from, to }) => from < word.start && word.start < to) === true;
    return isNumeric(word) && word.pieces.every((piece) => piece.type !== "variable" || isSet(piece.name));
  }

  /** A program that is named by a variable may be a builtin that sets others. */
  function setsUnseen(): boolean {
    return indirect.some((word) => {
      const names = choicesOf(word, new Set());
      return (
        names === undefined || names.some((name) => rebinding.has(name) || transparent.has(name) || name === "printf")
      );
    });
  }

  return {
    isPrintable: (pieces) => isPrintable(pieces),
    holdSecret: () => !all.every(({ pieces }) => isPrintable(pieces)),
    sumsNumbers: () =>
      [...all.flatMap(({ pieces }) => pieces), ...bodies].every(
        (piece) => piece.type !== "sum" || piece.names.every((name) => isNumber(name)),
      ),
    goesThrough: (loop, texts) => void looped.set(loop, texts),
    resolve(word) {
      if (word.text !== undefined || word.glob !== undefined || word.pipe) return word;
      const printable = isPrintable(word.pieces);
      const choices = setsUnseen() ? undefined : choicesOf(word, new Set());
      const scripts = word.scripts;
      if (choices?.length === 1) return { ...literalWord(choices[0]!, word), scripts };
      if (choices === undefined) {
        const known = word.splits && isOneNumber(word) ? { ...word, splits: false } : word;
        return printable ? { ...known, printable } : known;
      }
      const tame = choices.every((text) => !text.startsWith("-"));
      return { ...word, choices, splits: false, printable, ...(tame && { tame }) };
    },
  };
}

function wordsOf(source: Source): readonly Word[] {
  if (source.type === "word") return [source.word];
  return source.type === "loop" ? source.loop.over!.words : []; // not a loop that counts
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
  return { from, to: end < 0 ? Infinity : startOf(items[end]!.command) };
}

function startOf(command: Command): number {
  if (command.kind === "simple") {
    const { assignments, words, redirects } = command;
    const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
    return Math.min(...all.map(({ start }) => start));
  }
  const list = command.kind === "loop" ? (command.counter ?? command.over?.words[0]) : undefined;
  const first = command.kind === "if" ? command.subject : list;
  if (first) return first.start;
  const scripts = command.kind === "if" || command.kind === "loop" ? command.scripts : [command.body];
  return startOf(scripts[0]!.items[0]!.command);
}

/** Position at which the last word of a command ends. */
function endOf(command: Command): number {
  if (command.kind === "simple") {
    const { assignments, words, redirects } = command;
    const all = [...assignments.map(({ value }) => value), ...words, ...redirects.map(({ target }) => target)];
    return Math.max(...all.map(({ end }) => end));
  }
  const last = command.kind === "if" || command.kind === "loop" ? command.scripts.at(-1)! : command.body;
  return endOf(last.items.at(-1)!.command);
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

function setsSeparator(words: readonly Word[]): boolean {
  return setByBuiltin(words).includes("IFS");
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
