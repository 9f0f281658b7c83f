import type { Durable } from "../journal/durable.ts";
import type { Store } from "../journal/store.ts";
import { SageError, messageOf, type AutoResponse, type DeadlinePolicy, type ExecutionMode, type InputRequest, type NewRequest, type Resolution } from "../protocol/index.ts";
import { autoResolve } from "./auto.ts";
import { arm } from "./deadlines.ts";
import { respond, settle } from "./respond.ts";

/** How this run asks. */
export type Asking = {
  store: Store;
  mode: ExecutionMode;
  /** `reject` refuses a second request while one is open instead of queueing it. */
  policy: "queue" | "reject";
  promptTimeout?: number;
  timeoutPolicy?: DeadlinePolicy;
};

/** Batch: a person is needed. Everything else of the step runs to its end first; the turn stays open in the journal. */
export class NeedsInput extends Error {
  override readonly name = "NeedsInput";
}

/** Opens a request now, in order; the returned function waits for its end. */
export function ask(d: Durable, key: string, request: NewRequest, asking: Asking): () => Promise<Resolution> {
  const opened = d.open(key, withDeadline(request, asking), (open) => settleAtOnce(open, asking));
  return async () => {
    if (opened.resolution) return opened.resolution;
    const { mode, store } = asking;
    if (mode.type === "batch") {
      const late = store.resolution(opened.request.id); // answered from elsewhere since
      if (late) return late;
      throw new NeedsInput(opened.request.id);
    }
    const waiting = opened.wait();
    const disarm = arm(store, opened.request);
    if (mode.type === "nonInteractive" && typeof mode.autoResponse === "function") void consult(mode.autoResponse, opened.request, store);
    try {
      return await waiting;
    } finally {
      disarm();
    }
  };
}

function withDeadline(request: NewRequest, { promptTimeout, timeoutPolicy = "fail" }: Asking): NewRequest {
  if (request.deadline || promptTimeout === undefined) return request;
  return { ...request, deadline: { at: Date.now() + promptTimeout, timeoutMs: promptTimeout, policy: policyFor(request, timeoutPolicy) } };
}

/** Silence is never consent: a default may refuse a permission or answer a question, not grant. */
function policyFor(request: NewRequest, policy: DeadlinePolicy): DeadlinePolicy {
  if (typeof policy === "string" || request.kind !== "permission" || policy.default.type === "denied") return policy;
  throw new SageError("config-invalid", `a deadline's default for a permission may only be "denied"; got "${policy.default.type}"`);
}

function settleAtOnce(request: InputRequest, { mode, policy, store }: Asking): Resolution | undefined {
  if (mode.type === "nonInteractive" && typeof mode.autoResponse !== "function") return autoResolve(mode.autoResponse, request);
  if (policy === "queue" || !store.pending(request.session).some((open) => open.id !== request.id)) return undefined;
  const frame = { requestId: request.id, by: "policy", surface: "reject", at: Date.now() };
  return { ...frame, outcome: "no_surface", reason: "another request of this session is open, and a second one is refused here" };
}

/** A custom responder is code: whatever it does wrong ends as a refusal, never as consent. */
async function consult(auto: AutoResponse & Function, request: InputRequest, store: Store): Promise<void> {
  const sender = { by: "auto", surface: "custom" };
  try {
    respond(store, { ...(await auto(request)), requestId: request.id }, sender);
  } catch (error) {
    const reason = `the automatic responder gave no valid answer: ${messageOf(error)}`;
    settle(store, request, { requestId: request.id, ...sender, at: Date.now(), outcome: "no_surface", reason });
  }
}
