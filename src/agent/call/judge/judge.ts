import { attempt } from "../../../base/attempt.ts";
import { atOnce } from "../../../base/at-once.ts";
import type { HookOutcome } from "../../../hooks/hook.ts";
import { Stopped, type Durable } from "../../../journal/session/durable.ts";
import { isPromised, type Awaitable } from "../../../journal/store/store.ts";
import { applyMode, applyRules, checkOpinion, judge, type Decision } from "../../../permission/decide.ts";
import { loadShell } from "../../../permission/load.ts";
import { canonicalPath, openDisk, type Disk } from "../../../permission/paths/canonical.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { PermissionOpinion, Verdict } from "../../../protocol/facts/permission.ts";
import { closest } from "../../../base/name.ts";
import { stepKeys } from "../../../protocol/key.ts";
import { PLAN_TOOL } from "../../../protocol/mode.ts";
import { reason, type Reason, reasonOf } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { Judging, Place, Tools } from "../../state/context.ts";
import type { Again } from "./call-state.ts";
import { conclude, concludeAtOnce, orAborted, refusal } from "./conclude.ts";
import { decisionInput, permissionContext, toolPlace, type View } from "./decision-input.ts";
import { hearHooks } from "./hooked.ts";

/** A call on its way to its verdict: each stage gives it on with what it has to say. */
export type Case = {
  readonly question: Question;
  /** Input of a hook or a person in the place of the sent one. */
  readonly edited: ToolInput | undefined;
  /** 1. The word of the person's hooks; undefined where none has a say. */
  readonly hooks: HookOutcome | undefined;
  /** 2. The tool with the input that it takes, or why this is no call at all. */
  readonly check: ToolCheck;
  /** 2. to 4. The tool's opinion, rules, mode and confinement. */
  readonly decision: Decision | undefined;
  /** 5. The conclusion; a call that nobody has judged is denied. */
  readonly verdict: Verdict;
};

export type Question = {
  context: Judging;
  /** As the model sent it. */
  call: Call;
  signal: AbortSignal;
  /** No call before it can change whether it works. */
  settled: boolean;
  /** Judged before: as it was shown then, and why it is judged once more. */
  earlier: { shown: Verdict; again: Again } | undefined;
};

export type ToolCheck = { refused: Reason } | { refused?: undefined; tool: Tool; input: ToolInput; disk: Disk };

type Checked = { tool: Tool; input: ToolInput };

type Stage = (at: Case) => Awaitable<Case>;

/** A skill that narrows the tools leaves these: they touch nothing. */
const harmless = ["AskUserQuestion", "Skill", "TodoWrite"];

const underRules = deciding(applyRules);
const inMode = deciding(applyMode);

/** May this call run? Hooks, the tool's own check, rules, mode and confinement, conclusion: each takes a case and gives it on. */
const stages: readonly Stage[] = [hearHooks, hearTool, underRules, inMode, conclude];
const stagesWithoutHooks = stages.slice(1);

/** Judges all calls of a reply in one step; hooks are called in the order of the calls. `Stopped`: interrupted meanwhile. */
export async function judgeReply(
  durable: Durable,
  context: Judging,
  calls: readonly Call[],
): Promise<Verdict[] | Stopped> {
  try {
    const { verdicts } = await durable.step(stepKeys.judged, "calls.judged", async (scope) => {
      const judged: Verdict[] = [];
      for (const [n, call] of calls.entries()) {
        const settled = n === 0 || isSettled(context, calls.slice(0, n), call);
        judged.push(await judgeHooked(context, call, { scope, settled }));
      }
      return { verdicts: judged };
    });
    return verdicts;
  } catch (error) {
    if (error instanceof Stopped && error.why !== "leaving") return error;
    throw error;
  }
}

/** No earlier call of the reply reads or changes the file that this one is about. */
function isSettled(context: Tools & Place, earlier: readonly Call[], call: Call): boolean {
  const file = fileOf(context, call);
  return earlier.every((before) => {
    const other = fileOf(context, before);
    const effect = context.config.tools.get(before.tool)?.effect ?? "reads";
    return other === undefined ? effect === "reads" : other !== file;
  });
}

function fileOf(context: Place, { input }: Call): string | undefined {
  const path = input["file_path"];
  return attempt(() => (typeof path === "string" ? canonicalPath(path, toolPlace(context)).real : undefined));
}

/** Judges a call with the hooks' say. Runs inside the step of the whole batch: on replay no hook is called again. */
export async function judgeHooked(
  context: Judging,
  call: Call,
  { scope, settled }: { scope: { signal: AbortSignal }; settled: boolean },
): Promise<Verdict> {
  await readyToJudge(call, context);
  if (context.memory.refused(call)) return refusedBefore;
  return through(stages, openCase({ context, call, signal: scope.signal, settled, earlier: undefined }, undefined));
}

/** Judges a call once more: hooks had their say, and what is not as it was `shown` counts. */
export async function judgeAgain(
  context: Judging,
  call: Call,
  { edited, signal, ...earlier }: { edited: ToolInput | undefined; signal: AbortSignal; shown: Verdict; again: Again },
): Promise<Verdict> {
  await readyToJudge(call, context);
  return through(stagesWithoutHooks, openCase({ context, call, signal, settled: true, earlier }, edited));
}

/** Judges where nobody can wait: by the opinion that the tool had before, and as if the call could work. */
export function judgeCall(context: Judging, call: Call, edited?: ToolInput): Verdict {
  const question: Question = { context, call, signal: unending, settled: false, earlier: undefined };
  return concludeAtOnce(inMode(underRules(checkTool(openCase(question, edited))))).verdict;
}

function openCase(question: Question, edited: ToolInput | undefined): Case {
  return { question, edited, hooks: undefined, check: unchecked, decision: undefined, verdict: unjudged };
}

const unending = new AbortController().signal;
const nobody: Reason = reason("not-judged", { error: "nobody has judged it" });
const unchecked = { refused: nobody };
const unjudged = refusal(nobody);

async function through(line: readonly Stage[], from: Case): Promise<Verdict> {
  let at = from;
  // Most stages are done at once, and to wait for what is there takes longer than the stage itself.
  for (const stage of line) {
    const next = stage(at);
    at = isPromised(next) ? await next : next;
  }
  return at.verdict;
}

/** A stage that is pure (permission/decide.ts), for a call that there is. */
function deciding(stage: (decision: Decision) => Decision): (at: Case) => Case {
  return (at) => (at.decision ? { ...at, decision: stage(at.decision) } : at);
}

/** Loads what a command is judged with, and tries the sandbox; judging itself never waits. Other tools need neither. */
export function readyToJudge({ tool }: Call, { config }: Pick<Judging, "config">): Promise<unknown> | undefined {
  return tool === "Bash" ? Promise.all([loadShell(), config.confining?.ready()]) : undefined;
}

const refusedBefore: Verdict = {
  behavior: "deny",
  repeated: true,
  reason: reason("refused-before", {}),
  effect: "reads",
  digest: "",
};

/** The tool's own check, waited for where the tool looks something up. */
function hearTool(at: Case): Awaitable<Case> {
  const checked = check(at);
  if ("refused" in checked) return { ...at, check: checked };
  const { checkPermissions, addresses } = checked.tool;
  return checkPermissions || addresses ? heard(at, checked) : withCheck(at, checked);
}

/** The same at once, with the opinion that the tool had before. */
function checkTool(at: Case): Case {
  const checked = check(at);
  return "refused" in checked ? { ...at, check: checked } : withCheck(at, checked);
}

/** Is there such a tool, may this agent use it, and does it take the input? */
function check({ question: { context, call }, edited }: Case): Checked | { refused: Reason } {
  const { config, memory } = context;
  const tool = config.tools.get(call.tool);
  const needsPerson = tool?.requiresUserInteraction ?? call.tool === "AskUserQuestion";
  if (needsPerson && context.agent.length > 0 && !context.asksRoot)
    return { refused: reason("subagent-may-not-ask", { tool: call.tool }) };
  if (!tool) return { refused: unknownTool(context, call.tool) };
  const { allowed } = memory;
  if (allowed && !allowed.includes(call.tool) && !harmless.includes(call.tool))
    return { refused: reason("skill-limits-tools", { tools: allowed }) };
  if (call.malformed !== undefined && !edited) {
    const text = JSON.stringify(call.malformed.slice(0, 200));
    return { refused: reason("malformed-arguments", { tool: call.tool, text }) };
  }
  const parsed = memory.parse(tool, edited ?? call.input);
  const problem = parsed.ok ? undescribed(tool, parsed.input, toolPlace(context)) : parsed.problem;
  if (!parsed.ok || problem) return { refused: reason("unfit-input", { tool: call.tool, problem: problem ?? nobody }) };
  return { tool, input: parsed.input };
}

/** Lists what is offered: the name of a tool that is not would be called next, in vain. */
function unknownTool({ config, memory, mode }: Judging, tool: string): Reason {
  const offered = config.tools.offers(memory.loaded).map(({ name }) => name);
  const tools = mode() === "plan" ? offered : offered.filter((name) => name !== PLAN_TOOL);
  const meant = closest(tool, tools);
  return reason("unknown-tool", { tool, tools, ...(meant !== undefined && { meant }) });
}

/** Why a tool of somebody else cannot describe its call: nobody could say what would be allowed, so it is not run. */
function undescribed(tool: Tool, input: ToolInput, place: ReturnType<typeof toolPlace>): Reason | undefined {
  try {
    expectAtOnce(tool.specifier?.(input, place), "specifier", "string");
    expectAtOnce(tool.operand?.(input, place), "operand", "string");
    expectAtOnce(tool.request?.(input), "request", "object");
    expectAtOnce(tool.changed?.(), "changed", "object");
    expectAtOnce(tool.mayOutlive?.(input), "mayOutlive", "boolean");
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function expectAtOnce(value: unknown, name: string, expected: string): void {
  const came = typeof atOnce(value, name);
  if (value !== undefined && came !== expected)
    throw new Error(`${name} should return ${expected}; it returned ${came}`);
}

function withCheck(at: Case, { tool, input }: Checked, view?: View): Case {
  const disk = openDisk();
  const decision = checkOpinion(decisionInput(at.question.context, tool, input, view, disk));
  return { ...at, check: { tool, input, disk }, decision };
}

async function heard(at: Case, { tool, input }: Checked): Promise<Case> {
  const { context, signal } = at.question;
  const view = tool.checkPermissions && (await hearOut(context, tool, input, signal));
  if (tool.addresses) await lookUp(context, tool, input, { view, signal });
  return withCheck(at, { tool, input }, view);
}

/** Looks up where a call would connect to, unless that alone would tell a name to the network that nobody has allowed. */
async function lookUp(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  { view, signal }: { view: View; signal: AbortSignal },
): Promise<void> {
  const { behavior } = judge(decisionInput(context, tool, input, view)).result;
  if (behavior !== "allow" && !(behavior === "ask" && context.approved === true)) return;
  using _working = context.activity.begin();
  // A name that cannot be looked up now cannot be fetched either: running it will tell.
  const looked = (async () => tool.addresses!(input, signal))();
  const addresses = await orAborted(looked, signal).catch(() => undefined);
  signal.throwIfAborted();
  if (addresses) context.memory.keepAddresses(input, addresses);
}

/** The opinion of a tool, waited for where it is promised. It throws what the check throws: that makes a hard ask. */
async function hearOut(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  signal: AbortSignal,
): Promise<() => PermissionOpinion> {
  using _working = context.activity.begin();
  const view = await settled(() => tool.checkPermissions!(input, permissionContext(context, tool, signal)), signal);
  // Rules to offer are tried with it, and other requests are judged again by it, where nobody can wait.
  if (view.promised) context.memory.keepOpinion(input, view.opinion);
  return view.opinion;
}

async function settled(
  check: () => PermissionOpinion | Promise<PermissionOpinion>,
  signal: AbortSignal,
): Promise<{ opinion: () => PermissionOpinion; promised: boolean }> {
  let promised = false;
  try {
    const opinion = check();
    promised = isPromised(opinion);
    const heard = isPromised(opinion) ? await orAborted(Promise.resolve(opinion), signal) : opinion;
    return { opinion: () => heard, promised };
  } catch (error) {
    signal.throwIfAborted();
    const fail = () => {
      throw error;
    };
    return { opinion: fail, promised };
  }
}
