import { readTypedSlash, type Offer, type TypedSlash } from "../../view/slash/read.ts";
import { matchesKey } from "./draw/tui.ts";

/** A submitted text, read: a message, a command to Sage, or one for the person's shell. */
type Typed =
  | { type: "nothing" }
  | { type: "say"; text: string }
  | { type: "command"; typed: TypedSlash }
  | { type: "shell"; command: string };

/** A path such as /etc/hosts is no command. One of the person's own is a message: the host knows it. */
export function readTyped(text: string, offer: Offer<"terminal">): Typed {
  const typed = text.trim();
  if (isNothing(typed)) return { type: "nothing" };
  if (/^(exit|quit)$/.test(typed)) return { type: "command", typed: { name: "quit", args: "" } }; // as in every shell
  if (/^[?？]$/.test(typed)) return { type: "command", typed: { name: "help", args: "" } };
  const command = readTypedSlash(typed, offer);
  if (command) return { type: "command", typed: command };
  return /^[!！]/.test(typed) ? { type: "shell", command: typed.slice(1).trim() } : { type: "say", text };
}

/** Nothing is sent, and nothing is kept of it. */
export function isNothing(text: string): boolean {
  return /^[!！]?$/.test(text.trim());
}

/** Keys that mean the same whatever has the focus. */
export type Key =
  | "interrupt"
  | "escape"
  | "mode"
  | "unfold"
  | "request"
  | "editor"
  | "clipboard"
  | "leave"
  | "sleep"
  | "back";

export function keyOf(data: string): Key | undefined {
  if (matchesKey(data, "ctrl+c")) return "interrupt";
  if (matchesKey(data, "escape")) return "escape";
  if (matchesKey(data, "shift+tab")) return "mode";
  if (matchesKey(data, "ctrl+o")) return "unfold";
  if (matchesKey(data, "ctrl+r")) return "request";
  if (matchesKey(data, "ctrl+g")) return "editor";
  if (matchesKey(data, "ctrl+v")) return "clipboard";
  if (matchesKey(data, "ctrl+d")) return "leave";
  if (matchesKey(data, "ctrl+z")) return "sleep";
  if (matchesKey(data, "up")) return "back";
  return undefined;
}

/** The session and the editor at the moment somebody wants to stop something. */
export type Situation = {
  /** A turn runs. */
  working: boolean;
  /** A command of the person's own runs. */
  shell: boolean;
  /** Requests are open. */
  waiting: boolean;
  /** A draft is on the screen: typed and not sent. */
  typed: boolean;
  /** Ctrl-C came a moment ago. */
  again: boolean;
};

export type Stop =
  | "interrupt"
  /** Interrupts the turn together with its open requests, once no second Ctrl-C has come. */
  | "cancel"
  | "shell"
  | "clear"
  | "ask"
  | "leave"
  | "waits"
  | "nothing";

/** Esc never ends what waits for a person: it is the key that folds a panel away, and a second one is pressed easily. */
export function stopOf(key: "interrupt" | "escape", { working, shell, waiting, typed, again }: Situation): Stop {
  if (key === "escape" && waiting) return "waits";
  // First of all: a draft that a panel covered when Ctrl-C first came keeps nobody from leaving.
  if (key === "interrupt" && again) return "leave";
  if (key === "interrupt" && typed) return "clear";
  if (waiting) return "cancel";
  if (working) return "interrupt";
  if (shell) return "shell";
  return key === "escape" ? "nothing" : "ask";
}
