import { matchesKey } from "./draw/tui.ts";

/** What a submitted text is. */
export type Typed =
  | { type: "nothing" }
  | { type: "say"; text: string }
  | { type: "command"; name: string; args: string }
  | { type: "shell"; command: string };

/** A path such as /etc/hosts is no command, and neither is what goes on for lines. */
export function readTyped(text: string): Typed {
  const typed = text.trim();
  if (typed === "") return { type: "nothing" };
  const command = /^\/([\p{L}\p{N}_-]+)(?:\s+([^]*))?$/u.exec(typed);
  if (command) return { type: "command", name: command[1] ?? "", args: (command[2] ?? "").trim() };
  if (/^[!！]/.test(typed)) {
    const shell = typed.slice(1).trim();
    return shell === "" ? { type: "nothing" } : { type: "shell", command: shell };
  }
  return { type: "say", text };
}

/** Keys that mean the same whatever has the focus. */
export type Key = "interrupt" | "escape" | "unfold" | "request" | "editor" | "leave" | "sleep";

export function keyOf(data: string): Key | undefined {
  if (matchesKey(data, "ctrl+c")) return "interrupt";
  if (matchesKey(data, "escape")) return "escape";
  if (matchesKey(data, "ctrl+o")) return "unfold";
  if (matchesKey(data, "ctrl+r")) return "request";
  if (matchesKey(data, "ctrl+g")) return "editor";
  if (matchesKey(data, "ctrl+d")) return "leave";
  if (matchesKey(data, "ctrl+z")) return "sleep";
  return undefined;
}

/** Where things are when somebody wants to stop them. */
export type Situation = {
  /** A turn runs, or a command of the person's own. */
  working: boolean;
  /** Requests are open. */
  waiting: boolean;
  /** Something is typed and not sent. */
  typed: boolean;
  /** Ctrl-C came a moment ago. */
  again: boolean;
};

export type Stop = "interrupt" | "clear" | "ask" | "leave" | "waits" | "nothing";

/** Esc never ends what waits for a person: it is the key that folds a panel away, and a second one is pressed easily. */
export function stopOf(key: "interrupt" | "escape", { working, waiting, typed, again }: Situation): Stop {
  if (key === "escape") return waiting ? "waits" : working ? "interrupt" : "nothing";
  if (again) return "leave";
  if (working || waiting) return "interrupt";
  return typed ? "clear" : "ask";
}
