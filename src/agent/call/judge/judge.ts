import { hash } from "node:crypto";
import type { StepScope } from "../../../journal/session/durable.ts";
import { andThen, isPromised, type Awaitable } from "../../../journal/store/store.ts";
import { judge, type DecisionInput } from "../../../permission/decide.ts";
import { couldRunConfined, type ConfinePolicy } from "../../../permission/confined.ts";
import { openDisk, type Disk } from "../../../permission/paths/canonical.ts";
import { loadShell } from "../../../permission/load.ts";
import { loadedGrammar } from "../../../permission/shell/read/grammar.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import { isStricter } from "../../../protocol/facts/consent.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { PermissionOpinion, Rule, Verdict } from "../../../protocol/facts/permission.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { changedRules, type RuleChange } from "../../../protocol/facts/session.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import { isSameReason, reason, said, type Reason } from "../../../protocol/reasons/reason.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import type { PermissionContext, Tool, ToolPlace } from "../../../tools/definition/tool.ts";
import type { Confining, ExecutionContext } from "../../state/context.ts";
import { canonical, digestOf, operandOf, scriptsOf } from "../../state/digest.ts";
import { driftBetween } from "./drift.ts";
import { eventOf, weigh } from "./hooked.ts";

/** A skill that narrows the tools leaves these: they touch nothing. */
const harmless = ["AskUserQuestion", "Skill", "TodoWrite"];

const MAX_LINKS = 40;

/** Judges a call with the hooks' say. Runs inside the step of the whole batch: on replay no hook is called again. */
export function judgeHooked(
  context: ExecutionContext,
  call: Call,
  { scope, settled }: { scope: StepScope; settled: boolean },
): Awaitable<Verdict> {
  const ready = readyToJudge(call, context);
  return ready
    ? ready.then(() => judgeReady(context, call, { scope, settled }))
    : judgeReady(context, call, { scope, settled });
}

function judgeReady(
  context: ExecutionContext,
  call: Call,
  { scope, settled }: { scope: StepScope; settled: boolean },
): Awaitable<Verdict> {
  const { hooks } = context.config;
  if (context.memory.refused(call)) return refusedBefore;
  // An earlier call of the same reply may still make it work, so nobody can tell yet.
  const checked = (verdict: Verdict) => (settled ? withFailure(context, call, verdict) : verdict);
  if (hooks.has("beforeCall", call.tool) || hooks.has("permissionRequest", call.tool))
    return hearHooks(context, call, { scope, checked });
  return andThen(judgeHeard(context, call, undefined, scope.signal), checked);
}

async function hearHooks(
  context: ExecutionContext,
  call: Call,
  { scope, checked }: { scope: StepScope; checked: (verdict: Verdict) => Awaitable<Verdict> },
): Promise<Verdict> {
  const { hooks } = context.config;
  const before = await hooks.run("beforeCall", eventOf(context, call), scope.signal);
  const judged = await judgeHeard(context, call, before.input, scope.signal);
  let verdict = await checked(weigh(before.input ? { ...judged, changed: { by: "hook" } } : judged, before));
  if (verdict.behavior === "ask" && hooks.has("permissionRequest", call.tool)) {
    const event = eventOf(context, { ...call, input: verdict.input ?? call.input }); // what would run, not what was sent
    const asked = await hooks.run("permissionRequest", { ...event, why: sentence(verdict.reason, "en") }, scope.signal);
    verdict = weigh(verdict, { ...asked, input: undefined });
  }
  return verdict;
}

const refusedBefore: Verdict = {
  behavior: "deny",
  repeated: true,
  reason: reason("refused-before", {}),
  effect: "reads",
  digest: "",
};

/** Loads what a command is judged with, and tries the sandbox; judging itself never waits. Other tools need neither. */
export function readyToJudge(
  { tool }: Call,
  { config }: Pick<ExecutionContext, "config">,
): Promise<unknown> | undefined {
  return tool === "Bash" ? Promise.all([loadShell(), config.confining?.ready()]) : undefined;
}

/** Judges a call once its tool has given its opinion; at once where it has none. */
function judgeHeard(
  context: ExecutionContext,
  call: Call,
  edited: ToolInput | undefined,
  signal: AbortSignal,
): Awaitable<Verdict> {
  const tool = context.config.tools.get(call.tool);
  if ((!tool?.checkPermissions && !tool?.addresses) || (call.malformed !== undefined && !edited))
    return judgeCall(context, call, edited);
  return hearTool(context, call, tool, { edited, signal });
}

async function hearTool(
  context: ExecutionContext,
  call: Call,
  tool: Tool,
  { edited, signal }: { edited: ToolInput | undefined; signal: AbortSignal },
): Promise<Verdict> {
  const parsed = context.memory.parse(tool, edited ?? call.input);
  if (!parsed.ok) return judgeCall(context, call, edited);
  const view = tool.checkPermissions && (await hearOut(context, tool, parsed.input, signal));
  if (tool.addresses) await lookUp(context, tool, parsed.input, { view, signal });
  return judgeCall(context, call, edited, view);
}

/** Looks up where a call would connect to, unless that alone would tell a name to the network that nobody has allowed. */
async function lookUp(
  context: ExecutionContext,
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
  context: ExecutionContext,
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

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const aborted = () => fail(signal.reason as Error);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    work.then(done, fail).finally(() => signal.removeEventListener("abort", aborted));
  });
}

type View = DecisionInput["view"];

/** May this call run? Runs inside a step: the answer is a fact, and replay never comes here again. */
export function judgeCall(context: ExecutionContext, call: Call, edited?: ToolInput, view?: View): Verdict {
  const tool = context.config.tools.get(call.tool);
  if (
    (tool?.requiresUserInteraction ?? call.tool === "AskUserQuestion") &&
    context.agent.length > 0 &&
    !context.asksRoot
  )
    return refuse(reason("subagent-may-not-ask", { tool: call.tool }));
  if (!tool) return refuse(reason("unknown-tool", { tool: call.tool, tools: context.config.tools.names() }));
  const { allowed } = context.memory;
  if (allowed && !allowed.includes(call.tool) && !harmless.includes(call.tool))
    return refuse(reason("skill-limits-tools", { tools: allowed }));
  if (call.malformed !== undefined && !edited)
    return refuse(
      reason("malformed-arguments", { tool: call.tool, text: JSON.stringify(call.malformed.slice(0, 200)) }),
    );
  const parsed = context.memory.parse(tool, edited ?? call.input);
  if (!parsed.ok) return refuse(reason("unfit-input", { tool: call.tool, problem: parsed.problem }));
  return judgeInput(context, tool, parsed.input, { edited, view });
}

/** Once more, without hooks, and with what the tool itself knows of the call's chances. */
export function judgeAgain(
  context: ExecutionContext,
  call: Call,
  edited: ToolInput | undefined,
  signal: AbortSignal,
): Awaitable<Verdict> {
  const judged = () =>
    andThen(judgeHeard(context, call, edited, signal), (verdict) => withFailure(context, call, verdict));
  const ready = readyToJudge(call, context);
  return ready ? ready.then(judged) : judged();
}

/** Nobody is asked about a call that cannot work: that is its result at once. */
function withFailure(context: ExecutionContext, call: Call, verdict: Verdict): Awaitable<Verdict> {
  const preflight = verdict.behavior === "ask" ? context.config.tools.get(call.tool)?.preflight : undefined;
  return preflight ? preflighted(context, call, verdict) : verdict;
}

async function preflighted(context: ExecutionContext, call: Call, verdict: Verdict): Promise<Verdict> {
  const tool = context.config.tools.get(call.tool);
  if (!tool?.preflight) return verdict;
  const input = context.memory.parse(tool, verdict.input ?? call.input);
  if (!input.ok) return verdict;
  const scope = { ...toolPlace(context), seen: (path: string) => context.memory.seen(path) };
  const failure = await tool.preflight(input.input, scope).catch(() => undefined); // whatever it is, running it will tell
  if (failure === undefined) return verdict;
  const { text, why } = typeof failure === "string" ? { text: failure, why: said(failure) } : failure;
  return { ...verdict, behavior: "deny", reason: why, failure: text };
}

function judgeInput(
  context: ExecutionContext,
  tool: Tool,
  input: ToolInput,
  { edited, view }: { edited: ToolInput | undefined; view: View },
): Verdict {
  const disk = openDisk();
  const judgement = judge(decisionInput(context, tool, input, view, disk));
  const { result, finding } = judgement;
  const file = operandOf(context, tool, input);
  const scripts = scriptsOf(context, finding);
  const digest = digestOf(context, tool, input, { file, scripts });
  const links = fewest(disk.links());
  const behavior = result.behavior === "passthrough" ? "ask" : result.behavior;
  if (behavior === "ask" && result.hard !== true) context.memory.keepJudgement(digest, judgement);
  const verdict: Verdict = { ...result, behavior, effect: tool.effect, digest };
  if (links) verdict.links = links;
  if (scripts) verdict.scripts = scripts;
  const addresses = tool.addresses && context.memory.addresses(input);
  if (addresses) verdict.addresses = addresses;
  if (file) [verdict.operand, verdict.before] = [file.path, file.hash];
  if (edited) verdict.input = edited;
  if (behavior === "ask" && context.config.couldConfine && couldRunConfined(judgement, tool.name, context.config.roots))
    verdict.spared = true;
  const granted = behavior === "ask" ? context.memory.takeGrant(digest) : undefined;
  return granted && isAsShown(verdict, granted.shown) && wasShown(granted.request, tool, input)
    ? {
        ...verdict,
        behavior: "allow",
        allowedBy: "person",
        reason: reason("approved-earlier", { request: granted.request.id }),
      }
    : verdict;
}

/** A question about a run that was lost tells of it in words; a permission shows the call itself. */
function wasShown(request: InputRequest, tool: Tool, input: ToolInput): boolean {
  return request.kind !== "permission" || (request.tool === tool.name && canonical(request.input) === canonical(input));
}

/** A yes holds while nothing differs from what was shown, and for no more than was asked. */
export function isAsShown(now: Verdict, shown: Verdict): boolean {
  if (driftBetween(shown, now, () => undefined).length > 0 || isStricter(now.consent, shown.consent)) return false;
  return now.hard !== true || shown.behavior !== "ask" || isSameReason(now.reason, shown.reason);
}

export function decisionInput(
  context: ExecutionContext,
  tool: Tool,
  input: ToolInput,
  view: View = context.memory.opinion(input),
  disk?: Disk,
): DecisionInput {
  const { config } = context;
  const { permissionMode: mode, roots, ruleBooks: books, sageHome } = config;
  const place = toolPlace(context);
  // Without a spread: it is made three times for each approval.
  return {
    rules: rulesOf(context),
    mode,
    sessionMode: modeFor(context, tool),
    effect: tool.effect,
    cwd: place.cwd,
    home: place.home,
    anchor: anchorOf(context),
    roots,
    tool: tool.name,
    input,
    requiresUserInteraction: tool.requiresUserInteraction,
    changed: tool.changed?.() !== undefined,
    specifier: tool.specifier?.(input, place),
    view:
      view ??
      (tool.checkPermissions && (() => tool.checkPermissions!(input, permissionContext(context, tool, unending)))),
    grammar: loadedGrammar(),
    addresses: tool.addresses && context.memory.addresses(input),
    environment: tool.name === "Bash" ? namesIn(config.env) : undefined,
    books,
    sageHome,
    confine: tool.name === "Bash" && config.confining ? confinePolicy(context, config.confining, input) : undefined,
    disk,
  };
}

function confinePolicy({ memory, asking }: ExecutionContext, confining: Confining, input: ToolInput): ConfinePolicy {
  const { mode, outside, git } = confining;
  const unattended = asking.mode.type === "nonInteractive" && typeof asking.mode.autoResponse !== "function";
  const blocked = memory.blockedIn(input["command"]);
  return { mode, outside, git, problem: confining.problem(), blocked, unattended };
}

/** Names of the variables that commands inherit, made once for each environment: every call is judged with them. */
function namesIn(env: object): ReadonlySet<string> {
  let names = inherited.get(env);
  if (names === undefined) inherited.set(env, (names = new Set(Object.keys(env))));
  return names;
}

const inherited = new WeakMap<object, ReadonlySet<string>>();

const unending = new AbortController().signal;

function permissionContext(context: ExecutionContext, tool: Tool, signal: AbortSignal): PermissionContext {
  const { permissionMode: mode, roots } = context.config;
  return { ...toolPlace(context), roots, mode, sessionMode: modeFor(context, tool), signal };
}

function modeFor(context: ExecutionContext, tool: Tool): SessionMode {
  const held = context.approved !== true || tool.requiresUserInteraction === true;
  return held ? context.mode() : "ask";
}

/** Configured rules and those of the session, as the person has changed them meanwhile. */
export function rulesOf(context: ExecutionContext): readonly Rule[] {
  const { config, sessionRules, ruleChanges } = context;
  const { rules } = config;
  if (ruleChanges && ruleChanges.length > 0) for (const change of ruleChanges.splice(0)) changeRules(context, change);
  return sessionRules.length === 0 ? rules : [...rules, ...sessionRules];
}

/** Changes the rules that were given in the session: subagents hold the same list. */
export function changeRules({ sessionRules }: Pick<ExecutionContext, "sessionRules">, change: RuleChange): void {
  sessionRules.splice(0, sessionRules.length, ...changedRules(sessionRules, change));
}

/** A subagent may work elsewhere, and rules still mean the folder that the session began in. */
export function anchorOf({ agent, config, options }: ExecutionContext): string {
  return agent.length > 0 ? (config.roots[0] ?? options.workingDirectory) : options.workingDirectory;
}

export function toolPlace({ config, options }: ExecutionContext): ToolPlace {
  return { cwd: options.workingDirectory, home: config.home };
}

/** Keeps the first of very many links, and a hash of the rest. */
function fewest(links: Record<string, string> | undefined): Record<string, string> | undefined {
  if (links === undefined) return undefined;
  const entries = Object.entries(links).sort(([left], [right]) => (left < right ? -1 : 1));
  if (entries.length === 0) return undefined;
  if (entries.length <= MAX_LINKS) return Object.fromEntries(entries);
  const rest = hash("sha256", JSON.stringify(entries.slice(MAX_LINKS)), "hex");
  return { ...Object.fromEntries(entries.slice(0, MAX_LINKS)), "…": rest };
}

function refuse(why: Reason): Verdict {
  return { behavior: "deny", reason: why, effect: "reads", digest: "" };
}
