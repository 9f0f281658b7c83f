import { isAbsolute, resolve } from "node:path";
import { withWork } from "../../context/extract.ts";
import type { Durable } from "../../journal/session/durable.ts";
import { Stopped } from "../../journal/session/session.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { AgentState } from "../../protocol/facts/outcome.ts";
import { callKeys, firstSubReplyKey } from "../../protocol/key.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { SageError, messageOf, reasonOf } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { AgentConfig, ExecutionContext, Progress } from "../state/context.ts";
import { Memory } from "../state/memory.ts";
import { stateShower } from "../state/states.ts";

/** Deeper than this nobody can follow who asked whom for what. */
const DEEPEST = 3;
const STEPS = 50;

/** Runs a task in a subagent: the same loop under a longer key, with its own context and never more rights. */
export async function delegate(
  durable: Durable,
  context: ExecutionContext,
  { agent, prompt }: { agent: string; prompt: string },
): Promise<ToolResult> {
  const definition = context.config.subagents.get(agent);
  if (!definition) {
    const names = context.config.subagents.list().map(({ name }) => name);
    return { ok: false, text: `There is no subagent "${agent}"; there are ${names.join(", ")}.` };
  }
  const progress = begin(prompt, definition.maxSteps ?? STEPS);
  const child = childContext(durable, context, definition, progress);
  const begun = durable.known(firstSubReplyKey);
  const failed = async (text: string) => ({ ok: false, text: withWork(text, await context.record(), durable.key) });
  try {
    const ended = await context.loop(durable.branch(callKeys.sub), child, progress);
    child.show({ state: "completed", reason: ended.status });
    if (ended.status === "success") return { ok: true, text: progress.text };
    const text = `It stopped after ${progress.steps} steps without finishing. Its last words: ${progress.text}`;
    return await failed(text);
  } catch (error) {
    child.show(stateAfter(error));
    // A subagent whose model fails has failed; the agent above it can still do something about it.
    if (error instanceof SageError && error.code === "model-unavailable")
      return failed(`The subagent ${agent} could not go on: ${thrownText(error)}`);
    // Work that it has done must not sound like nothing happened.
    if (error instanceof Stopped && error.why !== "leaving" && (begun || progress.steps > 0)) {
      durable.withdraw(error.reason);
      const text = `Interrupted before it had finished; what it did by then stays done. Its last words: ${progress.text || "none"}`;
      return failed(text);
    }
    throw error;
  }
}

function stateAfter(error: unknown): AgentState {
  if (error instanceof Stopped) return { state: "paused", reason: error.reason };
  const code = error instanceof SageError ? error.code : "turn-failed";
  return { state: "error", error: { code, message: messageOf(error), reason: reasonOf(error) } };
}

function childContext(
  durable: Durable,
  context: ExecutionContext,
  definition: SubagentDefinition,
  progress: Progress,
): ExecutionContext {
  const agent = [...context.agent, definition.name];
  const workingDirectory = directoryOf(definition, context.options.workingDirectory);
  const tools = subagentTools(definition, context.config.tools, agent.length);
  const config: AgentConfig = {
    ...context.config,
    tools,
    system: context.config.subagentSystem({ definition, agent, workingDirectory, tools: tools.names() }),
  };
  return {
    ...context,
    config,
    agent,
    show: stateShower(durable, agent),
    conversation: () => progress.messages,
    asksRoot: definition.ask === "root" && (context.agent.length === 0 || context.asksRoot),
    options: { ...context.options, workingDirectory },
    memory: new Memory(undefined, context.memory.allowed),
  };
}

function subagentTools({ toolAccess, ask }: SubagentDefinition, parent: ToolRegistry, depth: number): ToolRegistry {
  const asking = ask === "root" ? ["AskUserQuestion"] : [];
  const granted = typeof toolAccess === "object" ? parent.filterByNames([...toolAccess.restricted, ...asking]) : parent;
  const unfit = [PLAN_TOOL, ...(ask === "root" ? [] : ["AskUserQuestion"]), ...(depth >= DEEPEST ? ["Task"] : [])];
  return granted.filterByNames(granted.names().filter((name) => !unfit.includes(name)));
}

function directoryOf({ workingDirectory: where }: SubagentDefinition, parent: string): string {
  if (where === "inherited") return parent;
  if (where === "processCwd") return process.cwd();
  return isAbsolute(where.explicit) ? where.explicit : resolve(parent, where.explicit);
}

function begin(prompt: string, maxSteps: number): Progress {
  return {
    messages: [{ role: "user", text: prompt }],
    said: [],
    sawUpTo: 0,
    hear: (sawUpTo) => ({ sawUpTo }),
    counted: { messages: 0, tokens: 0 },
    summary: undefined,
    maxSteps,
    steps: 0,
    toolHistory: [],
    text: "",
  };
}
