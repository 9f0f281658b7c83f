import type { OutcomeStatus } from "../../../protocol/facts/outcome.ts";
import type { OpenRequest, Session } from "../../../view/session.ts";

/** Why it ended: /quit, Ctrl-C, no more input, or no turn can begin. */
export type Leaving = "left" | "interrupted" | "ended" | "failed";

type Prompt = { for: "nothing" } | { for: "message" } | { for: "request"; id: string };

/** The session as far as it decides what the next typed line means. */
export type Around = Pick<Session, "phase" | "run"> & {
  /** Open requests that the person here can do something about: those that they approved wait for somebody else. */
  unsigned: readonly OpenRequest[];
};

/** Everything about the person that decides what the next typed line means. */
export type State = {
  phase: "here" | "leaving";
  prompt: Prompt;
  /** An answer or an interrupt is on its way to the host: nothing is asked until then. */
  sending: boolean;
  /** The person cancels the turn by Ctrl-C: its consequences are shown once. */
  cancelling: boolean;
  /** When Ctrl-C was pressed last. */
  interruptedAt: number;
  why: Leaving;
  /** How the last turn ended, where no fact tells it. */
  last?: OutcomeStatus;
};

export type Event =
  | { type: "turn-ended" }
  | { type: "prompted"; prompt: Prompt }
  | { type: "sent" }
  | { type: "replied" }
  | { type: "interrupted"; at: number }
  /** `cancelled`: it took the open requests and the turn with it. */
  | { type: "interrupt-replied"; cancelled: boolean }
  | { type: "left"; why: Leaving; last?: OutcomeStatus };

export const arrived: State = {
  phase: "here",
  prompt: { for: "nothing" },
  sending: false,
  cancelling: false,
  interruptedAt: -Infinity,
  why: "ended",
};

const TWICE_MS = 2_000;

export function next(state: State, event: Event): State {
  switch (event.type) {
    case "turn-ended":
      return { ...state, cancelling: false };
    case "prompted":
      return { ...state, prompt: event.prompt };
    case "sent":
      return { ...state, sending: true };
    case "replied":
      return { ...state, sending: false };
    case "interrupted":
      return { ...state, interruptedAt: event.at, cancelling: true, sending: true };
    case "interrupt-replied":
      return { ...state, sending: false, cancelling: event.cancelled && state.cancelling };
    case "left":
      return { ...state, phase: "leaving", why: event.why, ...(event.last && { last: event.last }) };
    default:
      return event satisfies never;
  }
}

/** The prompt that should be open now; undefined when the present one stays. `ending`: something has its last word first. */
export function wantedPrompt(state: State, session: Around, { ending = false } = {}): Prompt | undefined {
  const waits = state.sending || state.prompt.for === "request";
  if (state.phase === "leaving" || session.phase === "joining" || waits) return undefined;
  const [first] = session.unsigned;
  if (first) return { for: "request", id: first.request.id };
  if (session.run === "running" || ending) return state.prompt.for === "nothing" ? undefined : { for: "nothing" };
  return state.prompt.for === "message" ? undefined : { for: "message" };
}

/** Ctrl-C interrupts; the second one within two seconds, or one with nothing to interrupt, leaves. */
export function onInterrupt(
  state: State,
  { phase, run, requests }: Pick<Session, "phase" | "run" | "requests">,
  now: number,
): "interrupt" | "leave" {
  const idle = state.phase === "here" && phase !== "joining" && run !== "running" && requests.length === 0;
  return idle || now - state.interruptedAt < TWICE_MS ? "leave" : "interrupt";
}

/** A line typed while nothing was asked is a message if the agent works, and never an answer. */
export function onEarlyLine(state: State, session: Around, line: string): "nothing" | "too-early" | "message" {
  if (line.trim() === "" || session.phase === "joining") return "nothing";
  return session.unsigned.length > 0 || state.sending ? "too-early" : "message";
}
