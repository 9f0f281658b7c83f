import { hash } from "node:crypto";
import { isPromised, type Awaitable } from "../../../journal/store/store.ts";
import { couldRunConfined } from "../../../permission/confined.ts";
import { concludeDecision, judgementOf, type Decision } from "../../../permission/decide.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { reason, said, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import { canonical, digestOf, isDigestOf, meaningsIn, operandFile, scriptsOf } from "../../state/digest.ts";
import { toolPlace } from "./decision-input.ts";
import type { Case, Question, ToolCheck } from "./judge.ts";
import { isAsShown, weighAgain } from "./drift.ts";
import { answerByHooks, weigh } from "./hooked.ts";

const MAX_LINKS = 40;

/** Concludes: the verdict of rules and mode, weighed with hooks, the call's own chances, and what was shown before. */
export function conclude(open: Case): Awaitable<Case> {
  const at = concludeAtOnce(open);
  const { question, hooks } = at;
  const { context, earlier, settled } = question;
  const changed = hooks?.input ? { ...at.verdict, changed: { by: "hook" as const } } : at.verdict;
  const weighed = hooks ? weigh(changed, hooks) : changed;
  const seen = earlier
    ? weighAgain(weighed, earlier.shown, earlier.again, (path) => context.memory.wrote(path))
    : weighed;
  // An earlier call of the same reply may still make it work: then nobody can tell yet.
  const failing = settled ? withFailure(question, seen) : seen;
  if (!hooks)
    return isPromised(failing) ? failing.then((verdict) => ({ ...at, verdict })) : { ...at, verdict: failing };
  return hooksConclude(at, question, failing);
}

async function hooksConclude(at: Case, question: Question, failing: Awaitable<Verdict>): Promise<Case> {
  return { ...at, verdict: await answerByHooks(question, await failing) };
}

export function concludeAtOnce(at: Case): Case {
  const { check, decision } = at;
  if (check.refused) return { ...at, verdict: refusal(check.refused) };
  return decision ? { ...at, verdict: verdictOn(at, check, concludeDecision(decision)) } : at;
}

export function refusal(why: Reason): Verdict {
  return { behavior: "deny", reason: why, effect: "reads", digest: "" };
}

function verdictOn(
  { question: { context, earlier }, edited }: Case,
  { tool, input, disk }: Exclude<ToolCheck, { refused: Reason }>,
  decision: Decision,
): Verdict {
  const judgement = judgementOf(decision);
  const { result, finding } = judgement;
  const file = operandFile(context, tool, input);
  const scripts = scriptsOf(context, finding);
  const covers = (digest: string) => isDigestOf(digest, context, tool, input, { file, scripts });
  // The digest that was shown stays that of the call, though a version of today would make another.
  const covered = earlier && covers(earlier.shown.digest);
  const digest = covered ? earlier.shown.digest : digestOf(context, tool, input, { file, scripts });
  const links = fewest(disk.links());
  const behavior = result.behavior === "passthrough" ? "ask" : result.behavior;
  if (behavior === "ask" && result.hard !== true) context.memory.keepJudgement(digest, judgement);
  const verdict: Verdict = { ...result, behavior, effect: tool.effect, digest };
  if (links) verdict.links = links;
  if (scripts && covered !== "unbound") verdict.scripts = scripts;
  const meanings = meaningsIn(context, finding);
  if (meanings) verdict.meanings = meanings;
  const addresses = tool.addresses && context.memory.addresses(input);
  if (addresses) verdict.addresses = addresses;
  if (file) [verdict.operand, verdict.before] = [file.path, file.hash];
  if (file?.lines !== undefined) verdict.lines = file.lines;
  if (edited) verdict.input = edited;
  if (behavior === "ask" && context.config.couldConfine && couldRunConfined(judgement, tool.name, context.config.roots))
    verdict.spared = true;
  const granted = behavior === "ask" ? context.memory.takeGrant(covers) : undefined;
  if (!granted || !isAsShown(verdict, granted.shown) || !wasShown(granted.request, tool, input)) return verdict;
  const why = reason("approved-earlier", { request: granted.request.id });
  return { ...verdict, behavior: "allow", allowedBy: "person", reason: why };
}

/** Nobody is asked about a call that cannot work: that is its result at once. */
function withFailure(question: Question, verdict: Verdict): Awaitable<Verdict> {
  const tool = question.context.config.tools.get(question.call.tool);
  return verdict.behavior === "ask" && tool?.preflight ? preflighted(tool, question, verdict) : verdict;
}

async function preflighted(tool: Tool, { context, call, signal }: Question, verdict: Verdict): Promise<Verdict> {
  const input = context.memory.parse(tool, verdict.input ?? call.input);
  if (!input.ok) return verdict;
  const scope = { ...toolPlace(context), seen: (path: string) => context.memory.seen(path) };
  const looked = async () => tool.preflight?.(input.input, scope);
  const failure = await orAborted(looked(), signal).catch(() => undefined); // whatever it is, running it will tell
  signal.throwIfAborted();
  if (typeof failure !== "string" && typeof failure?.text !== "string") return verdict;
  const { text, why } = typeof failure === "string" ? { text: failure, why: said(failure) } : failure;
  return { ...verdict, behavior: "deny", reason: why, failure: text };
}

/** Code that does not listen holds nobody up: what comes of it later is dropped. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const aborted = () => fail(signal.reason as Error);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    work.then(done, fail).finally(() => signal.removeEventListener("abort", aborted));
  });
}

/** A question about a run that was lost tells of it in words; a permission shows the call itself. */
function wasShown(request: InputRequest, tool: Tool, input: ToolInput): boolean {
  return request.kind !== "permission" || (request.tool === tool.name && canonical(request.input) === canonical(input));
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
