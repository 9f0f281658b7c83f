import { rebinding } from "../../../programs/program.ts";
import { isPublicVariable } from "../../../programs/harmless.ts";
import { transparent } from "../../../programs/wrappers.ts";
import type { Loop, Script } from "../../read/script.ts";
import { literalWord, type Piece, type Word } from "../../read/word.ts";
import { assignedIn, type Assigned, type Source, type Span } from "./assigned.ts";

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

/** Everything that is known of the variables of a line. `looped`: texts that the variable of a loop goes through. */
type Known = Assigned & {
  environment: ReadonlySet<string> | undefined;
  looped: Map<Loop, readonly string[] | undefined>;
};

const mostChoices = 1_000;

/** Every assignment counts wherever it stands, for loops and branches reorder. What may be unset may be empty. */
export function variablesOf(script: Script, environment: ReadonlySet<string> | undefined): Variables {
  const known: Known = { ...assignedIn(script), environment, looped: new Map() };
  const { choicesOf, setsUnseen } = textsIn(known);
  const { isNumber, isOneNumber } = numbersIn(known, setsUnseen);
  const isPrintable = (pieces: readonly Piece[]) => arePrintable(pieces, known, new Set());
  const { words, bodies, looped } = known;

  return {
    isPrintable,
    holdSecret: () => !words.every(({ pieces }) => isPrintable(pieces)),
    sumsNumbers: () =>
      [...words.flatMap(({ pieces }) => pieces), ...bodies].every(
        (piece) => piece.type !== "sum" || piece.names.every((name) => isNumber(name)),
      ),
    goesThrough: (loop, texts) => void looped.set(loop, texts),
    resolve(word) {
      if (word.text !== undefined || word.glob !== undefined || word.pipe) return word;
      const printable = isPrintable(word.pieces);
      const choices = setsUnseen() ? undefined : choicesOf(word);
      const scripts = word.scripts;
      if (choices?.length === 1) return { ...literalWord(choices[0]!, word), scripts };
      if (choices === undefined) {
        const whole = word.splits && isOneNumber(word) ? { ...word, splits: false } : word;
        return printable ? { ...whole, printable } : whole;
      }
      const tame = choices.every((text) => !text.startsWith("-"));
      return { ...word, choices, splits: false, printable, ...(tame && { tame }) };
    },
  };
}

/** Texts that words may be. `setsUnseen`: a program that only a variable names may change them. */
function textsIn({ sources, certain, looped, indirect, anySet, environment }: Known) {
  return { choicesOf: (word: Word) => choicesOf(word, new Set()), setsUnseen };

  function textsOf(name: string, at: number, seen: ReadonlySet<string>): readonly string[] | undefined {
    const known = sources.get(name);
    if (anySet || known === undefined || seen.has(name) || environment?.has(name) !== false) return undefined;
    const within = new Set([...seen, name]);
    const texts = new Set<string>();
    if (!isSetAt(certain.get(name), at)) texts.add("");
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

  /** A program that is named by a variable may be a builtin that sets others. */
  function setsUnseen(): boolean {
    return indirect.some((word) => {
      const names = choicesOf(word, new Set());
      return (
        names === undefined || names.some((name) => rebinding.has(name) || transparent.has(name) || name === "printf")
      );
    });
  }
}

/** True when the pieces hold no inherited variable that could be a secret, nor one that was made of such a variable. */
function arePrintable(pieces: readonly Piece[], known: Known, seen: ReadonlySet<string>): boolean {
  return pieces.every((piece) => {
    const name = piece.type === "variable" || piece.type === "other" ? piece.name : undefined;
    if (name === undefined || isPublicVariable(name) || seen.has(name)) return true;
    if (known.environment?.has(name) !== false) return false;
    const within = new Set([...seen, name]);
    const made = known.sources.get(name)?.flatMap(sourceWords);
    return made !== undefined && made.every((word) => arePrintable(word.pieces, known, within));
  });
}

/** Tells which variables and words are surely numbers. */
function numbersIn({ sources, certain, anySet, environment }: Known, setsUnseen: () => boolean) {
  return { isNumber, isOneNumber };

  /** True when every value of the variable is made of digits and signs. */
  function isNumber(name: string, seen: ReadonlySet<string> = new Set()): boolean {
    const known = sources.get(name);
    if (anySet || known === undefined || environment?.has(name) === true || setsUnseen()) return false;
    const within = new Set([...seen, name]);
    return (
      seen.has(name) ||
      known.every((source) => {
        if (source.type === "number") return true;
        return source.type !== "opaque" && sourceWords(source).every((word) => isNumeric(word, within));
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

  /** True for a number at this place that is surely one word: nothing in it is split, and it is not missing. */
  function isOneNumber(word: Word): boolean {
    const isSet = (name: string) => environment?.has(name) === false && isSetAt(certain.get(name), word.start);
    return isNumeric(word) && word.pieces.every((piece) => piece.type !== "variable" || isSet(piece.name));
  }
}

function isSetAt(spans: readonly Span[] | undefined, at: number): boolean {
  return spans?.some(({ from, to }) => from < at && at < to) === true;
}

function sourceWords(source: Source): readonly Word[] {
  if (source.type === "word") return [source.word];
  return source.type === "loop" ? source.loop.over!.words : []; // not a loop that counts
}
