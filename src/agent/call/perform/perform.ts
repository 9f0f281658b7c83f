import { ask, NeedsInput } from "../../../input/ask.ts";
import type { Durable, OnceOptions, StepScope } from "../../../journal/session/durable.ts";
import { identify } from "../../../processes/identity.ts";
import { Stopped } from "../../../journal/session/session.ts";
import { judgeHost } from "../../../permission/web.ts";
import { createRuleBooks } from "../../../permission/rules/book.ts";
import { readFilter } from "../../../permission/rules/filter.ts";
import type { Confined } from "../../../protocol/confine.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call, ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { callKeys, finishedKey, startedKey } from "../../../protocol/key.ts";
import { reason, said } from "../../../protocol/reasons/reason.ts";
import type { Tool, ToolScope } from "../../../tools/definition/tool.ts";
import type { Activity } from "../../state/activity.ts";
import type { Confining, ExecutionContext, Judging, Place, Tree, Workspace } from "../../state/context.ts";
import { isDigestOf } from "../../state/digest.ts";
import { delegate } from "../../subagent/delegate.ts";
import { createElicitations, endLostElicitations, type Elicitations } from "./elicit.ts";
import { afterCall } from "../judge/hooked.ts";
import { webScope } from "./hop.ts";
import { anchorOf, checkedInput, rulesFor, toolFor, toolPlace } from "../judge/decision-input.ts";
import { keepsCommand, leavingOf, type KeptCommand, type KeptParts } from "./outlive.ts";
import { recover, type Rerun } from "./recover.ts";
import { endTurnIfSaid, waitForPerson } from "../judge/request.ts";
import { endOfTask, endWithProcess, lifeOfTask, stopTask } from "../../state/tasks.ts";
import { failureText, redacted, withChange, withComment, withContext, withEnd, withTalk } from "../judge/results.ts";
import type { Approval, CallEvent, CallState } from "../judge/call-state.ts";
import { withInstructions } from "./touched.ts";
import { isUsable, madeUsable } from "./usable.ts";

/** Runs an allowed call in the way its effect permits, or finds that a person wants it to run again. */
export async function perform(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  state: CallState & { at: "running" },
): Promise<CallEvent & { type: "ended" | "rerun" }> {
  const result = await performOnce(durable, context, call, state);
  return "rerun" in result ? { type: "rerun", talk: result.rerun } : { type: "ended", result };
}

async function performOnce(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  { verdict, approval, run, talk }: CallState & { at: "running" },
): Promise<ToolResult | Rerun> {
  const tool = toolFor(context, call);
  const input = checkedInput(context, tool, call, verdict);
  // Inquiries about the call, and about requests that its tool makes while it runs.
  const talks = talk === undefined ? [] : [talk];
  const heard = (words: string | undefined) => void (words !== undefined && talks.push(words));
  const told = (result: ToolResult) => {
    const comment = approval.by === "person" ? approval.comment : undefined;
    const talked = talks.length > 0 ? talks.join("\n") : undefined;
    return withContext(withTalk(withComment(withChange(result, call, verdict), comment), talked), verdict);
  };
  const { traces } = context.config;
  const finished = (result: ToolResult) => {
    const mayRead = (path: string) => filterOf(context)(path, anchorOf(context));
    const at = { tool: tool.name, input, mayRead };
    return told(withInstructions(redacted(result, context.config.redact), context, at));
  };
  const execute = (scope: ToolScope): Promise<ToolResult> => {
    const run = () => outcomeOf(tool, input, scope, context.config.confining);
    return (traces ? traces.tool({ call, agent: context.agent }, run) : run()).then(finished);
  };
  const web = tool.addresses && webScope(context, tool, input, verdict);
  const timed = async (scope: StepScope, kept: KeptParts = {}) => {
    const working = new Working(context.activity);
    const asked = tool.elicits
      ? createElicitations(durable, context, run, { idle: () => working.pause(), heard })
      : undefined;
    // Not with `using`, for which the engine leaves compiled code three times.
    try {
      const approvedIn = approval.by === "person" && verdict.lines !== undefined ? verdict.before : undefined;
      const parts = { web, asked, as: confinesOf(verdict, approval), kept, approvedIn };
      const result = await execute(effectScope(context, scope, parts));
      return context.config.hooks.has("afterCall", call.tool)
        ? await afterCall(context, { ...call, input }, result, scope)
        : result;
    } finally {
      asked?.[Symbol.dispose]();
      working.end();
    }
  };
  const key = callKeys.run(run);
  const begun = () => durable.known(startedKey(key)) || durable.known(finishedKey(key)) || durable.known(key);
  if (tool.server !== undefined && !begun() && !isDigestOf(verdict.digest, context, tool, input))
    return durable.decide(callKeys.done, "call.finished", () => told(changedMeanwhile));
  switch (verdict.effect) {
    case "reads":
      return durable.step(key, "call.finished", timed);
    case "waits": {
      // Loop code on its own branch: entered again on replay, everything it asks is keyed below its call.
      const result = await execute(waitingScope(context, durable, heard));
      // In one commit with the result: a plan that was approved is never asked about again in plan mode.
      const plan = approval.by === "person" ? approval.plan : undefined;
      if (plan) durable.decide(callKeys.mode, "mode.chosen", () => plan);
      return durable.decide(callKeys.done, "call.finished", () => result);
    }
    case "writes": {
      const confined = confinesOf(verdict, approval);
      const kept = keepsCommand(context, tool, input, confined);
      const once = await durable.once(key, (scope) => timed(scope, kept.parts(scope)), {
        ...onceOptions(context, tool, input, verdict, { confined, kept }),
        ...(kept.mayOutlive && { reconcile: (was, scope) => kept.reconcile(was, scope, timed) }),
      });
      if (once.ok) {
        kept.forget(durable, key);
        return noteTask(context, once.value);
      }
      endLostElicitations(durable, run);
      const lost = { tool, input, verdict, round: run, confined: confined !== undefined, ...once };
      const result = await recover(durable, context, lost).catch(endUnknown);
      return "rerun" in result ? result : durable.decide(callKeys.done, "call.finished", () => told(result));
    }
    default:
      return verdict.effect satisfies never;
  }
}

/** A server may describe its tool anew between the verdict and the call. */
const changedMeanwhile: ToolResult = {
  ok: false,
  text: "Not run: its server describes the tool in another way since this call was made. Read the description again.",
  end: "not-run",
};

/** Work that counts, apart from pauses in which a person is waited for. */
class Working {
  readonly #activity: Activity;
  #working: Disposable;
  constructor(activity: Activity) {
    this.#activity = activity;
    this.#working = activity.begin();
  }
  pause(): Disposable {
    this.end();
    return { [Symbol.dispose]: () => (this.#working = this.#activity.begin()) };
  }
  end(): void {
    this.#working[Symbol.dispose]();
  }
}

/** From here on its end is looked for, and it ends with this process. */
function noteTask(context: Workspace & Tree, result: ToolResult): ToolResult {
  const { background } = result;
  if (!background || context.tree.tasks.has(background.id)) return result;
  context.tree.tasks.set(background.id, background);
  endWithProcess(background);
  return result;
}

/** The turn was stopped before anybody could say what became of it: then that is what the model hears. */
function endUnknown(error: unknown): ToolResult {
  if (!(error instanceof Stopped) || error.why === "leaving") throw error;
  return {
    ok: false,
    text: "This was started, and how it ended is not known. Check what it left behind before anything else.",
    shown: { characters: 0, notes: [reason("exit-unknown", {})] },
    end: "unknown",
  };
}

function onceOptions(
  context: Place & Tree,
  tool: Tool,
  input: ToolInput,
  { digest, effect, before }: Verdict,
  { confined, kept }: { confined: Confined | undefined; kept: KeptCommand },
): OnceOptions<ToolResult> {
  const reconcile = tool.reconcile?.bind(tool);
  return {
    started(scope) {
      context.tree.happened++;
      return {
        tool: tool.name,
        effect,
        digest,
        ...(before !== undefined && { before }),
        ...(confined && { confined }),
        ...kept.started(scope),
      };
    },
    ...(reconcile && {
      reconcile: async (was) => {
        const found = await reconcile(input, { ...toolPlace(context), before: was.before ?? "" });
        return typeof found === "object" ? withEnd(found, "failed") : found;
      },
    }),
  };
}

/** A tool that throws has failed, and a failure is a result. Only what the loop itself raised passes through. */
export async function outcomeOf(
  tool: Tool,
  input: ToolInput,
  scope: ToolScope,
  confining?: Confining,
): Promise<ToolResult> {
  const operand = confining && tool.effect === "writes" ? tool.operand?.(input, scope) : undefined;
  const written = operand === undefined ? undefined : await confining?.writes(operand);
  try {
    const result = await tool.execute(input, scope);
    const usable = isUsable(result) ? result : await madeUsable(tool, result, scope.keepDir);
    return withEnd(usable, failureIn(scope));
  } catch (error) {
    if (error instanceof Stopped || error instanceof NeedsInput) throw error;
    const text = scope.signal.aborted ? "Interrupted." : failureText(tool.name, error);
    return withEnd({ ok: false, text }, failureIn(scope));
  } finally {
    written?.();
  }
}

function failureIn({ signal }: ToolScope): "stopped" | "failed" {
  return signal.aborted ? "stopped" : "failed";
}

/** The confines in which a call runs; none where it can only work outside, or the person wants it there this once. */
function confinesOf({ confined }: Verdict, approval: Approval): Confined | undefined {
  if (confined === undefined || confined === "outside") return undefined;
  return approval.by === "person" && approval.outside ? undefined : confined;
}

type EffectParts = {
  web?: ToolScope["web"];
  asked?: Elicitations | undefined;
  as?: Confined | undefined;
  kept?: KeptParts;
  approvedIn?: string | undefined;
};

/** Surroundings of a tool that reads or writes. */
export function effectScope(context: Workspace & Judging & Tree, scope: StepScope, parts: EffectParts): ToolScope {
  const { web, asked, as, kept, approvedIn } = parts;
  const { config } = context;
  const { spawn = config.spawn, attaches } = kept ?? {};
  // The scope has the same shape for every call; rare parts are added below.
  const made: { -readonly [Part in keyof ToolScope]: ToolScope[Part] } = {
    signal: scope.signal,
    session: context.session,
    cwd: context.options.workingDirectory,
    home: config.home,
    seen: (path) => context.memory.seen(path),
    keepDir: config.keepDir,
    env: config.env,
    tasks: tasksOf(context),
    mayRead: filterOf(context),
    output: (text) => scope.delta("output", config.redact(text)),
    waiting: (question) => scope.notice(reason("command-waits", { question: config.redact(question) })),
    spawned: (pid) => scope.spawned(pid),
    leaves: () => leavingOf(scope.signal),
    notice: (why) => scope.notice(why),
    delegate: notHere,
    requestInput: notHere,
  };
  if (web) made.web = web;
  if (spawn) made.spawn = spawn;
  if (attaches) made.attaches = attaches;
  if (approvedIn !== undefined) made.approvedIn = approvedIn;
  if (asked) made.elicit = asked.elicit;
  if (as) made.confine = (command) => launchOf(context, { ...command, as });
  return made;
}

/** A verdict that says "confined" is never run otherwise, also when the setting is gone by now. */
async function launchOf(context: Judging, command: { cwd: string; env: NodeJS.ProcessEnv; as: Confined }) {
  const { confining, ruleBooks = createRuleBooks(), home } = context.config;
  if (!confining) throw new Error("it was to run confined, and confinement is switched off now");
  const reach = (host: string) => {
    const { behavior, named } = judgeHost(host, ruleBooks.of(rulesFor(context), home));
    return behavior === "allow" ? ({ allowed: true, named } as const) : ({ allowed: false } as const);
  };
  return confining.launch({ ...command, reach });
}

/** A reader or writer runs inside one step of the journal; asking and delegating are steps of their own. */
async function notHere(): Promise<never> {
  throw new Error(
    'only a tool with the effect "waits" may ask or delegate while it runs; this one should describe its request with `request`',
  );
}

function waitingScope(
  context: ExecutionContext,
  durable: Durable,
  heard: (talk: string | undefined) => void,
): ToolScope {
  let asked = 0;
  const { config } = context;
  return {
    signal: durable.signal,
    session: context.session,
    ...toolPlace(context),
    seen: (path) => context.memory.seen(path),
    keepDir: config.keepDir,
    env: config.env,
    tasks: tasksOf(context),
    mayRead: filterOf(context),
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
      const opened = ask(durable, callKeys.ask(asked++), asks, context.asking);
      const resolution = await waitForPerson(context, opened);
      heard(context.inquiries.end(context, opened.request.id));
      endTurnIfSaid(durable, resolution, opened.request);
      return resolution;
    },
  };
}

/** The rules for reading, compiled when a tool first looks: most calls search nothing. */
function filterOf(context: Judging): NonNullable<ToolScope["mayRead"]> {
  let filter: { mayRead: ReturnType<typeof readFilter> } | undefined;
  const makeFilter = () => {
    const { home, sageHome, ruleBooks } = context.config;
    return { mayRead: readFilter(rulesFor(context), { cwd: anchorOf(context), home, sageHome }, ruleBooks) };
  };
  return (path, from) => (filter ??= makeFilter()).mayRead?.(path, from) ?? true;
}

/** Background commands as tools see them: one object for all calls of a tree of agents. */
function tasksOf({ tree }: Tree): NonNullable<ToolScope["tasks"]> {
  return (tree.tasksForTools ??= {
    identify,
    running: () => [...tree.tasks.values()].filter((task) => lifeOfTask(task) === "alive"),
    find(id) {
      const task = tree.tasks.get(id);
      return task && { task, end: endOfTask(task) };
    },
    async stop(id) {
      const task = tree.tasks.get(id);
      return task && (await stopTask(task));
    },
  });
}
