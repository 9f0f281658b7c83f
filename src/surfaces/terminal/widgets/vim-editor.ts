import type { Editor } from "../draw/tui.ts";
import { readKey } from "./key.ts";
import { vimEscape, vimKey, vimStart, type Step, type Vim } from "./vim.ts";

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
    return before.reduce((sum, one) => sum + one.length + 1, 0) + col;
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
