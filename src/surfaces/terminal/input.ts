import type { Session } from "../../view/session.ts";
import { readTypedSlash, type Offer, type TypedSlash } from "../../view/slash/read.ts";
import { matchesKey } from "./draw/tui.ts";
import type { TerminalEnd } from "./screen/options.ts";

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
  | "revoke"
  | "back";

export function readKey(data: string): Key | undefined {
  if (matchesKey(data, "ctrl+c")) return "interrupt";
  if (matchesKey(data, "escape")) return "escape";
  if (matchesKey(data, "shift+tab")) return "mode";
  if (matchesKey(data, "ctrl+o")) return "unfold";
  if (matchesKey(data, "ctrl+r")) return "request";
  if (matchesKey(data, "ctrl+g")) return "editor";
  if (matchesKey(data, "ctrl+v")) return "clipboard";
  if (matchesKey(data, "ctrl+d")) return "leave";
  if (matchesKey(data, "ctrl+z")) return "sleep";
  if (matchesKey(data, "alt+u")) return "revoke";
  if (matchesKey(data, "up")) return "back";
  return undefined;
}

/** State of session and editor when the person wants to stop something. */
export type Situation = {
  /** A turn runs. */
  working: boolean;
  /** A command of the person's own runs. */
  shell: boolean;
  /** Requests are open. */
  waiting: boolean;
  /** A message waits for the next step. */
  queued: boolean;
  /** A draft is on the screen: typed and not sent. */
  typed: boolean;
  /** Ctrl-C came a moment ago. */
  again: boolean;
};

type Stop =
  | "interrupt"
  /** Interrupts the step, and the turn goes on with the message that waits. */
  | "now"
  /** Interrupts the turn together with its open requests, once no second Ctrl-C has come. */
  | "cancel"
  | "shell"
  | "clear"
  | "ask"
  | "leave"
  | "waits"
  | "nothing";

/** Esc never ends what waits for a person: it is the key that folds a panel away, and a second one is pressed easily. */
export function stopOf(
  key: "interrupt" | "escape",
  { working, shell, waiting, queued, typed, again }: Situation,
): Stop {
  if (key === "escape" && waiting) return "waits";
  // First of all: a draft that a panel covered when Ctrl-C first came keeps nobody from leaving.
  if (key === "interrupt" && again) return "leave";
  if (key === "interrupt" && typed) return "clear";
  if (waiting) return "cancel";
  if (key === "escape" && working && queued) return "now";
  if (working) return "interrupt";
  if (shell) return "shell";
  return key === "escape" ? "nothing" : "ask";
}

/** Everything about the person and the screen that decides what a key means. */
export type State = {
  phase: "here" | "leaving";
  /** The line about the last key. */
  hint: "none" | "again" | "waits" | "interrupting" | "reading" | "cancelling";
  /** Open requests are being cancelled: no other key takes that hint away. */
  cancelling: boolean;
  /** When Ctrl-C was pressed last. */
  interruptedAt: number;
  /** No other key came since: the next Ctrl-C leaves. */
  armed: boolean;
  /** When a panel was closed because somebody else had answered it. */
  takenAt: number;
  /** Output and thoughts are shown whole. */
  unfolded: boolean;
  end: Pick<TerminalEnd, "why" | "session"> & Partial<Pick<TerminalEnd, "last">>;
};

export type Event =
  | { type: "stop"; key: "interrupt" | "escape"; stop: Stop; at: number }
  | { type: "stopped" }
  | { type: "key" }
  /** A panel was answered elsewhere. */
  | { type: "taken"; at: number }
  /** A key that was on its way to that panel. */
  | { type: "swallowed"; at: number }
  | { type: "unfold" }
  | { type: "left"; end: State["end"] };

export const arrived: State = {
  phase: "here",
  hint: "none",
  cancelling: false,
  interruptedAt: -Infinity,
  armed: false,
  takenAt: -Infinity,
  unfolded: false,
  end: { why: "ended" },
};

const TWICE_MS = 2_000;
/** Nothing that was typed to a panel says anything to the agent: keys count after this long a silence. */
const QUIET_MS = 300;

export function next(state: State, event: Event): State {
  switch (event.type) {
    case "stop":
      return {
        ...state,
        hint: stopHint(state, event.stop),
        cancelling: state.cancelling || event.stop === "cancel",
        // Having cleared what was typed, the next Ctrl-C is a first one again.
        interruptedAt: event.key === "escape" ? state.interruptedAt : event.stop === "clear" ? -Infinity : event.at,
        armed: event.key === "interrupt",
      };
    case "stopped":
      return { ...state, hint: "none", cancelling: false };
    case "key":
      return { ...state, armed: false, hint: state.cancelling ? state.hint : "none" };
    case "taken":
      // Unless the person cancelled it: then they know.
      return isRecent(state, event.at) ? state : { ...state, takenAt: event.at };
    case "swallowed":
      return { ...state, takenAt: event.at };
    case "unfold":
      return { ...state, unfolded: !state.unfolded };
    case "left":
      return { ...state, phase: "leaving", end: event.end };
    default:
      return event satisfies never;
  }
}

/** Ctrl-C was pressed a moment ago, and nothing since: another one leaves. */
export function isSecond(state: State, now: number): boolean {
  return state.armed && isRecent(state, now);
}

function isRecent({ interruptedAt }: State, now: number): boolean {
  return now - interruptedAt < TWICE_MS;
}

/** A key for a panel that somebody else has just answered. */
export function isSwallowed({ takenAt }: State, now: number): boolean {
  return Math.abs(now - takenAt) < QUIET_MS;
}

/** Before the session is there, Ctrl-C leaves and Esc does nothing. */
export function stopIn(phase: Session["phase"], key: "interrupt" | "escape", situation: Situation): Stop {
  if (phase !== "joining") return stopOf(key, situation);
  return key === "interrupt" ? "leave" : "nothing";
}

function stopHint(state: State, stop: Stop): State["hint"] {
  switch (stop) {
    case "ask":
      return "again";
    case "waits":
      return "waits";
    case "interrupt":
    case "shell":
      return "interrupting";
    case "now":
      return "reading";
    case "cancel":
      return "cancelling";
    default:
      return state.hint;
  }
}
