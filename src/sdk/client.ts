import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { answersOf, scriptOf, type RecordedAnswer } from "../archive/recording.ts";
import { stepsOf, type StepOptions, type StepResult } from "../archive/steps.ts";
import { trajectory, writeLines } from "../archive/trajectory.ts";
import { createRedaction } from "../config/secrets/redact.ts";
import type { RunSettings } from "../host/assembly/agent-parts.ts";
import { assembleEach } from "../host/assembly/assemble.ts";
import { keepAsPolicy } from "../host/assembly/under-policy.ts";
import { newSessionId } from "../journal/session/session-id.ts";
import { checkGrant } from "../host/commands/requests/request.ts";
import type { RulesKept } from "../host/commands/parts.ts";
import type { LocalHost } from "../host/host.ts";
import { bridge } from "../input/bridge.ts";
import { InputChannel, type InputChannelHandle } from "../input/channel.ts";
import { checkResponse } from "../input/validate.ts";
import { memoryStore } from "../journal/store/memory.ts";
import { wrapStore } from "../journal/store/own-store.ts";
import { sqliteStore } from "../journal/sqlite/sqlite.ts";
import type { Awaitable, SessionRow, Store } from "../journal/store/store.ts";
import type { Script } from "../models/scripted.ts";
import { createToolRegistry, builtinTools } from "../tools/registry.ts";
import { isSuccess, type AgentOutcome } from "../protocol/facts/outcome.ts";
import type { Command, CommandReply, Host } from "../protocol/host/host.ts";
import { errorOf } from "../protocol/host/refusal.ts";
import type { SessionMode } from "../protocol/mode.ts";
import { reason, said, SageError } from "../protocol/reasons/reason.ts";
import { checkedHost } from "./host.ts";
import { newestSeq, nextMessage } from "./next-message.ts";
import { createAgents, type Agents } from "./agents.ts";
import { checkFolder, checkOptions, type Door } from "./check-options.ts";
import type { ChannelOptions, RunOptions, SdkOptions, TurnsOptions } from "./options.ts";
import { namedModel, readRules } from "./options.ts";
import { makeOutputFolder } from "./output-folder.ts";
import { failureOf, left, withoutTurn } from "./outcome.ts";
import { createRun, type Run } from "./run.ts";
import { createTurns, type TurnAgent } from "./turns.ts";

/** Nobody is asked, unless a channel is there to ask through. */
const alone = ({ channel }: RunOptions): Pick<RunOptions, "mode"> =>
  channel ? {} : { mode: { type: "nonInteractive", autoResponse: "default" } };
const sender = { by: "caller", surface: "sdk" };

type RunWork = {
  door: Door;
  given: ChannelOptions;
  /** Once the session is open. */
  work(begins: { session: string; given: ChannelOptions; begun(): void }): Promise<AgentOutcome>;
  /** Goes on with this session. */
  session?: string;
  over?(): void;
};
/** `giveUp` gives the run an outcome although its turn has none yet. */
type Running = { settings: RunSettings; ended: Promise<unknown>; giveUp?: () => void };
type Beginning = { begun(): void; says?: { text: string } };
type Conversation = Beginning & { task: string; options: RunOptions; conversation: boolean | undefined };

/** Longest time that `close` waits for tools that do not listen. */
const LEAVING_MS = 5_000;

/** The agent for programs. One instance serves many sessions at once: they share its model, tools, rules and journal. */
export class SageAgentSDK {
  readonly #options: SdkOptions;
  readonly #store: Store;
  /** Running sessions by their ids. */
  readonly #running = new Map<string, Running>();
  #host: LocalHost | undefined;
  #checkedHost: Host | undefined;
  readonly #agents: Agents;
  #output: string | undefined;
  /** The retention of the machine's policy, carried out. */
  readonly #order: Promise<void>;
  readonly #leaving = new AbortController();
  #closed: Promise<void> | undefined;
  /** Beginnings of runs whose turns have not begun. */
  readonly #beginnings = new Set<{ begun: Promise<void>; giveUp(): void }>();

  /** Throws `config-invalid` for options that it does not know, and for values that do not fit them. */
  constructor(options: SdkOptions = {}) {
    const { store, journal, rules, tools, model, env, settings } = (this.#options = checkOptions(
      "SageAgentSDK",
      options,
    ));
    const given = readRules(rules);
    // A name that fits nothing is refused now; settings may name providers of their own.
    if (typeof model === "string" && settings !== true) namedModel(this.#options, env ?? process.env);
    this.#agents = createAgents(this.#options, given, () => (this.#output ??= makeOutputFolder()));
    if (tools) createToolRegistry([...builtinTools(), ...tools]); // refuses two of one name now, not with the first run
    if (store && journal !== undefined)
      throw new SageError("config-invalid", said("journal and store: give one of them, not both"));
    this.#store = store ? wrapStore(store) : journal === undefined ? memoryStore() : sqliteStore(journal);
    this.#order = keepAsPolicy(this.#store, { env, output: () => (this.#output ??= makeOutputFolder()) });
  }

  /** Runs a task where nobody is asked: what would need a person is refused, and the agent is told. */
  run(task: string, options: RunOptions = {}): Run {
    return this.runWithOptions(task, options);
  }

  /** The same: `mode` says who is asked. */
  runWithOptions(task: string, options: RunOptions): Run {
    const work: RunWork["work"] = ({ session, given, begun }) =>
      this.#turn(session, { ...alone(given), ...given }, { begun, says: { text: task } });
    return this.#begin({ door: "run", given: options, work });
  }

  /** Goes on with the open turn of a session: one that was paused, or left open by a process that ended. */
  resume(session: string, options: Omit<RunOptions, "session"> = {}): Run {
    const work: RunWork["work"] = ({ given, begun }) => this.#turn(session, { ...alone(given), ...given }, { begun });
    return this.#begin({ door: "resume", given: options, work, session });
  }

  /** Returns at once, before the result. With "" and a `session` it goes on with its open turn and shows its requests again. */
  executeWithChannel(task: string, options: ChannelOptions = {}): { handle: InputChannelHandle; result: Run } {
    const [channel, handle] = InputChannel.create(options.bufferSize ?? 16);
    const work: RunWork["work"] = ({ session, given, begun }) => {
      const { bufferSize: _size, conversation, ...rest } = given;
      return this.#converse(session, channel, { task, options: rest, conversation, begun });
    };
    const result = this.#begin({ door: "executeWithChannel", given: options, work, over: channel.close });
    const close = () => {
      if (!this.#running.has(result.session)) return handle.close(); // between two turns: the conversation is over
      this.#host?.leave(result.session); // nobody is left who could answer: the turn stays open in the journal, and the result says `paused`
      void result.then(handle.close, handle.close);
    };
    const grant: InputChannelHandle["respond"] = async (response) => {
      checkResponse(response);
      checkGrant(this.#store, response, this.#options.tools);
      return handle.respond(response);
    };
    const respond: InputChannelHandle["respond"] = (response) =>
      response?.type === "granted" && (response.input ?? response.rules) ? grant(response) : handle.respond(response);
    return { handle: { ...handle, respond, close }, result };
  }

  /** A conversation that returns when a person is needed instead of waiting for them; in a new session, or one that is there. */
  async openTurns(options: TurnsOptions = {}): Promise<TurnAgent> {
    this.#checkOpen();
    const given = checkOptions("openTurns", options);
    const { session = newSessionId() } = given;
    await this.#open(session, given);
    const settings = { options: { ...given, mode: { type: "interactive" as const } } };
    const run = async () => {
      const untrack = this.#track(session, settings);
      try {
        return await this.#outcome(session, given);
      } finally {
        untrack();
      }
    };
    return createTurns({
      store: this.#store,
      host: this.#localHost(),
      session,
      run,
      checkOpen: () => this.#checkOpen(),
    });
  }

  /** Makes room in the conversation of an idle session, by hand. */
  async compact(session: string): Promise<void> {
    await this.#send({ type: "compact", session });
  }

  /** How much the agent of a session may do without asking, from its next call on. */
  async chooseMode(session: string, mode: SessionMode): Promise<void> {
    checkOptions("chooseMode", { mode });
    await this.#send({ type: "chooseMode", session, mode, ...sender });
  }

  /** Commands and facts of all sessions, for surfaces: what waits, who answers, what happens. */
  get host(): Host {
    this.#checkOpen();
    return (this.#checkedHost ??= checkedHost<Host>(this.#localHost()));
  }

  /** Steps of a session: what each said, called, got and cost; also while it runs. */
  steps(session: string, options: Pick<StepOptions, "subagents"> = {}): StepResult[] {
    this.#checkOpen();
    const { prices } = this.#options;
    return stepsOf(this.#store.load(session), { ...checkOptions("steps", options), ...(prices && { prices }) });
  }

  /** The model's replies and people's answers of a session, to be played again in tests: `scripted(script)`, `replayAnswers(answers)`. */
  recording(session: string): { script: Script; answers: RecordedAnswer[] } {
    this.#checkOpen();
    const facts = this.#store.load(session);
    return { script: scriptOf(facts), answers: answersOf(facts) };
  }

  /** Ends what runs, as safely as a crash would: its results say `paused`, and a journal on disk goes on from there. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  /** Closes it at the end of a block: `await using sage = new SageAgentSDK()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#leaving.abort();
    const until = performance.now() + LEAVING_MS;
    const timeLeft = () => Math.max(until - performance.now(), 100);
    await within(
      timeLeft(),
      [...this.#beginnings].map(({ begun }) => begun),
    );
    for (const { giveUp } of this.#beginnings) giveUp(); // a store may not answer
    for (const session of this.#running.keys()) this.#host?.leave(session);
    const runs = [...this.#running.values()];
    const ends = runs.map(({ ended }) => ended);
    await within(timeLeft(), ends);
    for (const run of runs) run.giveUp?.(); // a tool may not listen
    await within(timeLeft(), ends);
    await this.#host?.close({ patienceMs: timeLeft() });
    await within(timeLeft(), [this.#agents.close(), this.#order]);
    const closing = Promise.resolve(this.#store.close() as Awaitable<void>);
    await within(timeLeft(), [closing]);
    await Promise.race([closing, Promise.resolve()]); // how it ended, if it did
    if (this.#output !== undefined) rmSync(this.#output, { recursive: true, force: true });
  }

  #checkOpen(): void {
    if (this.#leaving.signal.aborted) throw new SageError("input-invalid", reason("sdk-closed", {}));
  }

  /** A run whose `interrupt` waits until its turn has begun: before that there is nothing to stop. */
  #begin({ door, given, work, session: known, over = () => {} }: RunWork): Run {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    let place = { session: known ?? "", after: 0 };
    const start = async (): Promise<AgentOutcome> => {
      try {
        this.#checkOpen();
        const checked = checkOptions(door, given);
        const options = known === undefined ? checked : { ...checked, session: known };
        place = this.#place(options);
        await this.#open(place.session, options);
        return await work({ session: place.session, given: checked, begun: begin });
      } finally {
        begin();
        over();
      }
    };
    const { promise: result, resolve, reject } = Promise.withResolvers<AgentOutcome>();
    start().then(resolve, reject);
    const beginning = { begun, giveUp: () => reject(new SageError("input-invalid", reason("sdk-closed", {}))) };
    this.#beginnings.add(beginning);
    void begun.then(() => this.#beginnings.delete(beginning));
    const checkOpen = () => this.#checkOpen();
    return createRun({ store: this.#store, host: () => this.#localHost(), ...place, begun, checkOpen, result });
  }

  /** Runs turn after turn. The channel stays connected in between: a session that waits may sleep. */
  async #converse(session: string, channel: InputChannel, parts: Conversation): Promise<AgentOutcome> {
    const { task, options, conversation, begun } = parts;
    const unbridge = bridge(this.#store, session, channel);
    try {
      let says = task === "" && options.session !== undefined ? undefined : { text: task };
      for (;;) {
        const outcome = await this.#turn(session, options, { begun, ...(says && { says }) });
        if (!conversation || !isSuccess(outcome)) return outcome;
        const next = await nextMessage(channel, outcome, this.#leaving.signal);
        if (next === undefined) return outcome;
        says = { text: next };
      }
    } finally {
      unbridge();
    }
  }

  /** The session of a run, and its newest fact before the run. */
  #place({ session }: Pick<RunOptions, "session">): { session: string; after: number } {
    if (session === undefined) return { session: newSessionId(), after: 0 };
    return { session, after: newestSeq(this.#store, session) };
  }

  async #open(id: string, options: RunOptions): Promise<void> {
    const { session, workingDirectory, sessionMode, recordTrajectory: file, signal } = options;
    const { agent = this.#options.agent } = options;
    signal?.throwIfAborted();
    if (file !== undefined) checkFolder("recordTrajectory", dirname(file));
    if (session !== undefined && !this.#store.session(session))
      throw new SageError("session-unknown", reason("session-missing", { session }));
    const cwd = workingDirectory ?? this.#options.workingDirectory ?? process.cwd();
    if (session === undefined) checkFolder("workingDirectory", cwd);
    const { created } = await this.#send({ type: "open", cwd, session: id, ...(agent !== undefined && { agent }) });
    if (session === undefined && !created)
      throw new SageError(
        "session-owned",
        said(`a session ${id} was opened by another process at this moment; try again`),
        {
          retryable: true,
        },
      );
    if (sessionMode !== undefined) await this.chooseMode(id, sessionMode);
  }

  /** Runs a turn until it ends or stops. Without a message it goes on with the open one. */
  async #turn(session: string, options: RunOptions, { begun, says }: Beginning): Promise<AgentOutcome> {
    if (this.#leaving.signal.aborted) return left(session);
    if (this.#running.has(session))
      throw new SageError(
        "session-owned",
        said(`session ${session} is running already; wait for its result, or answer it`),
      );
    // Before anything is said: the other process would take the message up, and this run would have no result.
    if (this.#store.owner(session) !== undefined)
      throw new SageError("session-owned", reason("runs-in-another", { session }));
    const { signal } = options;
    const cancel = () => void this.#localHost().send({ type: "interrupt", session, cancel: true, ...sender });
    const { channel, ...others } = options;
    const untrack = this.#track(session, { options: others, ...(channel && { channel }) });
    try {
      if (says) await this.#send({ type: "say", session, text: says.text, ...sender });
      signal?.addEventListener("abort", cancel, { once: true });
      const outcome = this.#outcome(session, options);
      begun();
      if (signal?.aborted) cancel();
      return await outcome;
    } finally {
      signal?.removeEventListener("abort", cancel);
      untrack();
    }
  }

  /** A turn that goes wrong has an outcome too. */
  async #outcome(session: string, { recordTrajectory: file }: RunOptions): Promise<AgentOutcome> {
    const { promise, resolve } = Promise.withResolvers<AgentOutcome>();
    const fail = (error: unknown) => resolve(withoutTurn(session, failureOf(error)));
    this.#localHost().run(session).then(resolve, fail);
    const running = this.#running.get(session);
    if (running) running.giveUp = () => resolve(left(session));
    const outcome = await promise;
    if (file !== undefined) {
      const redaction = createRedaction(this.#options.env ?? process.env);
      writeLines(file, trajectory(this.#store.load(session), redaction));
    }
    return outcome;
  }

  /** Known to `close`, and to the host that runs it, until the returned function is called. */
  #track(session: string, settings: RunSettings): () => void {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const run: Running = { settings, ended };
    this.#running.set(session, run);
    return () => {
      if (this.#running.get(session) === run) this.#running.delete(session);
      end();
    };
  }

  async #send<C extends Command>(command: C): Promise<CommandReply<C["type"]> & { ok: true }> {
    this.#checkOpen();
    const reply = await this.#localHost().send(command);
    if (reply.ok) return reply;
    throw errorOf(reply);
  }

  /** Makes the host that all runs share: they differ in their settings, which are found under their session. */
  #localHost(): LocalHost {
    if (this.#host) return this.#host;
    const { smallModel, sleepAfterMs } = this.#options;
    const runOf = ({ id, cwd }: SessionRow) => {
      const { agent, options } = this.#agents.in(cwd);
      const run = this.#running.get(id)?.settings;
      return { agent, ...run, options: { ...options, ...run?.options } };
    };
    const namer = smallModel && (async () => smallModel);
    const rulesKept = this.#options.settings ? keptIn(this.#agents) : undefined;
    return (this.#host = assembleEach(this.#store, runOf, { namer, sleepAfterMs, rulesKept }));
  }
}

/** Settings files of the folders in which sessions work. */
function keptIn(agents: Agents): RulesKept {
  return {
    saveRule: ({ cwd }, grant) => agents.in(cwd).files!.saveRule(grant),
    dropRule: ({ cwd }, { rule, destination, behavior }) => agents.in(cwd).files!.dropRule(rule, destination, behavior),
  };
}

/** Waits for all of them, and no longer than this. */
async function within(timeMs: number, work: readonly Promise<unknown>[]): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeMs);
  await Promise.race([Promise.allSettled(work), late]);
  clearTimeout(timer);
}
