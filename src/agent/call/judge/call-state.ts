import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { InputChange, ToolInput } from "../../../protocol/facts/call.ts";
import type { FactData } from "../../../protocol/facts/fact.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import type { Resolution } from "../../../protocol/facts/request.ts";

/** A remark, the mode after a plan, a run outside the sandbox, proof from elsewhere; ask rules given with a yes are for the next call. */
type PersonsWord = {
  comment?: string;
  plan?: FactData["mode.chosen"];
  outside?: true;
  signed?: true;
  asks?: readonly string[];
};

export type Approval =
  /** Allowed by rules, the mode or the tool itself. */
  | { by: "rules" }
  | { by: "hook" }
  /** A person who saw the request, in this turn or in one before an update. */
  | ({ by: "person" } & PersonsWord);

export type Again =
  /** The person edited it. */
  | ({ because: "edited"; input: ToolInput; changed: InputChange } & PersonsWord)
  /** A rule was added that decides it. */
  | { because: "ruled" }
  /** It is about to run, and something may have changed since it was judged. */
  | { because: "last-look"; approval: Approval };

/** The state of a call between its verdict and its result. `number` counts its judgements, `run` its runs. */
export type CallState = (
  | { at: "asking"; number: number; verdict: Verdict; run: number }
  | { at: "judging"; number: number; shown: Verdict; again: Again; run: number }
  /** Waits for its turn: writers of one reply run in the model's order. `waited`: for a person, since it was judged. */
  | { at: "allowed"; number: number; verdict: Verdict; approval: Approval; waited: boolean; run: number }
  | { at: "running"; number: number; verdict: Verdict; approval: Approval; run: number }
  | { at: "over"; end: CallOver }
) & {
  /** Everything people asked about its requests, and the replies, as the agent reads it. */
  talk?: string;
};

/** Everything that a result is made of. */
export type CallOver =
  | { how: "refused"; verdict: Verdict }
  | { how: "not-approved"; resolution: Resolution }
  | { how: "answered"; verdict: Verdict; resolution: Resolution }
  | { how: "ran"; result: ToolResult };

export type CallEvent =
  /** `unsigned`: a yes without the signatures that it takes, which is none. */
  | { type: "resolved"; resolution: Resolution; own: boolean; talk?: string; unsigned?: true }
  /** `stale`: by an attempt before this one. */
  | { type: "judged"; verdict: Verdict; stale: boolean }
  /** Its turn has come. `fresh`: nothing has happened since it was judged that could have changed what it means. */
  | { type: "turn-came"; fresh: boolean }
  | { type: "ended"; result: ToolResult }
  /** Its run was cut off, and a person wants it to run again. */
  | { type: "rerun"; talk: string };

export function firstState(verdict: Verdict): CallState {
  return judgedState(verdict, { number: 0, run: 0 }, { by: verdict.allowedBy ?? "rules" });
}

/** The state that follows. An event that a state does not expect is a mistake of ours. */
export function nextState(state: CallState, event: CallEvent): CallState {
  const heard = "talk" in event ? event.talk : overtaken(state, event);
  const next = follow(state, event);
  if (state.talk === undefined && heard === undefined) return next;
  return { ...next, talk: [state.talk, heard].filter((part) => part !== undefined).join("\n") };
}

/** A yes that a later judgement overtakes is none, and what the person said with it is told; also the yes itself, where the call cannot work any more. */
function overtaken(state: CallState, event: CallEvent): string | undefined {
  if (event.type !== "judged" || event.verdict.behavior === "allow") return undefined;
  const comment = commentIn(state)?.trim();
  const said = comment ? `When the person approved it before, they said: "${comment}"` : undefined;
  if (event.verdict.failure === undefined || !isApproved(state)) return said;
  const story = "The person had approved this call; what it needs has changed since, so it was not run.";
  return [story, ...(said === undefined ? [] : [said])].join("\n");
}

function isApproved(state: CallState): boolean {
  if (state.at !== "judging" || state.again.because === "ruled") return false;
  return state.again.because === "edited" || state.again.approval.by === "person";
}

/** The comment of the yes that this state rests on. */
export function commentIn(state: CallState): string | undefined {
  if (state.at === "asking" || state.at === "over") return undefined;
  if (state.at !== "judging") return state.approval.by === "person" ? state.approval.comment : undefined;
  const { again } = state;
  if (again.because === "ruled") return undefined;
  const word = again.because === "edited" ? again : again.approval;
  return "comment" in word ? word.comment : undefined;
}

function follow(state: CallState, event: CallEvent): CallState {
  if (state.at === "asking" && event.type === "resolved") return resolved(state, event);
  if (state.at === "judging" && event.type === "judged") return judgedAgain(state, event);
  if (state.at === "allowed" && event.type === "turn-came") return turnCame(state, event.fresh);
  if (state.at === "running" && event.type === "ended")
    return { at: "over", end: { how: "ran", result: event.result } };
  if (state.at === "running" && event.type === "rerun") {
    // A rerun is judged and asked about anew: the word of one person, without proof, does not stand for the signatures that it took.
    const isSigned = state.verdict.consent ?? (state.approval.by === "person" && state.approval.signed);
    const approval: Approval = isSigned ? { by: "rules" } : state.approval;
    return { ...state, at: "allowed", approval, waited: true, run: state.run + 1 };
  }
  throw new Error(`a call that is ${state.at} does not expect "${event.type}"`);
}

function resolved(
  { number, verdict, run }: CallState & { at: "asking" },
  { resolution, own, unsigned }: CallEvent & { type: "resolved" },
): CallState {
  if (own) return { at: "over", end: { how: "answered", verdict, resolution } };
  if (resolution.outcome === "superseded" && resolution.edited) {
    const changed: InputChange = { by: "person", who: { by: resolution.by, surface: resolution.surface } };
    const again: Again = { because: "edited", input: resolution.edited.input, changed };
    return { at: "judging", number: number + 1, shown: verdict, again, run };
  }
  const isWithdrawn = resolution.outcome === "superseded" && resolution.reason.code === "withdrawn-by-agent";
  if ((resolution.outcome === "superseded" && !isWithdrawn) || unsigned)
    return { at: "judging", number: number + 1, shown: verdict, again: { because: "ruled" }, run };
  const grant = grantOf(resolution);
  if (!grant) return { at: "over", end: { how: "not-approved", resolution } };
  const { by, surface } = resolution;
  const word: PersonsWord = {};
  if (grant.comment !== undefined) word.comment = grant.comment;
  if (grant.outside) word.outside = true;
  if ("signed" in resolution && resolution.signed !== undefined) word.signed = true;
  const asks = grant.rules?.flatMap(({ rule, behavior }) => (behavior === "ask" ? [rule] : [])) ?? [];
  if (asks.length > 0) word.asks = asks;
  if (verdict.reason.code === "plan-waits") word.plan = { mode: grant.mode ?? "ask", by, surface };
  if (grant.input === undefined)
    return { at: "allowed", number, verdict, approval: { by: "person", ...word }, waited: true, run };
  const changed: InputChange = { by: "person", who: { by, surface } };
  const again: Again = { because: "edited", input: grant.input, changed, ...word };
  return { at: "judging", number: number + 1, shown: verdict, again, run };
}

function judgedAgain(
  { number, again, run }: CallState & { at: "judging" },
  { verdict, stale }: CallEvent & { type: "judged" },
): CallState {
  if (again.because === "last-look" && verdict.behavior === "allow") {
    const { approval } = again;
    if (stale) return { at: "allowed", number, verdict, approval, waited: true, run };
    return { at: "running", number, verdict, approval, run };
  }
  return judgedState(
    verdict,
    { number, run },
    again.because === "edited" ? { by: "person", ...wordIn(again) } : { by: "rules" },
  );
}

function wordIn({ comment, plan, outside, signed, asks }: PersonsWord): PersonsWord {
  const flags = { ...(outside && { outside }), ...(signed && { signed }), ...(asks && { asks }) };
  return { ...(comment !== undefined && { comment }), ...(plan && { plan }), ...flags };
}

function judgedState(
  verdict: Verdict,
  { number, run }: { number: number; run: number },
  approval: Approval,
): CallState {
  switch (verdict.behavior) {
    case "deny":
      return { at: "over", end: { how: "refused", verdict } };
    case "ask":
      return { at: "asking", number, verdict, run };
    case "allow":
      return { at: "allowed", number, verdict, approval, waited: false, run };
    default:
      return verdict.behavior satisfies never;
  }
}

function turnCame(state: CallState & { at: "allowed" }, fresh: boolean): CallState {
  const { number, verdict, approval, run } = state;
  if (fresh) return { at: "running", number, verdict, approval, run };
  return { at: "judging", number: number + 1, shown: verdict, again: { because: "last-look", approval }, run };
}

function grantOf(resolution: Resolution): (InputResponse & { type: "granted" }) | undefined {
  const response = "response" in resolution ? resolution.response : undefined;
  return response?.type === "granted" ? response : undefined;
}
