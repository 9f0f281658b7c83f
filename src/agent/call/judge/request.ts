import { atOnce } from "../../../base/at-once.ts";
import { ask } from "../../../input/ask.ts";
import type { Durable, Opened } from "../../../journal/session/durable.ts";
import { Stopped } from "../../../journal/session/session.ts";
import { isInside } from "../../../permission/paths/canonical.ts";
import { narrower, suggest } from "../../../permission/suggest/suggest.ts";
import { isProven } from "../../../input/passkey.ts";
import type { InputResponse, RuleGrant, RuleRemoval } from "../../../protocol/facts/answer.ts";
import type { Preview, ToolInput } from "../../../protocol/facts/call.ts";
import { isStricter, takesSignature } from "../../../protocol/facts/consent.ts";
import type { Call } from "../../../protocol/facts/message.ts";
import type { Consent, PermissionSuggestion, Rule, Verdict } from "../../../protocol/facts/permission.ts";
import type { InputRequest, NewRequest, RequestConsent, Resolution } from "../../../protocol/facts/request.ts";
import { isTakenBack } from "../../../protocol/facts/session.ts";
import type { AgentState } from "../../../protocol/facts/outcome.ts";
import type { RequestTimeout } from "../../../protocol/facts/silence.ts";
import type { ExecutionOptions } from "../../../protocol/host/options.ts";
import { callKeys } from "../../../protocol/key.ts";
import { reason, type Reason, reasonOf } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type {
  AgentConfig,
  ExecutionContext,
  Judging,
  Observation,
  People,
  Place,
  Rules,
  Self,
  Tools,
  Tree,
  Waiting,
} from "../../state/context.ts";
import { canonical, isDigestOf } from "../../state/digest.ts";
import type { CallEvent } from "./call-state.ts";
import { changeRules, decisionInput, checkedInput, rulesFor, toolFor, toolPlace } from "./decision-input.ts";
import { judgeCall, readyToJudge } from "./judge.ts";

/** How a request is framed: who asks, and what becomes of it if nobody answers. */
type Framing = Pick<Self, "agent"> & { options: Pick<ExecutionOptions, "silence" | "signed"> };
/** Files in which rules are kept. */
type Saving = { config: Pick<AgentConfig, "rules" | "saveRule" | "dropRule" | "ruleFiles"> };
type PermissionBody = NewRequest & RequestTimeout & { kind: "permission" };

/** `isOther`: under its key, another process has asked about something else. A yes to that is none to this call. */
export type Asked = Opened & { isOther?: true };

/** Opens what a call has to ask: the tool's own request, or the permission to run it. */
export function openRequest(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  { verdict, number }: { verdict: Verdict; number: number },
): Asked {
  const tool = toolFor(context, call);
  const input = checkedInput(context, tool, call, verdict);
  if (tool.request) {
    const own = () => ({ ...frameOf(context, tool, verdict), source: "tool" as const, ...tool.request!(input) });
    return ask(durable, callKeys.ask(number), own, context.asking);
  }
  const request = () => permissionOf(context, { tool, input }, verdict);
  const opened = ask(durable, callKeys.permit(number), request, context.asking);
  watchPermit(context, opened, verdict, () => judgeCall(context, call, verdict.input));
  if (!opened.resolution && !verdict.hooked) void readyToJudge(call, context); // a rule may be added in a process that has not judged anything yet
  if (isAbout(opened.request, { tool: tool.name, input }, verdict)) return opened;
  return { request: opened.request, resolution: opened.resolution, wait: () => opened.wait(), isOther: true };
}

/** The person was shown this tool with this input, and as many have to say yes as the verdict wants. */
function isAbout(shown: InputRequest, { tool, input }: Pick<Call, "tool" | "input">, { consent }: Verdict): boolean {
  if (shown.kind !== "permission" || shown.tool !== tool) return false;
  if (shown.input !== input && canonical(shown.input) !== canonical(input)) return false;
  const { approvals = 1, except } = shown.consent ?? {};
  return !isStricter(consent, { approvals, ...(except && { notAsker: true }) });
}

/** The word of the rule goes before that of the tool's settings; a tool's own request says for itself. */
function frameOf(context: Framing, tool: Tool, verdict: Verdict) {
  const silence: RequestTimeout = { ...context.options.silence?.[tool.name], ...verdict.silence };
  return { agent: context.agent, why: verdict.reason, digest: verdict.digest, ...silence };
}

/** A request to allow a call, with everything that a person needs to decide it. */
export function permissionOf(
  context: Framing & Judging & People & Saving,
  { tool, input }: { tool: Tool; input: ToolInput },
  verdict: Verdict,
): PermissionBody {
  const request: PermissionBody = {
    ...frameOf(context, tool, verdict),
    source: "approval",
    kind: "permission",
    tool: tool.name,
    input,
    hard: verdict.hard ?? false,
    suggestions: [],
  };
  if (verdict.parts) request.parts = verdict.parts;
  if (verdict.confined) request.confined = verdict.confined;
  if (verdict.spared) request.spared = true;
  if (isToBeSigned(context, request.hard)) request.signed = true;
  if (verdict.consent) request.consent = consentIn(verdict.consent, verdict, context);
  else if (mayLeave(verdict, context)) request.mayLeave = true;
  if (typeof input["description"] === "string") request.description = input["description"];
  if (!request.hard)
    request.suggestions = suggest(
      decisionInput(context, tool, input),
      context.memory.takeJudgement(verdict.digest),
    ).flatMap((suggestion) => inEveryPlace(suggestion, context));
  else request.suggestions = inTheWay(context, { tool, input }, verdict);
  const preview = verdict.reason.code === "tool-changed" ? tool.changed?.() : makePreview(tool, input, context);
  if (preview) request.preview = preview;
  return request;
}

/** The person's settings want proof that a yes comes from elsewhere. */
export function isToBeSigned({ options: { signed = [] } }: Framing, hard: boolean): boolean {
  return signed.includes("permission") || (hard && signed.includes("hard"));
}

/** The ask rule that asks, to be removed or to be replaced by a narrower one; not where one person alone may not change it. */
function inTheWay(
  context: Judging & Saving,
  { tool, input }: { tool: Tool; input: ToolInput },
  { reason: why, rule: text, source: destination, consent, silence }: Verdict,
): PermissionSuggestion[] {
  const isAsking = (rule: Rule) => rule.behavior === "ask" && rule.text === text && rule.source === destination;
  if (why.code !== "asked-by-rule" || consent || silence || !rulesFor(context).some(isAsking)) return [];
  // Nobody's answer changes the policy of the machine.
  if (text === undefined || destination === undefined || destination === "managed") return [];
  const file = destination === "session" ? undefined : context.config.ruleFiles?.[destination];
  const frame = { rule: text, behavior: "ask" as const, destination, ...(file !== undefined && { file }) };
  const instead = narrower(decisionInput(context, tool, input), text);
  return [
    { type: "removeRule", ...frame },
    { type: "modifyRule", ...frame, ...(instead !== undefined && { instead }) },
  ];
}

/** Judges an open request again when a rule is added. No rule answers a question that a hook asked, or one that takes proof. */
export function watchPermit(context: Tree, opened: Opened, verdict: Verdict, judge: () => Verdict): void {
  if (opened.resolution || verdict.hooked || takesSignature(opened.request)) return;
  context.tree.permits = [...context.tree.permits, { request: opened.request, judge }];
}

/** Askers are named in the request, so they are decided once. An editor asks, too: nobody writes a call and approves it alone. */
function consentIn({ approvals, notAsker }: Consent, { changed }: Verdict, { askers }: People): RequestConsent {
  if (!notAsker) return { approvals };
  const { names, unnamed } = askers();
  const editors = changed?.by === "person" ? [changed.who.by] : [];
  return { approvals, except: [...new Set([...names, ...editors])], ...(unnamed.length > 0 && { unnamed }) };
}

/** Only a person who was shown what the sandbox kept a command from may let it out, and never an unattended run. */
function mayLeave({ reason: why }: Verdict, { config, asking }: Judging): boolean {
  return why.code === "confined-blocked" && config.permissionMode !== "bypass" && asking.mode.type === "interactive";
}

/** Places for a rule: this session, and each file in which it may be kept. */
function inEveryPlace(suggestion: PermissionSuggestion, { config }: Saving): PermissionSuggestion[] {
  const { ruleFiles = {} } = config;
  const kept = (["local", "project", "user"] as const).flatMap((destination) => {
    const file = ruleFiles[destination];
    return file === undefined ? [] : [{ ...suggestion, destination, file }];
  });
  return [suggestion, ...kept];
}

function makePreview(tool: Tool, input: ToolInput, context: Place): Preview | undefined {
  try {
    const preview = atOnce(tool.preview?.(input, toolPlace(context)), "preview");
    const inside = preview && context.config.roots.some((root) => isInside(root, preview.path));
    return preview && !inside ? { ...preview, outside: true } : preview;
  } catch {
    return undefined; // the input itself is shown, whole
  }
}

/** Waits for a person, anywhere in the tree, and says so for as long as anybody in it waits. */
export function waitForPerson(context: ExecutionContext, opened: Opened): Promise<Resolution> {
  if (opened.resolution) return Promise.resolve(opened.resolution);
  const { tree, inquiries, show } = context;
  inquiries.follow(context, opened.request);
  const waiting = { request: opened.request, show };
  tree.waiting = [...tree.waiting, waiting];
  nameWaiting(context);
  // A wait that is broken off ends the attempt, whose end has a state of its own.
  return replied(context, opened).then((resolution) => {
    inquiries.end(context, opened.request.id);
    tree.waiting = tree.waiting.filter((other) => other !== waiting);
    tree.happened++;
    nameWaiting(context);
    return resolution;
  });
}

/** In a run that ends where a person is needed, whatever was asked about the request has its reply first. */
function replied({ inquiries, asking }: People, opened: Opened): Promise<Resolution> {
  const settled = asking.mode.type === "batch" ? inquiries.settled(opened.request.id) : undefined;
  return settled ? settled.then(() => opened.wait()) : opened.wait();
}

/** The state names the request that has waited longest: of the agent that asked, and of the whole tree. */
function nameWaiting({ lifecycle, tree, show }: Observation & Tree): void {
  const isRoot = show === tree.show;
  if (!isRoot) show(stateFor(tree.waiting.find((other) => other.show === show)));
  const { state } = lifecycle;
  const [first] = tree.waiting;
  const named = state.state === "waitingForConfirmation" ? state.requestId : undefined;
  if (named === first?.request.id || (state.state !== "executing" && named === undefined)) return;
  const next = stateFor(first);
  lifecycle.transition(next);
  tree.show(next);
}

function stateFor(waiting: Waiting | undefined): AgentState {
  if (!waiting) return { state: "executing", phase: "executingTools" };
  const { why, id } = waiting.request;
  return { state: "waitingForConfirmation", reason: why, requestId: id };
}

/** Waits for the end of a call's request, and keeps the rules that a person gave with it. */
export async function waitForAnswer(
  durable: Durable,
  context: ExecutionContext,
  opened: Asked,
  number: number,
): Promise<CallEvent & { type: "resolved" }> {
  const { request } = opened;
  const resolution = await waitForPerson(context, opened);
  closePermit(context, request.id);
  const talk = context.inquiries.end(context, request.id);
  endTurnIfSaid(durable, resolution, request);
  const signed = isProven(request, resolution) && !opened.isOther;
  if ("response" in resolution && resolution.response?.type === "granted" && signed) {
    if (!opened.resolution && resolution.by !== "auto") approveTool(context, request);
    const { by, surface, response } = resolution;
    if (response.rules || response.removeRules)
      await addRules(durable, context, response, { number, by, surface, again: opened.resolution !== undefined });
  }
  const event: CallEvent & { type: "resolved" } = { type: "resolved", resolution, own: request.kind !== "permission" };
  if (talk !== undefined) event.talk = talk;
  if (!signed) event.unsigned = true;
  return event;
}

/** The person allowed a call of the tool as it was shown to them; another definition, which came meanwhile, they have not seen. */
function approveTool(context: Tools, request: InputRequest): void {
  const tool = request.kind === "permission" ? context.config.tools.get(request.tool) : undefined;
  if (!tool?.approve || request.kind !== "permission") return;
  if (isDigestOf(request.digest, context, tool, request.input)) tool.approve();
}

/** Some ends of a request end the turn with it: the person stopped it, or a deadline passed that says so. */
export function endTurnIfSaid(durable: Durable, resolution: Resolution, request: InputRequest): void {
  // A message that is read first ends the request, and the turn goes on with it.
  if (resolution.outcome === "cancelled" && resolution.reason.code !== "read-now")
    durable.stop(new Stopped("cancelled", resolution.reason));
  if (resolution.outcome !== "timed_out" || resolution.response) return;
  durable.stop(new Stopped(request.deadline?.policy === "cancel" ? "cancelled" : "timeout", resolution.reason));
}

/** Takes back the rules that a person no longer wants, saves those they gave with a grant, and judges what else is open again: one "always" answers its twins. */
export async function addRules(
  durable: Durable,
  context: Rules & Saving & Tree,
  { rules = [], removeRules = [] }: InputResponse & { type: "granted" },
  {
    number,
    by,
    surface,
    again,
  }: { number: number; by: string; surface: string; /** The answer was there already. */ again: boolean },
): Promise<void> {
  rulesFor(context); // a rule that was taken back earlier must not take this one with it
  for (const [n, removal] of removeRules.entries()) {
    const data = await durable.step(callKeys.ruleRemoved(number, n), "rule.removed", async () => ({
      ...removal,
      by,
      surface,
      ...asItWas(context, removal),
      ...drop(context, removal, again),
    }));
    changeRules(context, { type: "rule.removed", data });
  }
  for (const [n, grant] of rules.entries()) {
    const data = await durable.step(callKeys.rule(number, n), "rule.added", async () => ({
      ...grant,
      by,
      ...save(context, grant),
    }));
    changeRules(context, { type: "rule.added", data });
  }
  const added = new Set(rules.map(({ rule }) => rule));
  const gone = new Set(removeRules.map(({ rule }) => rule));
  for (const { request, judge } of context.tree.permits) {
    const { why } = request;
    const asked = why.code === "asked-by-rule" ? why.args.rule.text : "";
    if (added.size === 0 && !gone.has(asked)) continue;
    const { behavior, rule = "" } = judge();
    if (behavior === "ask" || !(added.has(rule) || gone.has(asked))) continue;
    closePermit(context, request.id);
    const frame = { requestId: request.id, by, surface: "rule", at: Date.now() };
    const ended = added.has(rule) ? reason("decided-by-rule", { rule }) : reason("ask-rule-removed", { rule: asked });
    durable.resolve({ ...frame, outcome: "superseded", reason: ended });
  }
}

function closePermit({ tree }: Tree, id: string): void {
  tree.permits = tree.permits.filter(({ request }) => request.id !== id);
}

/** For whoever wants it back. */
function asItWas({ config, sessionRules }: Rules & Saving, removal: RuleRemoval) {
  const known = [...sessionRules, ...config.rules].find((rule) => isTakenBack(rule, removal));
  return known && { was: known.behavior, ...((known.consent ?? known.silence) && { demanding: true as const }) };
}

/** A rule that could not be saved still holds for this session, and the person hears of it. */
function save({ config }: Saving, grant: RuleGrant): { saved?: string; problem?: Reason } {
  if (grant.destination === "session") return {};
  try {
    return { saved: config.saveRule(grant) };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

/**
 * A rule that cannot be taken back still stands, and the person hears of it. `again`: a process before this one may have taken it out
 * of its file and been killed before it could say so, so that a rule which is not there is gone as it should be.
 */
function drop(
  { config, sessionRules }: Rules & Saving,
  removal: RuleRemoval,
  again: boolean,
): { saved?: string; problem?: Reason } {
  const { rule, destination, behavior } = removal;
  const missing = { problem: reason("rule-not-there", { rule }) };
  const isIn = (rules: readonly Rule[]) => rules.some((known) => isTakenBack(known, removal));
  if (destination === "session") return isIn(sessionRules) ? {} : missing;
  // Rules that a program gave stand in no file: taken back, they mean nothing in this session.
  if (!config.dropRule) return again || isIn(config.rules) ? {} : missing;
  try {
    const saved = config.dropRule(rule, destination, behavior);
    if (saved !== undefined) return { saved };
    return again ? {} : missing;
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}
