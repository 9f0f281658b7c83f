import { NeedsInput, type Asking } from "../../input/ask.ts";
import { Stopped, type SessionLog } from "../../journal/session/session.ts";
import type { Fact, FactData } from "../../protocol/facts/fact.ts";
import { noUsage, type Heard } from "../../protocol/facts/message.ts";
import type { AgentOutcome, OutcomeStatus, TurnEnd } from "../../protocol/facts/outcome.ts";
import { unfinishedRewind } from "../../protocol/facts/rewound.ts";
import { tasksIn } from "../../protocol/facts/session.ts";
import type { TurnLimits } from "../../protocol/facts/silence.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import { branchKey, endedKey, turnEndedKey, turnKey } from "../../protocol/key.ts";
import { plainText, reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import { restoreAll } from "../../tools/files/kept-content.ts";
import { createInquiries } from "../inquiry/desk.ts";
import { createActivity, workedMs } from "../state/activity.ts";
import type { AgentConfig, BackgroundTasks, ExecutionContext, Progress } from "../state/context.ts";
import { carry, endForeign, openIn } from "./carry.ts";
import { wakeCause } from "../state/cause.ts";
import { compactNow } from "./compact.ts";
import { loop } from "./loop.ts";
import type { LifecycleManager } from "../state/lifecycle.ts";
import { Memory } from "../state/memory.ts";
import { endState, stateShower } from "../state/states.ts";
import { endWithProcess, lifeOfTask } from "../state/tasks.ts";
import { originIn } from "./origin.ts";
import { between, fold, type Folded } from "./projection.ts";

/** Raised when the order of `Durable` calls changes in a way that an open turn of an older Sage would not survive. */
export const LOOP = 1;

export type TurnInput = {
  config: AgentConfig;
  options: ExecutionOptions;
  asking: Asking;
  lifecycle: LifecycleManager;
  supervised: boolean;
  /** A background command that has ended may begin a turn. */
  wakes?: boolean;
  /** Does the work of a turn in the loop's place. */
  drive?(log: SessionLog, turn: Turn): Promise<OutcomeStatus>;
};

export type Turn = {
  key: string;
  version: number;
  at: number;
  carries: string[] | undefined;
  cancelledBy: string | undefined;
  /** Messages up to this seq are older than the turn. */
  heard: number;
  begun: Heard;
  /** Background commands whose end began it, where nobody said anything. */
  cause: FactData["turn.begun"]["cause"];
  context: ExecutionContext;
  progress: Progress;
};

/** Runs a turn from `turn.begun` to an outcome, whatever happens on the way. */
export async function runTurn(log: SessionLog, input: TurnInput): Promise<AgentOutcome> {
  if (log.writing) await log.writing;
  const facts = log.begin();
  const rewound = unfinishedRewind(facts);
  if (rewound) await finishRewind(log, rewound, input);
  const folded = foldAll(log, facts);
  const idle = !folded.open && log.unseen().length === 0;
  const cause = idle && input.wakes ? wakeCause(facts) : undefined;
  if (idle && !cause) return nothingNew(log, folded);
  const { traces, model } = input.config;
  if (folded.open) input.config.runner?.retake(log.id, log.epoch); // a process that had it before begins no command from now on
  const attempt = () => runToEnd(log, goOn(log, folded, facts, { ...input, cause }), input);
  return traces ? traces.turn({ log, facts, model }, attempt) : attempt();
}

/** The turn that is open, or the next one; of a turn of another version, one in its place. */
function goOn(log: SessionLog, folded: Folded, facts: readonly Fact[], input: TurnInput & Pick<Turn, "cause">): Turn {
  const foreign = folded.open && folded.open.data.loop !== LOOP && folded.cancelledBy === undefined;
  return foreign
    ? begin(log, endForeign(log, folded, { facts, loop: LOOP }), facts, input, openIn(log, folded))
    : begin(log, folded, facts, input);
}

/** Knows nothing of the facts: an async function holds everything that it was given for as long as the turn waits. */
async function runToEnd(log: SessionLog, turn: Turn, input: TurnInput): Promise<AgentOutcome> {
  try {
    return await end(log, turn, await drive(log, turn, input.drive));
  } catch (error) {
    // An abort reaches us in many disguises; the reason behind it is what counts.
    const cause = log.stopped ?? error;
    if (input.supervised && isMistake(cause)) throw cause;
    return end(log, turn, await toStatus(cause, log));
  }
}

/** The process that put files back was killed: it is finished before anything is changed again. */
async function finishRewind(log: SessionLog, rewound: Fact<"session.rewound">, { config, options }: TurnInput) {
  const place = { cwd: options.workingDirectory, home: config.home };
  const ended = await restoreAll(rewound.data.files, config.keepDir, place);
  log.branch("").decide(endedKey(rewound.key), "rewind.ended", () => ended);
}

/** A turn of its own that only makes room: nobody has to say anything for it, and it folds like any other. */
export async function compactTurn(log: SessionLog, input: TurnInput): Promise<AgentOutcome> {
  if (log.writing) await log.writing;
  const facts = log.begin();
  const folded = foldAll(log, facts);
  if (folded.open) throw new SageError("input-invalid", reason("turn-is-open", {}));
  const turn = begin(log, folded, facts, input);
  try {
    const worth = await compactNow(log.branch(turn.key).branch(branchKey(0)), turn.context, turn.progress);
    if (!worth) turn.progress.text = plainText(reason("too-short-to-summarise", {}));
    return await end(log, turn, { status: "success" });
  } catch (error) {
    const status = await toStatus(log.stopped ?? error, log);
    // There is nothing to continue: interrupted, it is over.
    return end(log, turn, status.status === "paused" && !log.closed ? { ...status, status: "cancelled" } : status);
  }
}

/** A rewind takes back what was said of a command in the background, and the command runs on. */
function foldAll(log: SessionLog, facts: readonly Fact[]): Folded {
  const folded = fold(facts);
  const isRewound = facts.some(({ type }) => type === "session.rewound");
  return isRewound ? { ...folded, tasks: tasksIn(log.loaded).tasks } : folded;
}

/** Commands in the background that a process before this one may have left: they end with this one. */
function foundAgain({ tasks, toldTasks }: Folded): BackgroundTasks {
  for (const task of tasks) if (!toldTasks.has(task.id) && lifeOfTask(task) === "alive") endWithProcess(task);
  return { tasks: new Map(tasks.map((task) => [task.id, task])), toldTasks: new Set(toldTasks) };
}

function begin(
  log: SessionLog,
  folded: Folded,
  facts: readonly Fact[],
  input: TurnInput & Partial<Pick<Turn, "cause">>,
  open?: string[],
): Turn {
  const { config, options, asking, lifecycle } = input;
  const key = turnKey(folded.turn);
  const trace = config.traces?.current();
  const {
    maxSteps,
    carries,
    cause,
    loop: version,
    ...heard
  } = log.branch("").decide(key, "turn.begun", () => ({
    loop: LOOP,
    maxSteps: options.maxSteps,
    ...log.mailbox.hear(folded.sawUpTo),
    ...(open && { carries: open }),
    ...(input.cause && { cause: input.cause }),
    ...(trace !== undefined && { trace }),
  }));
  const { sawUpTo } = heard;
  // A turn that continues another is held to what was said last in that one.
  const from = carries ? Math.min(folded.sawUpTo, sawUpTo - 1) : folded.sawUpTo;
  const { executionTimeout: limit = options.executionTimeout, ...prompt } = saidLimits(log.said, from, heard);
  const worked = folded.open && limit !== undefined ? workedMs(sinceLastEnd(facts)) : 0;
  lifecycle.transition({ state: "executing", phase: "preparingContext" });
  const show = stateShower(log.branch(key), []);
  const progress: Progress = {
    messages: [...folded.messages, ...between(log.said, folded.sawUpTo, heard)],
    said: log.said,
    hear: log.mailbox.hear,
    sawUpTo,
    counted: folded.counted,
    summary: folded.summary,
    maxSteps,
    steps: 0,
    toolHistory: [],
    text: "",
  };
  return {
    key,
    version,
    at: folded.open?.at ?? Date.now(),
    carries,
    cause,
    cancelledBy: folded.cancelledBy,
    heard: folded.sawUpTo,
    begun: heard,
    progress,
    context: {
      session: log.id,
      config,
      loop,
      options,
      asking: {
        ...asking,
        ...prompt,
        origin: originIn(log, {
          cwd: options.workingDirectory,
          home: config.home,
          after: folded.sawUpTo,
          redact: (text) => config.redact(text),
        }),
      },
      agent: [],
      asksRoot: false,
      askers: () => askersOf(log.said, folded.sawUpTo, progress.sawUpTo),
      sessionRules: folded.rules,
      setAside: folded.setAside,
      ruleChanges: log.ruleChanges,
      lifecycle,
      show,
      mode: () => log.mode,
      planned: () => log.planned,
      conversation: () => progress.messages,
      record: () => log.record(),
      inquiries: createInquiries(log),
      memory: new Memory(folded.seen, undefined, folded.loaded, folded.blocked),
      tree: {
        permits: [],
        waiting: [],
        show,
        happened: 0,
        usage: noUsage,
        usd: 0,
        modelCalls: 0,
        toolCalls: 0,
        ...foundAgain(folded),
      },
      activity: createActivity(limit === undefined ? limit : Math.max(0, limit - worked), () =>
        log.stop(new Stopped("timeout", reason("time-up", { limitMs: limit ?? 0 }))),
      ),
    },
  };
}

function sinceLastEnd(facts: readonly Fact[]): readonly Fact[] {
  return facts.slice(facts.findLastIndex(({ type }) => type === "turn.ended") + 1);
}

/** Nobody has spoken in a turn that continues another after an update: then everybody before it counts as having asked. */
function askersOf(
  said: readonly Fact<"user.said">[],
  after: number,
  upTo: number,
): ReturnType<ExecutionContext["askers"]> {
  const spoken = said.filter(({ seq, data }) => seq <= upTo && data.surface !== "update");
  const own = spoken.filter(({ seq }) => seq > after);
  const asked = own.length > 0 ? own : spoken;
  return {
    names: [...new Set(asked.map(({ data }) => data.name ?? data.by))],
    unnamed: [...new Set(asked.flatMap(({ data }) => (data.name === null ? [data.by] : [])))],
  };
}

/** The message that begins a turn says how long it may take; one that joins it says nothing about it. */
function saidLimits(said: readonly Fact<"user.said">[], after: number, { sawUpTo, without = [] }: Heard): TurnLimits {
  return said.find(({ seq }) => seq > after && seq <= sawUpTo && !without.includes(seq))?.data.limits ?? {};
}

async function drive(log: SessionLog, turn: Turn, guest: TurnInput["drive"]): Promise<OutcomeStatus> {
  const { key, carries, cause, cancelledBy, heard, context, progress } = turn;
  const go = () => loop(log.branch(key), context, progress);
  if (cancelledBy !== undefined) {
    await context.config.runner?.endAll(log.id, log.epoch);
    const cancelled = new Stopped("cancelled", reason("stopped-by", { by: cancelledBy }));
    log.stop(cancelled); // from here on nothing begins: only facts are gone through
    if (turn.version === LOOP) await (guest ? guest(log, turn) : go());
    throw cancelled;
  }
  // Sage was killed while it made room by hand: nobody has said anything that the model could reply to.
  if (!carries && !cause && !log.mailbox.saidSince(heard)) return { status: "success" };
  if (guest) return guest(log, turn);
  await (carries && carry(log, context, { key, carries }));
  return go();
}

async function end(
  log: SessionLog,
  { key, at, progress, context }: Turn,
  status: OutcomeStatus,
): Promise<AgentOutcome> {
  const { steps, messages, toolHistory, text } = progress;
  const { usage, usd, modelCalls, toolCalls } = context.tree;
  const stats = { steps, modelCalls, toolCalls, durationMs: Date.now() - at };
  const ended: TurnEnd = {
    ...status,
    text,
    usage,
    ...(usd !== undefined && modelCalls > 0 && { cost: { usd } }),
    stats,
  };
  const outcome: AgentOutcome = { ...ended, session: log.id, messages, toolHistory };
  try {
    endState(context.lifecycle, status);
    if (status.status === "paused" || status.status === "needs-input") return outcome;
    if (log.closed) return outcome; // somebody else's turn now, or nobody's: nothing of it may be ended from here
    const root = log.branch("");
    root.withdraw(status.status === "cancelled" ? status.reason : reason("turn-ended", {}));
    // A message that the model failed to reply to is told with this end, and begins no turn that would only fail again.
    const failedOn = status.status === "error" ? progress.asked : undefined;
    root.decide(turnEndedKey(key), "turn.ended", () => ({ ...ended, ...(failedOn?.sawUpTo ? failedOn : {}) }));
    const written = log.flush();
    if (written) await written;
    return outcome;
  } catch (error) {
    // Nothing can be recorded any more: the turn stays open, and continues when it can.
    if (error instanceof Stopped) return { ...outcome, status: "paused", reason: error.reason };
    return status.status === "error" ? outcome : { ...outcome, ...failed(error) };
  }
}

/** Asked to run with nothing to do: the last turn's outcome stands. */
function nothingNew(log: SessionLog, { ended, messages }: Folded): AgentOutcome {
  if (!ended && log.said.length > 0) ended = neverBegun;
  if (!ended) throw new SageError("input-invalid", reason("nothing-said", { session: log.id }));
  return { ...ended, session: log.id, messages, toolHistory: [] };
}

/** The outcome of a session whose only message was taken back before its turn began. */
const neverBegun: TurnEnd = {
  status: "cancelled",
  reason: reason("messages-withdrawn", {}),
  text: "",
  usage: noUsage,
  stats: { steps: 0, modelCalls: 0, toolCalls: 0, durationMs: 0 },
};

async function toStatus(error: unknown, log: SessionLog): Promise<OutcomeStatus> {
  if (error instanceof NeedsInput) {
    const written = log.flush(); // on disk before anyone hears that they are needed
    if (written) await written;
    return { status: "needs-input", requests: log.store.pending(log.id).map(({ id }) => id) };
  }
  if (!(error instanceof Stopped)) return failed(error);
  switch (error.why) {
    case "interrupted":
    case "leaving":
      return { status: "paused", reason: error.reason };
    case "cancelled":
      return { status: "cancelled", reason: error.reason };
    case "timeout":
      return failed(new SageError("timeout", error.reason));
    default:
      return error.why satisfies never;
  }
}

/** Nothing that a turn is meant to meet. */
function isMistake(error: unknown): boolean {
  return !(error instanceof SageError || error instanceof Stopped || error instanceof NeedsInput);
}

function failed(error: unknown): OutcomeStatus & { status: "error" } {
  const { code, reason: why } =
    error instanceof SageError ? error : { code: "turn-failed" as const, reason: undefined };
  return { status: "error", error: { code, message: messageOf(error), ...(why && { reason: why }) } };
}
