import { randomUUID } from "node:crypto";
import { bridge } from "../input/bridge.ts";
import type { Asking } from "../input/ask.ts";
import type { InputChannel } from "../input/channel.ts";
import type { Durable } from "../journal/durable.ts";
import { openSession, type SessionLog } from "../journal/session.ts";
import type { Store } from "../journal/store.ts";
import {
  addUsage,
  callsOf,
  textOf,
  type AgentOutcome,
  type Delta,
  type ExecutionOptions,
  type Fact,
  type OutcomeStatus,
} from "../protocol/index.ts";
import { callModel } from "./call-model.ts";
import type { AgentConfig, ExecutionContext, Progress } from "./context.ts";
import { follow } from "./follow.ts";
import { executionOptions } from "./options.ts";
import { runCalls } from "./orchestrator.ts";
import { assistantMessage, between, toolMessage } from "./projection.ts";
import { runTurn } from "./turn.ts";

/** The loop. The same code runs a new turn, a resumed one and a subagent: what is a fact already returns at once. */
export async function loop(d: Durable, c: ExecutionContext, p: Progress): Promise<OutcomeStatus> {
  while (p.steps < p.maxSteps) {
    if (d.stopped) throw d.stopped;
    const step = `${p.steps}`;
    // Interrupted after this reply: its calls that had not run by then must not run now.
    const line = d.interruptedSince(`${step}/model`) ? d.closedBranch(step) : d.branch(step);
    const reply = await line.step("model", "model.replied", (scope) => callModel(c, p, scope));
    const heard = between(p.said, p.sawUpTo, reply.sawUpTo);
    if (heard.length > 0) c.memory.forgetRefusals();
    p.messages.push(...heard, assistantMessage(reply));
    p.sawUpTo = reply.sawUpTo;
    p.steps++;
    c.tree.usage = addUsage(c.tree.usage, reply.usage);
    p.text = textOf(reply) || p.text;
    const calls = callsOf(reply);
    if (calls.length === 0) return { status: "success" };
    const results = await runCalls(line, c, calls);
    c.tree.toolCalls += calls.length;
    p.messages.push(toolMessage(calls, results));
    calls.forEach(({ tool, input }, n) =>
      p.toolHistory.push({ tool, input, result: results[n] ?? { ok: false, text: "" } }),
    );
  }
  return { status: "max-steps", steps: p.maxSteps };
}

/** Keeps nothing between turns: what a turn needs is in the session's facts. */
export class UnifiedExecutor {
  readonly #config: AgentConfig & { store: Store };
  readonly #options: ExecutionOptions;
  readonly #channel: InputChannel | undefined;
  readonly #ask: Asking;

  constructor(
    config: AgentConfig & { store: Store },
    options: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">,
    channel?: InputChannel,
  ) {
    this.#config = config;
    this.#channel = channel;
    const auto = channel?.autoResponse;
    this.#options = executionOptions({
      ...(auto !== undefined && { mode: { type: "nonInteractive", autoResponse: auto } }),
      ...options,
    });
    const { mode, promptTimeout } = this.#options;
    this.#ask = { store: config.store, mode, ...(promptTimeout !== undefined && { promptTimeout }) };
  }

  /** Runs the session's open turn, or begins one with what was said. Yields every fact and delta; ends in the outcome. */
  execute({ log }: { log: SessionLog }): AsyncGenerator<Fact | Delta, AgentOutcome> {
    const input = { config: this.#config, options: this.#options, asking: this.#asking() };
    const channel = this.#channel;
    const withdraw =
      channel && channel.autoResponse === undefined ? bridge(this.#config.store, log.id, channel) : undefined;
    return follow(this.#config.store, log.id, () => runTurn(log, input), withdraw);
  }

  /** Shared by all turns, unless each has to count its own requests. */
  #asking(): Asking {
    return this.#channel?.policy === "reject" ? { ...this.#ask, reject: new Set() } : this.#ask;
  }

  /** One task in a session of its own, to its end. */
  async executeTask(task: string): Promise<AgentOutcome> {
    const { store } = this.#config;
    const session = randomUUID();
    store.create(session, { cwd: this.#options.workingDirectory, version: "sdk" });
    store.append(session, {
      key: "said/0",
      type: "user.said",
      at: Date.now(),
      data: { text: task, by: "caller", surface: "sdk" },
    });
    const log = openSession(store, session);
    try {
      const events = this.execute({ log });
      for (;;) {
        const { done, value } = await events.next();
        if (done) return value;
      }
    } finally {
      log.release();
    }
  }
}
