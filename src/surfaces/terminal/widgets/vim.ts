import type { Editor } from "../draw/tui.ts";
import { readKey } from "./key.ts";

/** Vim's keys for the editor, as a pure machine: a key and the text in, steps for the editor out. */
export type Vim =
  | { mode: "insert"; register: Register }
  | {
      mode: "normal";
      register: Register;
      /** An operator that waits for where it goes to. */ pending: "" | "d" | "c" | "y";
    };

/** The text that was taken last, and whether it is whole lines. */
type Register = { text: string; lines: boolean };

/** Places are offsets into the text. */
type Step =
  | { type: "move"; to: number }
  | { type: "delete"; from: number; to: number }
  | { type: "insert"; text: string }
  | { type: "up" }
  | { type: "down" }
  | { type: "undo" };

const vimStart: Vim = { mode: "insert", register: { text: "", lines: false } };

type Result = { vim: Vim; steps: Step[] };

/** Esc: to normal mode, with the cursor on the letter that was written last. */
function vimEscape({ register }: Vim, text: string, at: number): Result {
  const to = at > lineStart(text, at) ? at - 1 : at;
  return { vim: { mode: "normal", register, pending: "" }, steps: to === at ? [] : [{ type: "move", to }] };
}

/** A key in normal mode. One that means nothing does nothing. */
export function vimKey(vim: Vim & { mode: "normal" }, key: string, text: string, at: number): Result {
  const { register, pending } = vim;
  const idle: Vim = { mode: "normal", register, pending: "" };
  const stay = (...steps: Step[]): Result => ({ vim: idle, steps });
  const insert = (...steps: Step[]): Result => ({ vim: { mode: "insert", register }, steps });
  const start = lineStart(text, at);
  const end = lineEnd(text, at);
  if (pending !== "") return operate(vim, key, text, at);

  const to = motion(key, text, at);
  if (to !== undefined) return stay({ type: "move", to });
  switch (key) {
    case "j":
      return stay({ type: "down" });
    case "k":
      return stay({ type: "up" });
    case "i":
      return insert();
    case "a":
      return insert({ type: "move", to: Math.min(at + 1, end) });
    case "I":
      return insert({ type: "move", to: firstLetter(text, start, end) });
    case "A":
      return insert({ type: "move", to: end });
    case "o":
      return insert({ type: "move", to: end }, { type: "insert", text: "\n" });
    case "O":
      return insert({ type: "move", to: start }, { type: "insert", text: "\n" }, { type: "move", to: start });
    case "x":
      return at < end ? taken(idle, text, at, Math.min(at + 1, end)) : stay();
    case "D":
      return taken(idle, text, at, end);
    case "C":
      return taken({ mode: "insert", register }, text, at, end);
    case "u":
      return stay({ type: "undo" });
    case "p":
      if (register.text === "") return stay();
      return register.lines
        ? stay({ type: "move", to: end }, { type: "insert", text: `\n${register.text}` })
        : stay({ type: "move", to: Math.min(at + 1, end) }, { type: "insert", text: register.text });
    case "d":
    case "c":
    case "y":
      return { vim: { ...idle, pending: key }, steps: [] };
    default:
      return stay();
  }
}

/** The key after d, c or y says how far it goes. */
function operate({ register, pending }: Vim & { mode: "normal" }, key: string, text: string, at: number): Result {
  const idle: Vim = { mode: "normal", register, pending: "" };
  const writing: Vim = { mode: "insert", register };
  const [start, end] = [lineStart(text, at), lineEnd(text, at)];
  if (key === pending) {
    const line: Register = { text: text.slice(start, end), lines: true };
    if (pending === "y") return { vim: { ...idle, register: line }, steps: [] };
    if (pending === "c")
      return { vim: { ...writing, register: line }, steps: [{ type: "delete", from: start, to: end }] };
    const whole = end < text.length ? { from: start, to: end + 1 } : { from: Math.max(0, start - 1), to: end };
    return { vim: { ...idle, register: line }, steps: [{ type: "delete", ...whole }] };
  }
  // `cw` changes the word and leaves the space behind it, as it always did.
  const found = pending === "c" && key === "w" ? wordEnd(text, at) + 1 : motion(key, text, at);
  if (found === undefined) return { vim: idle, steps: [] };
  const to = key === "e" || key === "$" ? found + 1 : found;
  const [from, until] = [Math.min(at, to), Math.min(Math.max(at, to), key === "b" ? at : end)];
  if (pending === "y")
    return { vim: { ...idle, register: { text: text.slice(from, until), lines: false } }, steps: [] };
  return taken(pending === "c" ? writing : idle, text, from, until);
}

function taken(vim: Vim, text: string, from: number, to: number): Result {
  if (from >= to) return { vim, steps: [] };
  const register = { text: text.slice(from, to), lines: false };
  return { vim: { ...vim, register }, steps: [{ type: "delete", from, to }] };
}

function motion(key: string, text: string, at: number): number | undefined {
  const [start, end] = [lineStart(text, at), lineEnd(text, at)];
  switch (key) {
    case "h":
      return Math.max(start, at - 1);
    case "l":
      return Math.min(Math.max(start, end - 1), at + 1);
    case "0":
      return start;
    case "^":
      return firstLetter(text, start, end);
    case "$":
      return Math.max(start, end - 1);
    case "w":
      return wordNext(text, at);
    case "b":
      return wordBefore(text, at);
    case "e":
      return wordEnd(text, at);
    case "G":
      return text.length;
    default:
      return undefined;
  }
}

/** Letters, signs and blanks: a word is a run of one kind. */
function kindAt(text: string, at: number): "letter" | "sign" | "blank" {
  const sign = text[at] ?? " ";
  if (/\s/.test(sign)) return "blank";
  return /[\p{L}\p{N}\p{M}\p{Cs}_]/u.test(sign) ? "letter" : "sign";
}

function wordNext(text: string, at: number): number {
  let next = at;
  const kind = kindAt(text, at);
  if (kind !== "blank") while (next < text.length && kindAt(text, next) === kind) next++;
  while (next < text.length && kindAt(text, next) === "blank") next++;
  return next;
}

function wordBefore(text: string, at: number): number {
  let before = at - 1;
  while (before > 0 && kindAt(text, before) === "blank") before--;
  const kind = kindAt(text, before);
  while (before > 0 && kindAt(text, before - 1) === kind) before--;
  return Math.max(0, before);
}

/** The last letter of this word, or of the next one when this is its end. */
function wordEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && kindAt(text, end) === "blank") end++;
  const kind = kindAt(text, end);
  while (end + 1 < text.length && kindAt(text, end + 1) === kind) end++;
  return Math.min(end, Math.max(0, text.length - 1));
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function firstLetter(text: string, start: number, end: number): number {
  return start + (/^[^\S\n]*/.exec(text.slice(start, end))?.[0].length ?? 0);
}

const keys = { left: "\x1b[D", right: "\x1b[C", up: "\x1b[A", down: "\x1b[B", delete: "\x1b[3~", undo: "\x1f" };

/** Vim's keys on the library's editor, which is moved by its own keys: so folded pastes stay what they are. */
type VimEditor = {
  /** True when the key was for Vim. */
  take(data: string): boolean;
  mode(): Vim["mode"];
  /** For the next message. */
  reset(): void;
};

export function createVimEditor(editor: Editor): VimEditor {
  let vim = vimStart;
  /** How many steps of the editor one step of Vim was, the last one first. Typing between them makes them worthless. */
  let undos: number[] = [];

  const place = (): number => {
    const { line, col } = editor.getCursor();
    const before = editor.getLines().slice(0, line);
    return before.reduce((sum, line) => sum + line.length + 1, 0) + col;
  };
  /** The editor steps over whole letters and folded pastes, so a place inside of one is passed. */
  const moveTo = (to: number): void => {
    for (let left = editor.getText().length + 1; left > 0 && place() !== to; left--) {
      const before = place();
      editor.handleInput(before > to ? keys.left : keys.right);
      if (place() === before || (before > to ? place() < to : place() > to)) return;
    }
  };
  const carryOut = (step: Step): number => {
    switch (step.type) {
      case "move":
        return (moveTo(step.to), 0);
      case "delete": {
        moveTo(step.from);
        const rest = editor.getText().length - (step.to - place());
        let pressed = 0;
        while (editor.getText().length > rest && pressed++ < step.to - step.from) editor.handleInput(keys.delete);
        return pressed;
      }
      case "insert":
        return (editor.insertTextAtCursor(step.text), 1);
      case "up":
      case "down":
        return (editor.handleInput(keys[step.type]), 0);
      case "undo":
        for (let times = undos.pop() ?? 1; times > 0; times--) editor.handleInput(keys.undo);
        return 0;
      default:
        return step satisfies never;
    }
  };
  const apply = (result: { vim: Vim; steps: Step[] }): true => {
    const changes = result.steps.reduce((sum, step) => sum + carryOut(step), 0);
    if (changes > 0) undos.push(changes);
    vim = result.vim;
    return true;
  };

  return {
    mode: () => vim.mode,
    reset() {
      vim = { ...vimStart, register: vim.register };
      undos = [];
    },
    take(data) {
      const key = readKey(data);
      if (vim.mode === "insert") {
        if (key?.name === "escape" && !editor.isShowingAutocomplete())
          return apply(vimEscape(vim, editor.getText(), place()));
        undos = [];
        return false;
      }
      if (!key || key.name === "paste" || key.text === undefined) return false;
      return apply(vimKey(vim, key.text, editor.getText(), place()));
    },
  };
}
