import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Skill } from "../context/skills.ts";
import { InputChannel, type InputChannelHandle } from "../input/channel.ts";
import { memoryStore } from "../journal/memory.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import { chooseModel } from "../models/choose.ts";
import type { Model } from "../models/model.ts";
import type { Script } from "../models/scripted.ts";
import type { Prices } from "../models/prices.ts";
import { loadRules, type RuleLists } from "../permission/rules/rules.ts";
import {
  SageError,
  isSuccess,
  messageOf,
  noUsage,
  type AgentOutcome,
  type ExecutionOptions,
  type InputRequest,
  type PermissionMode,
  type SubagentDefinition,
} from "../protocol/index.ts";
import { assemble } from "../host/assemble.ts";
import type { LocalHost } from "../host/host.ts";
import { answersOf, scriptOf, type RecordedAnswer } from "../archive/recording.ts";
import { createRedaction } from "../config/redact.ts";
import { trajectory, writeLines } from "../archive/trajectory.ts";
import type { Tool } from "../tools/tool.ts";
import { createTurns, type TurnAgent } from "./turns.ts";

/** The parts of an agent. Every one has a default. */
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
  rules?: RuleLists;
  permissionMode?: PermissionMode;
  /** The journal's file. Without one the sessions live in memory and end with the process. */
  journal?: string;
  workingDirectory?: string;
  env?: NodeJS.ProcessEnv;
};

/** Options of one run: the mode and the limits, a session to go on with, a file to record it in. */
export type RunOptions = Partial<ExecutionOptions> & {
  /** Goes on with a session instead of opening one. */
  session?: string;
  /** The file to which the session is written as JSON lines whenever a turn of it ends or stops, without secrets. */
  recordTrajectory?: string;
};

/** Options of `executeWithChannel`. */
export type ChannelOptions = RunOptions & {
  bufferSize?: number;
  /** After each answer in words the handle is shown a `text` request; answering it is the next message, denying it ends. */
  conversation?: boolean;
};

/** Options of `openTurns`. */
export type TurnsOptions = Omit<RunOptions, "mode">;

/** An agent in your program. Tasks run one after the other in a session, and sessions side by side. */
export class SageAgentSDK {
  readonly #options: SdkOptions;
  readonly #store;
  /** Running sessions by their ids. */
  readonly #running = new Map<string, { host: LocalHost; outcome: Promise<unknown> }>();
  #output: string | undefined;

  constructor(options: SdkOptions = {}) {
    this.#options = options;
    this.#store = options.journal === undefined ? memoryStore() : sqliteStore(options.journal);
  }

  /** Runs a task where nobody is asked: what would need a person is refused, and the agent is told. */
  run(task: string): Promise<AgentOutcome> {
    return this.runWithOptions(task, {});
  }

  async runWithOptions(task: string, options: RunOptions): Promise<AgentOutcome> {
    const host = this.#host({ mode: { type: "nonInteractive", autoResponse: "default" }, ...options });
    return this.#runTask(host, await this.#open(host, options), task, options);
  }

  /** Returns at once: the handle answers while the result is still to come. */
  executeWithChannel(
    task: string,
    options: ChannelOptions = {},
  ): { handle: InputChannelHandle; result: Promise<AgentOutcome> } {
    const { bufferSize = 16, conversation = false, ...rest } = options;
    const [channel, handle] = InputChannel.create(bufferSize);
    const host = this.#host(rest, channel);
    let leave = () => {};
    const converse = async (): Promise<AgentOutcome> => {
      const session = await this.#open(host, rest);
      leave = () => host.leave(session);
      let next: string | undefined = task;
      for (;;) {
        const outcome: AgentOutcome = await this.#runTask(host, session, next, rest);
        if (!conversation || !isSuccess(outcome)) return outcome;
        next = await nextMessage(channel, outcome);
        if (next === undefined) return outcome;
      }
    };
    const result = converse().finally(() => channel.close());
    const close = () => {
      leave(); // nobody is left who could answer: the turn stays open in the journal, and the result says `paused`
      void result.then(handle.close, handle.close);
    };
    return { handle: { ...handle, close }, result };
  }

  /** A conversation that returns when a person is needed instead of waiting for them; in a new session, or one that is there. */
  async openTurns(options: TurnsOptions = {}): Promise<TurnAgent> {
    const host = this.#host({ ...options, mode: { type: "interactive" } });
    const session = await this.#open(host, options);
    const run = () => this.#track(host, session, () => this.#outcome(host, session, options));
    return createTurns({ store: this.#store, host, session, run });
  }

  /** The model's replies and people's answers of a session, to be played again in tests: `scripted(script)`, `replayAnswers(answers)`. */
  recording(session: string): { script: Script; answers: RecordedAnswer[] } {
    const facts = this.#store.load(session);
    return { script: scriptOf(facts), answers: answersOf(facts) };
  }

  /** Ends what runs, as safely as a crash would: its results say `paused`, and a journal on disk goes on from there. */
  async close(): Promise<void> {
    for (const [session, { host }] of this.#running) host.leave(session);
    await Promise.allSettled([...this.#running.values()].map(({ outcome }) => outcome));
    this.#store.close();
    if (this.#output !== undefined) rmSync(this.#output, { recursive: true, force: true });
  }

  async #runTask(host: LocalHost, session: string, task: string, options: RunOptions): Promise<AgentOutcome> {
    if (this.#running.has(session))
      throw new SageError("session-owned", `session ${session} is running already; wait for its result, or answer it`);
    return this.#track(host, session, async () => {
      const said = await host.send({ type: "say", session, text: task, by: "caller", surface: "sdk" });
      if (!said.ok) throw new SageError(said.code, said.message);
      return this.#outcome(host, session, options);
    });
  }

  /** A turn that goes wrong has an outcome too. */
  async #outcome(host: LocalHost, session: string, { recordTrajectory: file }: RunOptions): Promise<AgentOutcome> {
    const outcome = await host.run(session).catch((error: unknown) => failed(session, error));
    const redaction = createRedaction(this.#options.env ?? process.env);
    if (file !== undefined) writeLines(file, trajectory(this.#store.load(session), redaction));
    return outcome;
  }

  /** Known to `close` while it runs. */
  async #track(host: LocalHost, session: string, work: () => Promise<AgentOutcome>): Promise<AgentOutcome> {
    const one = { host, outcome: work() };
    this.#running.set(session, one);
    try {
      return await one.outcome;
    } finally {
      if (this.#running.get(session) === one) this.#running.delete(session);
    }
  }

  #host(run: Partial<ExecutionOptions>, channel?: InputChannel): LocalHost {
    const { tools, subagents, skills, smallModel, prices } = this.#options;
    const { rules = {}, permissionMode = "default", env = process.env } = this.#options;
    const { rules: loaded, warnings } = loadRules(rules, "user");
    if (warnings.length > 0) throw new SageError("config-invalid", warnings.join("\n"));
    return assemble({
      store: this.#store,
      model: () => resolveModel(this.#options, env),
      ...(prices && { prices }),
      rules: loaded,
      permissionMode,
      options: run,
      env,
      output: (this.#output ??= mkdtempSync(join(tmpdir(), "sage-output-"))), // nobody can guess it or have made it before
      ...(tools && { tools }),
      ...(subagents && { subagents }),
      ...(skills && { skills }),
      ...(smallModel && { smallModel: async () => smallModel }),
      ...(channel && { channel }),
    });
  }

  async #open(host: LocalHost, { session, workingDirectory, recordTrajectory: file }: RunOptions): Promise<string> {
    // Before anything costs money: a turn that was paid for must not end in a missing folder.
    if (file !== undefined && !statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
      throw new SageError("config-invalid", `recordTrajectory: there is no folder for ${file}`);
    if (session !== undefined && !this.#store.session(session))
      throw new SageError("session-unknown", `there is no session ${session} to go on with`);
    const cwd = workingDirectory ?? this.#options.workingDirectory ?? process.cwd();
    const opened = await host.send({ type: "open", cwd, ...(session !== undefined && { session }) });
    if (!opened.ok) throw new SageError(opened.code, opened.message);
    return opened.session;
  }
}

function failed(session: string, error: unknown): AgentOutcome {
  const code = error instanceof SageError ? error.code : "turn-failed";
  const stats = { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 };
  return {
    status: "error",
    error: { code, message: messageOf(error) },
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
    source: "model",
    agent: [],
    why: "the turn has ended",
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
  throw new SageError(
    "config-invalid",
    "no model: pass one, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL",
  );
}
