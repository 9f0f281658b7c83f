import { ask } from "../input/ask.ts";
import type { Durable, StepScope } from "../journal/durable.ts";
import { Stopped } from "../journal/session.ts";
import { messageOf, type Call, type ToolInput, type ToolResult, type Verdict } from "../protocol/index.ts";
import type { Tool, ToolScope } from "../tools/tool.ts";
import type { ExecutionContext } from "./context.ts";
import { recover } from "./recover.ts";
import { withComment } from "./words.ts";

/** Runs an allowed call in the way its effect permits. */
export async function perform(
  d: Durable,
  c: ExecutionContext,
  call: Call,
  { verdict, comment }: { verdict: Verdict; comment: string | undefined },
): Promise<ToolResult> {
  const tool = c.config.tools.get(call.tool) as Tool;
  const input = tool.inputSchema.parse(verdict.input ?? call.input) as ToolInput;
  const run = (scope: StepScope) =>
    c.activity.during(async () => withComment(cleaned(await execute(tool, input, toolScope(c, scope))), comment));
  const cleaned = (result: ToolResult) => ({ ...result, text: c.config.redact(result.text) });
  switch (verdict.effect) {
    case "reads":
      return d.step("run0", "call.finished", run);
    case "waits": {
      // Loop code on its own branch: entered again on replay, everything it asks is keyed below its call.
      const result = cleaned(await execute(tool, input, waitingScope(c, d)));
      return d.decide("done", "call.finished", () => withComment(result, comment));
    }
    case "writes":
      break;
    default:
      return verdict.effect satisfies never;
  }
  const { digest, effect, before } = verdict;
  const started = () => ({ tool: tool.name, effect, digest, ...(before !== undefined && { before }) });
  const reconcile = tool.reconcile?.bind(tool);
  for (let round = 0; ; round++) {
    const once = await d.once(`run${round}`, run, {
      started,
      ...(reconcile && { reconcile: (was) => reconcile(input, { cwd: c.options.workingDirectory, before: was.before ?? "" }) }),
    });
    if (once.ok) return once.value;
    const result = await recover(d, c, { tool, input, verdict, round, running: once.running });
    if (result !== "rerun") return d.decide("done", "call.finished", () => withComment(result, comment));
  }
}

/** A tool that throws has failed, and a failure is a result. Only the end of this attempt passes through. */
async function execute(tool: Tool, input: ToolInput, scope: ToolScope): Promise<ToolResult> {
  try {
    return await tool.execute(input, scope);
  } catch (error) {
    const { aborted, reason } = scope.signal as { aborted: boolean; reason: unknown };
    if (error instanceof Stopped || (aborted && !(reason instanceof Stopped && reason.why !== "leaving")) || isLoopError(error)) throw error;
    return aborted ? { ok: false, text: "Interrupted by the person." } : { ok: false, text: `${tool.name} failed: ${messageOf(error)}` };
  }
}

/** Raised by a request inside a `waits` tool, for the loop and not for the tool. */
function isLoopError(error: unknown): boolean {
  return error instanceof Error && error.name === "NeedsInput";
}

function toolScope(c: ExecutionContext, scope: StepScope): ToolScope {
  return {
    get signal() {
      return scope.signal;
    },
    ...surroundings(c),
    output: (text) => scope.delta("output", text),
    spawned: (pid) => scope.spawned(pid),
    requestInput: () => Promise.reject(new Error(`only a tool with the effect "waits" may ask while it runs; this one should describe its request with \`request\``)),
  };
}

function waitingScope(c: ExecutionContext, d: Durable): ToolScope {
  let asked = 0;
  return {
    get signal() {
      return d.signal;
    },
    ...surroundings(c),
    output() {},
    spawned() {},
    async requestInput(body, why) {
      if (c.agent.length > 0 && !c.asksRoot) throw new Error("a subagent may not ask the person; report what you need to know instead");
      const opened = ask(d, `ask${asked++}`, { ...body, source: "tool", agent: c.agent, why, digest: "" }, c.asking);
      return opened.wait();
    },
  };
}

function surroundings(c: ExecutionContext): Pick<ToolScope, "cwd" | "seen" | "keepDir" | "env"> {
  return { cwd: c.options.workingDirectory, seen: (path) => c.seen.get(path), keepDir: c.config.keepDir, env: c.config.env };
}
