import type { Session } from "../../view/session.ts";
import type { TerminalEnd } from "./screen/options.ts";
import { stopOf, type Situation, type Stop } from "./input.ts";

/** Everything about the person and the screen that decides what a key means. */
export type State = {
  phase: "here" | "leaving";
  /** The line about the last key. */
  hint: "none" | "again" | "waits" | "interrupting" | "cancelling";
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
        hint: hintOf(state, event.stop),
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

/** A key that was meant for a panel which somebody else has just answered. */
export function isSwallowed({ takenAt }: State, now: number): boolean {
  return Math.abs(now - takenAt) < QUIET_MS;
}

/** Before the session is there, Ctrl-C leaves and Esc does nothing. */
export function stopIn(phase: Session["phase"], key: "interrupt" | "escape", situation: Situation): Stop {
  if (phase !== "joining") return stopOf(key, situation);
  return key === "interrupt" ? "leave" : "nothing";
}

function hintOf(state: State, stop: Stop): State["hint"] {
  switch (stop) {
    case "ask":
      return "again";
    case "waits":
      return "waits";
    case "interrupt":
    case "shell":
      return "interrupting";
    case "cancel":
      return "cancelling";
    default:
      return state.hint;
  }
}
