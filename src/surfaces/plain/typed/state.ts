import type { Approval, InputRequest } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";

/** Why it ended: /quit, Ctrl-C, no more input, or no turn can begin. */
export type Leaving = "left" | "interrupted" | "ended" | "failed";

type Prompt = { for: "nothing" } | { for: "message" } | { for: "request"; id: string };

/** Everything that decides what the next typed line means. */
export type State = {
  phase: "joining" | "attached" | "leaving";
  prompt: Prompt;
  /** An answer or an interruption is on its way to the host: nothing is asked meanwhile. */
  sending: boolean;
  /** The person cancels the turn by Ctrl-C: what follows from it is told once. */
  cancelling: boolean;
  /** Open requests, the one to show first. */
  open: readonly PendingRequest[];
  /** Ids of those among them that the person here has approved, and that wait for somebody else. */
  signed: readonly string[];
  /** When Ctrl-C was pressed last. */
  interruptedAt: number;
  /** Everything appears as it happens, not only once it is a fact. */
  live: boolean;
  /** The connection to the host is being dialled again. */
  lost: boolean;
  why: Leaving;
};

export type Event =
  | { type: "joined"; requests: readonly PendingRequest[]; signed: readonly string[] }
  | { type: "requested"; request: InputRequest }
  | { type: "approved"; approval: Approval }
  | { type: "resolved"; id: string }
  | { type: "turn-ended" }
  | { type: "prompted"; prompt: Prompt }
  | { type: "sent" }
  /** The host has replied. `ended`: the request is open no more, whoever answered it. `signed`: it waits for somebody else now. */
  | { type: "replied"; ended?: string; signed?: string }
  | { type: "interrupted"; at: number }
  /** `cancelled`: it took the open requests and the turn with it. */
  | { type: "interrupt-replied"; cancelled: boolean }
  | { type: "owner"; live: boolean }
  | { type: "link"; lost: boolean }
  | { type: "left"; why: Leaving };

export const joining: State = {
  phase: "joining",
  prompt: { for: "nothing" },
  sending: false,
  cancelling: false,
  open: [],
  signed: [],
  interruptedAt: -Infinity,
  live: true,
  lost: false,
  why: "ended",
};

const TWICE_MS = 2_000;

export function next(state: State, event: Event): State {
  switch (event.type) {
    case "joined":
      return {
        ...state,
        phase: state.phase === "leaving" ? "leaving" : "attached",
        open: [...event.requests],
        signed: event.signed,
      };
    case "requested":
      return { ...state, open: [...state.open, { request: event.request }] };
    case "approved":
      return { ...state, open: state.open.map((one) => withApproval(one, event.approval)) };
    case "resolved":
      return without(state, event.id);
    case "turn-ended":
      return { ...state, cancelling: false };
    case "prompted":
      return { ...state, prompt: event.prompt };
    case "sent":
      return { ...state, sending: true };
    case "replied":
      return {
        ...(event.ended === undefined ? state : without(state, event.ended)),
        ...(event.signed !== undefined && { signed: [...state.signed, event.signed] }),
        sending: false,
      };
    case "interrupted":
      return { ...state, interruptedAt: event.at, cancelling: true, sending: true };
    case "interrupt-replied":
      return event.cancelled ? { ...state, sending: false, open: [] } : { ...state, sending: false, cancelling: false };
    case "owner":
      return { ...state, live: event.live };
    case "link":
      return { ...state, lost: event.lost };
    case "left":
      return { ...state, phase: "leaving", why: event.why };
    default:
      return event satisfies never;
  }
}

/** Requests that the person here can do something about: those that they approved wait for somebody else. */
export function unsigned({ open, signed }: State): PendingRequest[] {
  return open.filter(({ request }) => !signed.includes(request.id));
}

/** The prompt that should be open now; undefined when the present one stays. */
export function wantedPrompt(state: State, { busy }: { busy: boolean }): Prompt | undefined {
  if (state.phase !== "attached" || state.sending || state.prompt.for === "request") return undefined;
  const [first] = unsigned(state);
  if (first) return { for: "request", id: first.request.id };
  if (busy) return state.prompt.for === "nothing" ? undefined : { for: "nothing" };
  return state.prompt.for === "message" ? undefined : { for: "message" };
}

/** Ctrl-C interrupts; the second one within two seconds, or one with nothing to interrupt, leaves. */
export function onInterrupt(state: State, { now, working }: { now: number; working: boolean }): "interrupt" | "leave" {
  const idle = state.phase === "attached" && !working && state.open.length === 0;
  return idle || now - state.interruptedAt < TWICE_MS ? "leave" : "interrupt";
}

/** A line typed while nothing was asked is a message if the agent works, and never an answer. */
export function onEarlyLine(state: State, line: string): "nothing" | "too-early" | "message" {
  if (line.trim() === "" || state.phase === "joining") return "nothing";
  return unsigned(state).length > 0 || state.sending ? "too-early" : "message";
}

function withApproval(pending: PendingRequest, approval: Approval): PendingRequest {
  if (pending.request.id !== approval.requestId) return pending;
  const others = (pending.approvals ?? []).filter(({ by }) => by !== approval.by);
  return { ...pending, approvals: [...others, approval] };
}

function without(state: State, id: string): State {
  return { ...state, open: state.open.filter(({ request }) => request.id !== id) };
}
