import { ask, NeedsInput } from "../../input/ask.ts";
import type { Durable, OnceOptions, StepScope } from "../../journal/durable.ts";
import { Stopped } from "../../journal/session.ts";
import { readFilter } from "../../permission/rules/filter.ts";
import {
  messageOf,
  reason,
  said,
  type Call,
  type ToolInput,
  type ToolResult,
  type Verdict,
} from "../../protocol/index.ts";
import type { Tool, ToolScope } from "../../tools/tool.ts";
import type { ExecutionContext } from "../state/context.ts";
import { delegate } from "../subagent/delegate.ts";
import { afterCall } from "./hooked.ts";
import { anchorOf, isStill, placeOf, rulesOf } from "./judge.ts";
import { recover } from "./recover.ts";
import { endTurnIfSaid, inputOf, toolFor } from "./request.ts";
import { waitForPerson } from "../state/states.ts";
import { changedSince, notify, withComment, withContext, withEnd } from "./words.ts";

/** Runs an allowed call in the way its effect permits. */
export async function perform(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  { verdict, comment, approved }: { verdict: Verdict; comment: string | undefined; approved: boolean },
): Promise<ToolResult> {
  const tool = toolFor(context, call);
  const input = inputOf(tool, call, verdict);
  const run = async (scope: ToolScope) => {
    const result = await execute(tool, input, scope);
    return withContext(withComment({ ...result, text: context.config.redact(result.text) }, comment), verdict);
  };
  const timed = (scope: StepScope) =>
    context.activity.during(async () =>
      afterCall(context, { ...call, input }, await run(effectScope(context, scope)), scope),
    );
  switch (verdict.effect) {
    case "reads":
      return durable.step("run0", "call.finished", timed);
    case "waits": {
      // Loop code on its own branch: entered again on replay, everything it asks is keyed below its call.
      const result = await run(waitingScope(context, durable));
      return durable.decide("done", "call.finished", () => result);
    }
    case "writes":
      for (let round = 0; ; round++) {
        const once = await durable
          .once(`run${round}`, timed, onceOptions(context, tool, input, { verdict, approved }))
          .catch(unlessChanged);
        if (once === "changed") return durable.decide("done", "call.finished", changedSince);
        if (once.ok) return once.value;
        const result = await recover(durable, context, { tool, input, verdict, round, ...once }).catch(endUnknown);
        if (result !== "rerun") return durable.decide("done", "call.finished", () => withComment(result, comment));
      }
    default:
      return verdict.effect satisfies never;
  }
}

class Changed extends Error {}

/** The turn was stopped before anybody could say what became of it: then that is what the model hears. */
function endUnknown(error: unknown): ToolResult {
  if (!(error instanceof Stopped) || error.why === "leaving") throw error;
  return {
    ok: false,
    text: "This was started, and how it ended is not known. Check what it left behind before anything else.",
    end: "unknown",
  };
}

function onceOptions(
  context: ExecutionContext,
  tool: Tool,
  input: ToolInput,
  { verdict, approved }: { verdict: Verdict; approved: boolean },
): OnceOptions<ToolResult> {
  const { digest, effect, before } = verdict;
  const reconcile = tool.reconcile?.bind(tool);
  return {
    started() {
      // The last look before the effect, and only then: on replay it has happened, whatever the world looks like now.
      // Where only a rule allowed it, an earlier call of the same reply may have changed the file.
      if ((approved || !tool.operand) && !isStill(context, tool, input, digest)) throw new Changed();
      return { tool: tool.name, effect, digest, ...(before !== undefined && { before }) };
    },
    ...(reconcile && {
      reconcile: async (was) => {
        const found = await reconcile(input, { ...placeOf(context), before: was.before ?? "" });
        return typeof found === "object" ? withEnd(found, "failed") : found;
      },
    }),
  };
}

function unlessChanged(error: unknown): "changed" {
  if (error instanceof Changed) return "changed";
  throw error;
}

/** A tool that throws has failed, and a failure is a result. Only what the loop itself raised passes through. */
async function execute(tool: Tool, input: ToolInput, scope: ToolScope): Promise<ToolResult> {
  try {
    return withEnd(await tool.execute(input, scope), failureIn(scope));
  } catch (error) {
    if (error instanceof Stopped || error instanceof NeedsInput) throw error;
    const text = scope.signal.aborted ? "Interrupted." : `${tool.name} failed: ${messageOf(error)}`;
    return withEnd({ ok: false, text }, failureIn(scope));
  }
}

function failureIn({ signal }: ToolScope): "stopped" | "failed" {
  return signal.aborted ? "stopped" : "failed";
}

function effectScope(context: ExecutionContext, scope: StepScope): ToolScope {
  return {
    get signal() {
      return scope.signal;
    },
    ...surroundings(context),
    output: (text) => scope.delta("output", context.config.redact(text)),
    waiting: (question) => notify(scope, reason("command-waits", { question: context.config.redact(question) })),
    spawned: (pid) => scope.spawned(pid),
    delegate: notHere,
    requestInput: notHere,
  };
}

/** A reader or writer runs inside one step of the journal; asking and delegating are steps of their own. */
async function notHere(): Promise<never> {
  throw new Error(
    'only a tool with the effect "waits" may ask or delegate while it runs; this one should describe its request with `request`',
  );
}

function waitingScope(context: ExecutionContext, durable: Durable): ToolScope {
  let asked = 0;
  return {
    get signal() {
      return durable.signal;
    },
    ...surroundings(context),
    output() {},
    spawned() {},
    delegate: (task) => delegate(durable, context, task),
    async requestInput(body, why) {
      if (context.agent.length > 0 && !context.asksRoot)
        throw new Error("a subagent may not ask the person; report what you need to know instead");
      const asks = {
        ...body,
        source: "tool",
        agent: context.agent,
        why: typeof why === "string" ? said(why) : why,
        digest: "",
      } as const;
      const opened = ask(durable, `ask${asked++}`, asks, context.asking);
      const resolution = await waitForPerson(context, opened);
      endTurnIfSaid(durable, resolution, opened.request);
      return resolution;
    },
  };
}

function surroundings(
  context: ExecutionContext,
): Pick<ToolScope, "cwd" | "home" | "mayRead" | "seen" | "keepDir" | "env"> {
  const { keepDir, env, home } = context.config;
  const mayRead = readFilter(
    rulesOf(context),
    { cwd: anchorOf(context), home, sageHome: context.config.sageHome },
    context.config.ruleBooks,
  );
  return { ...placeOf(context), seen: (path) => context.memory.seen(path), keepDir, env, ...(mayRead && { mayRead }) };
}
