import { NeedsInput, type Asking } from "../input/ask.ts";
import { settle } from "../input/respond.ts";
import { Stopped, type SessionLog } from "../journal/session.ts";
import {
  SageError,
  messageOf,
  noUsage,
  type AgentOutcome,
  type ExecutionOptions,
  type OutcomeStatus,
  type TurnEnd,
} from "../protocol/index.ts";
import { createActivity } from "./activity.ts";
import type { AgentConfig, ExecutionContext, Progress } from "./context.ts";
import { loop } from "./executor.ts";
import { between, fold, type Folded } from "./projection.ts";

/** Raised when the order of `Durable` calls changes in a way that an open turn of an older Sage would not survive. */
const LOOP = 1;

export type TurnInput = {
  config: AgentConfig;
  options: ExecutionOptions;
  asking: Omit<Asking, "store" | "mode" | "promptTimeout">;
};

/** From `turn.begun` to an outcome, whatever happens on the way. */
export async function runTurn(log: SessionLog, { config, options, asking }: TurnInput): Promise<AgentOutcome> {
  const folded = fold(log.loaded);
  if (!folded.open && (log.said.at(-1)?.seq ?? 0) <= folded.sawUpTo) return nothingNew(log, folded);
  const root = log.branch("");
  const turn = `t${folded.turn}`;
  const at = folded.open?.at ?? Date.now();
  const begun = root.decide(turn, "turn.begun", () => ({
    loop: LOOP,
    maxSteps: options.maxSteps,
    sawUpTo: log.said.at(-1)?.seq ?? 0,
  }));
  const p: Progress = {
    messages: [...folded.messages, ...between(log.said, folded.sawUpTo, begun.sawUpTo)],
    said: log.said,
    sawUpTo: begun.sawUpTo,
    maxSteps: begun.maxSteps,
    steps: 0,
    modelCalls: 0,
    usage: noUsage,
    toolHistory: [],
    text: "",
  };
  const c: ExecutionContext = {
    session: log.id,
    config,
    options,
    asking: {
      ...asking,
      store: log.store,
      mode: options.mode,
      ...(options.promptTimeout !== undefined && { promptTimeout: options.promptTimeout }),
    },
    agent: [],
    asksRoot: false,
    sessionRules: folded.rules,
    seen: folded.seen,
    wrote: new Set(),
    refusals: { calls: new Set(), inRow: 0 },
    permits: new Map(),
    activity: createActivity(options.executionTimeout, () =>
      log.stop(new Stopped("timeout", `the turn worked for ${options.executionTimeout} ms, which is its limit`)),
    ),
  };
  const status = await ending(log, async () => {
    if (begun.loop !== LOOP)
      throw new SageError(
        "turn-failed",
        `this turn was begun by another version of Sage (loop ${begun.loop}, this is ${LOOP}); say what to do next`,
      );
    if (folded.cancelledBy !== undefined) throw new Stopped("cancelled", `${folded.cancelledBy} stopped the turn`);
    return loop(log.branch(turn), c, p);
  });
  const stats = {
    steps: p.steps,
    modelCalls: p.modelCalls,
    toolCalls: p.toolHistory.length,
    durationMs: Date.now() - at,
  };
  const end: TurnEnd = { ...status, text: p.text, usage: p.usage, stats };
  const { messages, toolHistory } = p;
  const outcome: AgentOutcome = { ...end, session: log.id, messages, toolHistory };
  if (status.status === "paused" || status.status === "needs-input") return outcome;
  try {
    withdrawRequests(log, status);
    root.decide(`${turn}.ended`, "turn.ended", () => end);
    log.flush();
    return outcome;
  } catch (error) {
    // Nothing can be recorded any more: the turn stays open, and goes on when it can.
    return status.status === "error" ? outcome : { ...outcome, ...failed(error) };
  }
}

/** Asked to run with nothing to do: the last turn's outcome stands. */
function nothingNew(log: SessionLog, { ended, messages }: Folded): AgentOutcome {
  if (!ended) throw new SageError("input-invalid", `nothing was said in session ${log.id} yet`);
  return { ...ended, session: log.id, messages, toolHistory: [] };
}

async function ending(log: SessionLog, work: () => Promise<OutcomeStatus>): Promise<OutcomeStatus> {
  try {
    return await work();
  } catch (error) {
    // An abort reaches us in many disguises; the reason behind it is what counts.
    return statusOf(log.stopped ?? error, log);
  }
}

function statusOf(error: unknown, log: SessionLog): OutcomeStatus {
  if (error instanceof NeedsInput)
    return { status: "needs-input", requests: log.store.pending(log.id).map(({ id }) => id) };
  if (!(error instanceof Stopped)) return failed(error);
  switch (error.why) {
    case "interrupted":
    case "leaving":
      return { status: "paused", reason: error.message };
    case "cancelled":
      return { status: "cancelled", reason: error.message };
    case "timeout":
      return { status: "error", error: { code: "timeout", message: error.message } };
    default:
      return error.why satisfies never;
  }
}

function failed(error: unknown): OutcomeStatus & { status: "error" } {
  return {
    status: "error",
    error: { code: error instanceof SageError ? error.code : "turn-failed", message: messageOf(error) },
  };
}

/** A turn that ends leaves nothing open behind it. */
function withdrawRequests(log: SessionLog, status: OutcomeStatus): void {
  const reason = status.status === "cancelled" ? status.reason : "the turn ended";
  for (const request of log.store.pending(log.id))
    settle(log.store, request, {
      requestId: request.id,
      by: "sage",
      surface: "turn",
      at: Date.now(),
      outcome: "cancelled",
      reason,
    });
}
