import type { Fact } from "../../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { Reason } from "../../../protocol/reasons/reason.ts";
import type { ChatState } from "./state.ts";

/** Last message to the chat about a turn that ended or was paused. */
export type Ending = Fact<"turn.ended" | "turn.interrupted">;

export type Phase =
  /** Reads facts of before, sends nothing. `unsaid`: the newest untold ending. `calls`: due while nobody followed; cards recall theirs. */
  | { name: "catching-up"; told: number; unsaid?: Ending; calls?: Call[] }
  | { name: "resting" }
  /** A turn is under way. Its card is drawn anew when something happens, never twice at once. */
  | { name: "working"; draw: "none" | "scheduled" | "queued" }
  | { name: "asking" }
  | { name: "left" };

/** `chat` is the state of the chat after what happened. */
export type Happening =
  | { type: "fact"; fact: Fact; chat: ChatState }
  | { type: "delta"; chat: ChatState }
  /** The host cannot start a turn for the message. */
  | { type: "refused"; text: string; reason?: Reason; chat: ChatState }
  /** All facts so far are known. */
  | { type: "ready"; chat: ChatState }
  | { type: "draw-due" }
  /** The work of drawing has begun: whatever happens from now on needs another picture. */
  | { type: "drawing" }
  /** Nobody runs the session any more. */
  | { type: "owner-gone"; begunHere: boolean }
  /** Now and then. `old`: its last card can no longer be changed. */
  | { type: "look"; chat: ChatState; old: boolean }
  | { type: "ended" };

/** Nobody has answered it yet: those who were asked are reminded for the `n`th time, or somebody else is called. */
export type Call = { do: "call"; requestId: string } & ({ n: number } | { to: string });

export type Pace = "at-once" | "calm" | "usual";

export type Effect =
  /** The next card begins with nothing on it. */
  | { do: "new-card" }
  | { do: "schedule"; pace: Pace }
  | { do: "unschedule" }
  | { do: "draw" }
  | { do: "ask"; request: InputRequest; seq: number }
  /** Asks again for whatever is open: cards that are missing or nearly too old. */
  | { do: "ask-again" }
  /** Somebody approved it, and it waits for more people. */
  /** Of one request, or of all that are open. */
  | { do: "recount"; requestId?: string }
  | { do: "reply"; requestId: string }
  | Call
  | { do: "fold"; resolution: Resolution }
  | { do: "conclude"; ending: Ending }
  | { do: "tell-refusal"; text: string; reason?: Reason }
  /** Cards that a process before this one has left behind. */
  | { do: "tidy"; goesOn: boolean }
  | { do: "resume" }
  | { do: "leave" };

type Step = { phase: Phase; effects: Effect[] };

/** Effects of an event. Pure: `follow.ts` carries the effects out. */
export function nextPhase(phase: Phase, happening: Happening): Step {
  if (phase.name === "left") return { phase, effects: [] };
  if (happening.type === "ended") return { phase: { name: "left" }, effects: [{ do: "unschedule" }] };
  return phase.name === "catching-up" ? catchUp(phase, happening) : follow(phase, happening);
}

function catchUp(phase: Phase & { name: "catching-up" }, happening: Happening): Step {
  switch (happening.type) {
    case "fact": {
      const { fact } = happening;
      const unsaid = fact.seq > phase.told && isEnding(fact) ? { unsaid: fact } : {};
      // A follower that begins now sends a card that is a call in itself.
      const call = phase.told < Infinity ? reminderIn(fact) : undefined;
      const calls = call ? { calls: [...(phase.calls ?? []), call] } : {};
      return { phase: { ...phase, ...unsaid, ...calls }, effects: [] };
    }
    case "ready": {
      const { unsaid, calls = [] } = phase;
      const goesOn = happening.chat !== "IDLE" || unsaid !== undefined;
      const next = restOrWork(happening.chat);
      const drawn = schedule(next, "calm");
      return {
        phase: drawn.phase,
        effects: [
          { do: "tidy", goesOn },
          { do: "ask-again" },
          ...calls,
          ...(unsaid ? [{ do: "conclude" as const, ending: unsaid }] : []),
          ...drawn.effects,
        ],
      };
    }
    default:
      return { phase, effects: [] };
  }
}

type Following = Exclude<Phase, { name: "catching-up" | "left" }>;

function follow(phase: Following, happening: Exclude<Happening, { type: "ended" }>): Step {
  switch (happening.type) {
    case "fact":
      return afterFact(phase, happening.fact, happening.chat);
    case "delta":
      return schedule(phase, "usual");
    case "refused": {
      const { text, reason, chat } = happening;
      return { phase: restOrWork(chat), effects: [{ do: "tell-refusal", text, ...(reason && { reason }) }] };
    }
    case "draw-due":
      if (phase.name !== "working") return { phase, effects: [] };
      return { phase: { name: "working", draw: "queued" }, effects: [{ do: "draw" }] };
    case "drawing":
      return { phase: phase.name === "working" ? { name: "working", draw: "none" } : phase, effects: [] };
    case "owner-gone":
      return { phase, effects: happening.begunHere ? [{ do: "resume" }] : [] };
    case "look":
      if (happening.chat === "IDLE") return { phase, effects: happening.old ? [{ do: "leave" }] : [] };
      return { phase, effects: [{ do: "ask-again" }] };
    case "ready":
      return { phase, effects: [] };
    default:
      return happening satisfies never;
  }
}

function reminderIn(fact: Fact): Call | undefined {
  return fact.type === "input.reminded" || fact.type === "input.escalated" ? { do: "call", ...fact.data } : undefined;
}

function afterFact(phase: Following, fact: Fact, chat: ChatState): Step {
  const call = reminderIn(fact);
  if (call) return { phase, effects: [call] };
  if (isEnding(fact))
    return {
      phase: { name: "resting" },
      effects: [{ do: "unschedule" }, { do: "conclude", ending: fact }],
    };
  switch (fact.type) {
    case "turn.begun": {
      const begun = schedule({ name: "working", draw: "none" }, "at-once");
      return { phase: begun.phase, effects: [{ do: "unschedule" }, { do: "new-card" }, ...begun.effects] };
    }
    case "input.requested":
      return {
        phase: { name: "asking" },
        effects: [{ do: "unschedule" }, { do: "ask", request: fact.data, seq: fact.seq }],
      };
    case "inquiry.replied":
      return { phase, effects: [{ do: "reply", requestId: fact.data.requestId }] };
    case "input.approved":
      return { phase, effects: [{ do: "recount", requestId: fact.data.requestId }] };
    case "time.moved":
      return { phase, effects: [{ do: "recount" }] };
    case "input.resolved": {
      // After an answer the turn may end at once: a card that says "working" for a moment is noise.
      const goesOn = phase.name === "working" && chat === "EXECUTING";
      const next = schedule(goesOn ? phase : restOrWork(chat), "calm");
      return { phase: next.phase, effects: [{ do: "fold", resolution: fact.data }, ...next.effects] };
    }
    case "model.replied":
    case "call.started":
    case "call.finished":
      return schedule(phase, "usual");
    default:
      return { phase, effects: [] };
  }
}

function schedule(phase: Following, pace: Pace): Step {
  if (phase.name !== "working" || phase.draw !== "none") return { phase, effects: [] };
  return { phase: { name: "working", draw: "scheduled" }, effects: [{ do: "schedule", pace }] };
}

function restOrWork(chat: ChatState): Following {
  if (chat === "IDLE") return { name: "resting" };
  return chat === "EXECUTING" ? { name: "working", draw: "none" } : { name: "asking" };
}

/** An interrupt that cancels is followed by the end of its turn. */
function isEnding(fact: Fact): fact is Ending {
  return fact.type === "turn.ended" || (fact.type === "turn.interrupted" && fact.data.to === "pause");
}
