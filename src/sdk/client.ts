import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { answersOf, scriptOf, type RecordedAnswer } from "../archive/recording.ts";
import { stepsOf, type StepOptions, type StepResult } from "../archive/steps.ts";
import { trajectory, writeLines } from "../archive/trajectory.ts";
import { createRedaction } from "../config/redact.ts";
import { noSandbox, type Sandbox } from "../config/sandbox.ts";
import { discover } from "../context/discover.ts";
import type { Skill, SkillMatching } from "../context/skills.ts";
import { createAgent, type Agent, type RunSettings } from "../host/agent.ts";
import { assembleEach, loadOnce } from "../host/assemble.ts";
import { newSessionId } from "../journal/session-id.ts";
import type { LocalHost } from "../host/host.ts";
import { bridge } from "../input/bridge.ts";
import { InputChannel, type InputChannelHandle } from "../input/channel.ts";
import { memoryStore } from "../journal/memory.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import type { SessionRow, Store } from "../journal/store.ts";
import { chooseModel } from "../models/choice/choose.ts";
import type { Model } from "../models/model.ts";
import type { Prices } from "../models/prices.ts";
import type { Script } from "../models/scripted.ts";
import { loadRules, type RuleLists } from "../permission/rules/rules.ts";
import {
  errorOf,
  isSuccess,
  messageOf,
  noUsage,
  reason,
  reasonOf,
  SageError,
  said,
  type AgentOutcome,
  type Command,
  type CommandReply,
  type ExecutionOptions,
  type Host,
  type InputRequest,
  type PermissionMode,
  type SessionMode,
  type SubagentDefinition,
} from "../protocol/index.ts";
import type { Tool } from "../tools/tool.ts";
import { newestSeq } from "./newest.ts";
import { createRun, type Run } from "./run.ts";
import { createTurns, type TurnAgent } from "./turns.ts";
import { errorBecause } from "../texts/error.ts";

/** Options of `SageAgentSDK`. */
export type SdkOptions = {
  /** A model, or `provider/name` as for `sage --model`; by default what the environment points to. */
  model?: Model | string;
  /** `provider/name`: goes on with a turn for which the model cannot be had. Not for a `model` that is an object. */
  fallbackModel?: string;
  /** Dollars for a million tokens, by provider/name: for `outcome.cost`. */
  prices?: Prices;
  /** Beside the built-in ones. */
  tools?: readonly Tool[];
  /** Writes summaries of long conversations (the model itself by default), and names sessions. */
  smallModel?: Model;
  /** Beside the built-in ones. */
  subagents?: readonly SubagentDefinition[];
  skills?: readonly Skill[];
  /** Also skills, subagents and own commands of the working directory's repository (`.sage`, `.claude`). Its texts then reach the model. */
  discover?: boolean;
  /** Use of a skill that fits: the model is told of it (`offer`, the default), or gets its text at once. */
  matchingSkill?: SkillMatching;
  rules?: RuleLists;
  permissionMode?: PermissionMode;
  /** Confines commands by the operating system. Where that is not possible no command runs; without it they run as ever. */
  sandbox?: Partial<Sandbox>;
  /** The journal's file. Without one, and without a store, sessions live in memory and end with the process. */
  journal?: string;
  /** A store of one's own instead of a journal's file; `close` closes it. */
  store?: Store;
  workingDirectory?: string;
  env?: NodeJS.ProcessEnv;
  /** How long a session waits for people alone before it is let out of memory; a minute by default. Nobody notices. */
  sleepAfterMs?: number;
};

/** Options of one run. */
export type RunOptions = Partial<ExecutionOptions> & {
  /** Goes on with a session instead of opening one. */
  session?: string;
  /** How much the agent may do without asking, from now on; by default as the session is, and `ask` in a new one. */
  sessionMode?: SessionMode;
  /** Cancels the turn: its outcome is `cancelled`. */
  signal?: AbortSignal;
  /** The file to which the session is written as JSON lines whenever a turn of it ends or stops, without secrets. */
  recordTrajectory?: string;
};

/** Options of a run that asks through a channel. */
export type ChannelOptions = RunOptions & {
  bufferSize?: number;
  /** After each answer in words the handle is shown a `text` request; answering it is the next message, denying it ends. */
  conversation?: boolean;
};

/** Options of `openTurns`: turns return instead of waiting, so a mode makes no sense. */
export type TurnsOptions = Omit<RunOptions, "mode" | "signal">;

const alone = { type: "nonInteractive", autoResponse: "default" } as const;
const sender = { by: "caller", surface: "sdk" };

/** The agent for programs. One instance serves many sessions at once: they share its model, tools, rules and journal. */
export class SageAgentSDK {
  readonly #options: SdkOptions;
  readonly #store: Store;
  /** Running sessions by their ids: their settings, and how they end. */
  readonly #running = new Map<string, { settings: RunSettings; ended: Promise<unknown> }>();
  #host: LocalHost | undefined;
  #output: string | undefined;

  constructor(options: SdkOptions = {}) {
    const { store, journal } = options;
    this.#options = options;
    this.#store = store ?? (journal === undefined ? memoryStore() : sqliteStore(journal));
  }

  /** Runs a task where nobody is asked: what would need a person is refused, and the agent is told. */
  run(task: string, options: RunOptions = {}): Run {
    return this.runWithOptions(task, options);
  }

  runWithOptions(task: string, options: RunOptions): Run {
    const { session, after } = this.#place(options);
    const run = async () => {
      await this.#open(session, options);
      return this.#turn(session, { options: { mode: alone, ...options } }, options, task);
    };
    return createRun({ store: this.#store, host: () => this.host, session, after, result: run() });
  }

  /** Goes on with the open turn of a session: one that was paused, or left open by a process that ended. */
  resume(session: string, options: Omit<RunOptions, "session"> = {}): Run {
    const { after } = this.#place({ session });
    const run = async () => {
      await this.#open(session, { ...options, session });
      return this.#turn(session, { options: { mode: alone, ...options } }, options);
    };
    return createRun({ store: this.#store, host: () => this.host, session, after, result: run() });
  }

  /** Returns at once: the handle answers while the result is still to come. */
  executeWithChannel(task: string, options: ChannelOptions = {}): { handle: InputChannelHandle; result: Run } {
    const { bufferSize = 16, conversation = false, ...rest } = options;
    const [channel, handle] = InputChannel.create(bufferSize);
    const { session, after } = this.#place(rest);
    const converse = async (): Promise<AgentOutcome> => {
      await this.#open(session, rest);
      // For the whole conversation and not only while a turn runs: a session that waits may sleep.
      const unbridge = bridge(this.#store, session, channel);
      try {
        let next: string | undefined = task;
        for (;;) {
          const outcome: AgentOutcome = await this.#turn(session, { options: rest }, rest, next);
          if (!conversation || !isSuccess(outcome)) return outcome;
          next = await nextMessage(channel, outcome);
          if (next === undefined) return outcome;
        }
      } finally {
        unbridge();
        channel.close();
      }
    };
    const result = createRun({ store: this.#store, host: () => this.host, session, after, result: converse() });
    const close = () => {
      if (!this.#running.has(session)) return handle.close(); // between two turns: the conversation is over
      this.#host?.leave(session); // nobody is left who could answer: the turn stays open in the journal, and the result says `paused`
      void result.then(handle.close, handle.close);
    };
    return { handle: { ...handle, close }, result };
  }

  /** A conversation that returns when a person is needed instead of waiting for them; in a new session, or one that is there. */
  async openTurns(options: TurnsOptions = {}): Promise<TurnAgent> {
    const { session = newSessionId() } = options;
    await this.#open(session, options);
    const settings = { options: { ...options, mode: { type: "interactive" as const } } };
    const run = () => this.#track(session, settings, () => this.#outcome(session, options));
    return createTurns({ store: this.#store, host: this.host, session, run });
  }

  /** Makes room in the conversation of an idle session, by hand. */
  async compact(session: string): Promise<void> {
    await this.#send({ type: "compact", session });
  }

  /** How much the agent of a session may do without asking, from its next call on. */
  async chooseMode(session: string, mode: SessionMode): Promise<void> {
    await this.#send({ type: "chooseMode", session, mode, ...sender });
  }

  /** Commands and facts of all sessions, for surfaces: what waits, who answers, what happens. */
  get host(): Host {
    return this.#localHost();
  }

  /** Steps of a session: what each said, called, got and cost; also while it runs. */
  steps(session: string, options: Pick<StepOptions, "subagents"> = {}): StepResult[] {
    const { prices } = this.#options;
    return stepsOf(this.#store.load(session), { ...options, ...(prices && { prices }) });
  }

  /** The model's replies and people's answers of a session, to be played again in tests: `scripted(script)`, `replayAnswers(answers)`. */
  recording(session: string): { script: Script; answers: RecordedAnswer[] } {
    const facts = this.#store.load(session);
    return { script: scriptOf(facts), answers: answersOf(facts) };
  }

  /** Ends what runs, as safely as a crash would: its results say `paused`, and a journal on disk goes on from there. */
  async close(): Promise<void> {
    const runs = [...this.#running].map(([session, { ended }]) => {
      this.#host?.leave(session);
      return ended;
    });
    await Promise.allSettled(runs);
    await this.#host?.close();
    this.#store.close();
    if (this.#output !== undefined) rmSync(this.#output, { recursive: true, force: true });
  }

  /** The session of a run, and its newest fact before the run. */
  #place({ session }: Pick<RunOptions, "session">): { session: string; after: number } {
    if (session === undefined) return { session: newSessionId(), after: 0 };
    return { session, after: newestSeq(this.#store, session) };
  }

  async #open(id: string, options: RunOptions): Promise<void> {
    const { session, workingDirectory, sessionMode, recordTrajectory: file, signal } = options;
    signal?.throwIfAborted();
    // Before anything costs money: a turn that was paid for must not end in a missing folder.
    if (file !== undefined && !statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
      throw new SageError("config-invalid", said(`recordTrajectory: there is no folder for ${file}`));
    if (session !== undefined && !this.#store.session(session))
      throw errorBecause("session-unknown", reason("session-missing", { session }));
    const cwd = workingDirectory ?? this.#options.workingDirectory ?? process.cwd();
    const { created } = await this.#send({ type: "open", cwd, session: id });
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
  async #turn(session: string, settings: RunSettings, options: RunOptions, message?: string): Promise<AgentOutcome> {
    if (this.#running.has(session))
      throw new SageError(
        "session-owned",
        said(`session ${session} is running already; wait for its result, or answer it`),
      );
    const { signal } = options;
    return this.#track(session, settings, async () => {
      if (message !== undefined) await this.#send({ type: "say", session, text: message, ...sender });
      const cancel = () => void this.host.send({ type: "interrupt", session, cancel: true, ...sender });
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        const outcome = this.#outcome(session, options);
        if (signal?.aborted) cancel();
        return await outcome;
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    });
  }

  /** A turn that goes wrong has an outcome too. */
  async #outcome(session: string, { recordTrajectory: file }: RunOptions): Promise<AgentOutcome> {
    const outcome = await this.#localHost()
      .run(session)
      .catch((error: unknown) => failed(session, error));
    if (file !== undefined) {
      const redaction = createRedaction(this.#options.env ?? process.env);
      writeLines(file, trajectory(this.#store.load(session), redaction));
    }
    return outcome;
  }

  /** Known to `close`, and to the host that runs it, while it runs. */
  async #track(session: string, settings: RunSettings, work: () => Promise<AgentOutcome>): Promise<AgentOutcome> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const run = { settings, ended };
    this.#running.set(session, run);
    try {
      return await work();
    } finally {
      if (this.#running.get(session) === run) this.#running.delete(session);
      end();
    }
  }

  async #send<C extends Command>(command: C): Promise<CommandReply<C["type"]> & { ok: true }> {
    const reply = await this.host.send(command);
    if (reply.ok) return reply;
    throw errorOf(reply);
  }

  /** Makes the host that all runs share: they differ in their settings, which are found under their session. */
  #localHost(): LocalHost {
    if (this.#host) return this.#host;
    const agent = this.#agent();
    const { smallModel, sleepAfterMs } = this.#options;
    const waiting: RunSettings = { options: {} };
    const runOf = ({ id }: SessionRow) => ({ agent, ...(this.#running.get(id)?.settings ?? waiting) });
    const namer = smallModel && (async () => smallModel);
    return (this.#host = assembleEach(this.#store, runOf, { namer, sleepAfterMs }));
  }

  #agent(): Agent {
    const { tools, smallModel, prices, matchingSkill, workingDirectory = process.cwd() } = this.#options;
    const found = this.#options.discover ? discover(workingDirectory) : undefined;
    const skills = firstOfName(this.#options.skills, found?.skills);
    const subagents = firstOfName(this.#options.subagents, found?.subagents);
    const { rules = {}, permissionMode = "default", env = process.env, sandbox } = this.#options;
    const { rules: loaded, warnings } = loadRules(rules, "user");
    if (warnings[0]) throw errorBecause("config-invalid", warnings[0]);
    return createAgent({
      model: loadOnce(() => resolveModel(this.#options, env)),
      ...(prices && { prices }),
      rules: loaded,
      permissionMode,
      ...(sandbox && { sandbox: { ...noSandbox, ...sandbox } }),
      env,
      output: (this.#output ??= mkdtempSync(join(tmpdir(), "sage-output-"))), // nobody can guess it or have made it before
      ...(tools && { tools }),
      subagents,
      skills,
      ...(found && { commands: found.commands, warnings: found.problems }),
      ...(matchingSkill && { matchingSkill }),
      ...(smallModel && { smallModel: async () => smallModel }),
    });
  }
}

/** Names given in code count before those that are found. */
function firstOfName<T extends { name: string }>(given: readonly T[] = [], found: readonly T[] = []): T[] {
  return [...given, ...found.filter(({ name }) => !given.some((one) => one.name === name))];
}

function failed(session: string, error: unknown): AgentOutcome {
  const code = error instanceof SageError ? error.code : "turn-failed";
  const stats = { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 };
  return {
    status: "error",
    error: { code, message: messageOf(error), reason: reasonOf(error) },
    session,
    text: "",
    usage: noUsage,
    stats,
    messages: [],
    toolHistory: [],
  };
}

/** Idle is not a request of the journal: no deadline runs on it and no inbox lists it. */
async function nextMessage(channel: InputChannel, { session, text }: AgentOutcome): Promise<string | undefined> {
  const request: InputRequest = {
    kind: "text",
    id: `${session}/idle`,
    session,
    source: "sage",
    agent: [],
    why: reason("idle", {}),
    at: Date.now(),
    digest: "",
    prompt: "What next?",
    lastResponse: text,
  };
  try {
    const response = await channel.requestInput(request);
    return response.type === "text" ? response.text : undefined;
  } catch {
    return undefined; // the handle was closed: the conversation is over
  }
}

async function resolveModel({ model, fallbackModel }: SdkOptions, env: NodeJS.ProcessEnv): Promise<Model> {
  if (typeof model === "object") return model;
  const chosen = chooseModel({ spec: model, fallback: fallbackModel, env });
  if (chosen) return chosen.load();
  throw errorBecause("config-invalid", reason("no-model", {}));
}
