import type { GuestAnswer, GuestAsk, GuestEvent } from "../../guest/driver.ts";
import { rejoin } from "../../input/ask.ts";
import type { Opened } from "../../journal/session/durable.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { FactData } from "../../protocol/facts/fact.ts";
import { noUsage, textOf, addUsage, type Call, type Part, type ToolResult } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import {
  branchKey,
  callKey,
  callKeys,
  finishedKey,
  replyKey,
  startedKey,
  stepKeys,
  stepOfKey,
} from "../../protocol/key.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { askUser } from "../../tools/ask/ask-user.ts";
import { driftBetween } from "../call/judge/drift.ts";
import { waitForAnswer } from "../call/judge/request.ts";
import { notApproved, redacted, refused, withEnd, withTalk } from "../call/judge/results.ts";
import { pauseIfRefused } from "../state/memory.ts";
import type { KnownCall } from "./book.ts";
import { judgeApproved, judgeGuestCall } from "./judge.ts";
import { openGuestRequest } from "./request.ts";
import type { GuestTurn, Resolved } from "./state.ts";

type Said = GuestEvent & { type: "said" };

/** Records a reply of the guest's model as a step, without calls that are known already. */
export function noteSaid(turn: GuestTurn, { parts, usage, model, agent }: Said): void {
  const fresh = parts.filter((part) => part.type !== "call" || isNews(turn, part));
  // Only the calls of subagents count: what they say is between them and the guest.
  const kept = agent.length === 0 ? fresh : fresh.filter(({ type }) => type === "call");
  if (kept.length > 0)
    reply(
      turn,
      kept.map((part) => (part.type === "call" ? part : { ...part, text: turn.context.config.redact(part.text) })),
      { usage, model, told: true },
    );
  else if (usage) {
    turn.context.tree.usage = addUsage(turn.context.tree.usage, usage);
    turn.told.unsaid = addUsage(turn.told.unsaid, usage);
  }
}

function isNews({ book }: GuestTurn, call: Call): boolean {
  const known = book.find(call);
  if (!known || (known.told && known.end !== "open")) return true; // models repeat ids
  known.told = true;
  return false;
}

function reply(
  turn: GuestTurn,
  parts: readonly Part[],
  { usage = noUsage, model, told }: { usage?: Said["usage"]; model: string; told: boolean },
): KnownCall[] {
  const { log, key, progress, context, book, heard } = turn;
  const step = progress.steps++;
  const calls = parts.filter((part) => part.type === "call");
  const finish = calls.length > 0 ? "calls" : "stop";
  const data: FactData["model.replied"] = { parts: [...parts], usage, finish, model, ...heard };
  log.branch(key).decide(replyKey(step), "model.replied", () => data);
  turn.heard = { sawUpTo: heard.sawUpTo };
  turn.told.since = addUsage(turn.told.since, usage);
  progress.text = textOf(data) || progress.text;
  context.tree.usage = addUsage(context.tree.usage, usage);
  context.tree.modelCalls++;
  context.tree.toolCalls += calls.length;
  return calls.map((call, n) => book.add(callKey(`${key}/${branchKey(step)}`, n), call, told));
}

/** The call of a prompt: one that is known, or a new step. */
export function placeCall(turn: GuestTurn, { call }: GuestAsk): KnownCall {
  const known = turn.book.find(call);
  if (known && known.end !== "finished") return known;
  const [placed] = reply(turn, [call], { model: turn.driver.name, told: false });
  return placed as KnownCall;
}

/** Leads from a prompt to its answer, or to a request that waits for a person. */
export async function takeUp(
  turn: GuestTurn,
  ask: GuestAsk,
  known: KnownCall,
): Promise<{ answer: GuestAnswer } | { opened: Opened }> {
  const { log, context, driver } = turn;
  const line = log.branch(known.place);
  if (known.end === "unknown") return { answer: { type: "refused", by: "rule", words: lost } };
  const insisted = ask.insists === true && known.verdict?.behavior === "allow" && known.verdict.allowedBy !== "person";
  if (!known.verdict || insisted) {
    const key = callKeys.judged(known.verdict ? 1 : 0);
    const { verdicts } = await line.step(key, "calls.judged", async (scope) => ({
      verdicts: [
        await judgeGuestCall(context, ask, { agent: driver.name, scope, before: turn.book.ranBefore(known.digest) }),
      ],
    }));
    known.verdict = verdicts[0] as Verdict;
  }
  const { verdict } = known;
  if (verdict.behavior === "deny") return { answer: await refuse(turn, known, refused(verdict)) };
  if (verdict.behavior === "allow") {
    const changed = notTaken(turn, known, verdict.input);
    if (changed)
      return { answer: await refuse(turn, known, refused({ ...verdict, behavior: "deny", reason: changed })) };
    const by = verdict.allowedBy === "person" ? "person" : "rule";
    return { answer: await allow(turn, known, { verdict, by, edited: verdict.input }) };
  }
  const opened = known.request ? again(turn, known) : openGuestRequest(line, context, { ask, verdict, driver });
  known.request = opened.request;
  await log.flush(); // on disk before the guest, or anybody else, hears of it
  return { opened };
}

const lost =
  "Not run: this call was started before, and how that ended is not known. Check what it left behind before you make it again.";

/** The request that an attempt before this one opened. */
export function again({ log, context }: GuestTurn, { request }: KnownCall): Opened {
  if (!request) throw new Error("there is no request to go on with");
  const opened = { request, resolution: log.store.resolution(request.id), wait: () => log.wait(request.id) };
  return { ...opened, wait: () => rejoin(opened, context.asking) };
}

/** Waits for the end of a call's request, once for each attempt. */
export function resolvedOf({ log, context, ends }: GuestTurn, known: KnownCall, opened: Opened): Promise<Resolved> {
  const waited = ends.get(known) ?? waitForAnswer(log.branch(known.place), context, opened, 0);
  ends.set(known, waited);
  waited.catch(() => {}); // the awaiting caller handles it
  return waited;
}

const endsByRule: ReadonlySet<string> = new Set(["decided-by-rule", "ask-rule-removed"]);

/** The answer for the guest, when its request has ended. Undefined: the turn ends with it. */
export async function conclude(
  turn: GuestTurn,
  ask: Pick<GuestAsk, "call" | "judged">,
  known: KnownCall,
  { resolution, own, talk, unsigned }: Resolved,
): Promise<{ answer: GuestAnswer } | undefined> {
  if (turn.log.stopped) return undefined;
  if (own) return { answer: await answered(turn, known, resolution, talk) };
  const granted = !unsigned && "response" in resolution && resolution.response?.type === "granted";
  const ruled = resolution.outcome === "superseded" && endsByRule.has(resolution.reason.code);
  if (!granted && !ruled) {
    const said =
      "response" in resolution && resolution.response?.type === "denied" ? resolution.response.reason : undefined;
    return { answer: await refuse(turn, known, withTalk(notApproved(resolution), talk), said) };
  }
  const { input: edited, comment } = granted && resolution.response?.type === "granted" ? resolution.response : {};
  const verdict = await approvedVerdict(turn, ask, known, { resolution, edited, ruled });
  if (verdict.behavior !== "allow") return { answer: await refuse(turn, known, refused(verdict)) };
  return { answer: await allow(turn, known, { verdict, by: ruled ? "rule" : "person", edited, comment }) };
}

/** Judges in a fact of its own: a rule that came while the person thought still refuses, and an edited input is judged as it will run. */
async function approvedVerdict(
  turn: GuestTurn,
  ask: Pick<GuestAsk, "call" | "judged">,
  known: KnownCall,
  { resolution, edited, ruled }: { resolution: Resolution; edited: ToolInput | undefined; ruled: boolean },
): Promise<Verdict> {
  const { log, context } = turn;
  const { place, digest, verdict: shown } = known;
  const { verdicts } = await log.branch(place).step(callKeys.judged(2), "calls.judged", async () => {
    const now = { ...shown, ...(await judgeApproved(context, ask, edited)), digest };
    if (now.behavior === "deny" || ruled) return { verdicts: [now] };
    const untaken = notTaken(turn, known, edited);
    if (untaken) return { verdicts: [{ ...now, behavior: "deny", reason: untaken }] };
    // Files are between the guest and its tools; where a path leads, and which script it names, was shown to the person.
    const changes =
      shown && !edited ? driftBetween(shown, now, () => undefined).filter(({ what }) => what !== "file") : [];
    if (changes.length > 0)
      return { verdicts: [{ ...now, behavior: "deny", reason: reason("changed-since-approval", { changes }) }] };
    const { by, surface } = resolution;
    const why = reason(edited ? "approved-edited" : "approved-unchanged", {});
    const change = edited && { input: edited, changed: { by: "person", who: { by, surface } } as const };
    return { verdicts: [{ ...now, behavior: "allow", allowedBy: "person", reason: why, ...change }] };
  });
  return verdicts[0] as Verdict;
}

/** Why an edited call must not be allowed: this guest would still run its own input. */
function notTaken({ driver }: GuestTurn, { call }: KnownCall, edited: ToolInput | undefined): Reason | undefined {
  const input = { ...call.input, ...edited };
  if (driver.edits || canonicalJson(input) === canonicalJson(call.input)) return undefined;
  return reason("guest-takes-no-edit", { agent: driver.name, input: canonicalJson(input) });
}

/** The start is on disk before the guest hears its yes. */
async function allow(
  { log }: GuestTurn,
  known: KnownCall,
  {
    verdict,
    by,
    edited,
    comment,
  }: { verdict: Verdict; by: "rule" | "person"; edited: ToolInput | undefined; comment?: string | undefined },
): Promise<GuestAnswer> {
  const { tool } = known.call;
  const data = { tool, effect: verdict.effect, digest: known.digest };
  if (!known.started) log.branch(known.place).decide(startedKey(callKeys.run(0)), "call.started", () => data);
  known.started = true;
  await log.flush();
  const input = edited && { input: { ...known.call.input, ...edited } };
  const words = besideYes(edited, comment).join("\n");
  return { type: "allowed", by, ...input, ...(words !== "" && { words }) };
}

/** The model knows its own call alone: what ran instead, and what the person said beside a yes, is told to it. */
export function besideYes(edited: ToolInput | undefined, comment: string | undefined): string[] {
  return [
    ...(edited ? [`The person changed this call before it ran, to: ${canonicalJson(edited)}`] : []),
    ...(comment?.trim() ? [`The person allowed this call and said: ${JSON.stringify(comment)}`] : []),
  ];
}

async function refuse(turn: GuestTurn, known: KnownCall, result: ToolResult, said?: string): Promise<GuestAnswer> {
  finish(turn, known, result);
  await turn.log.flush();
  const by = result.end === "refused-by-person" ? "person" : "rule";
  return { type: "refused", by, words: result.text, ...(said !== undefined && { reason: said }) };
}

async function answered(
  turn: GuestTurn,
  known: KnownCall,
  resolution: Resolution,
  talk: string | undefined,
): Promise<GuestAnswer> {
  const questions = known.request?.kind === "question" ? known.request.questions : [];
  const told = askUser.answered?.({ questions }, resolution) ?? notApproved(resolution);
  finish(turn, known, withTalk(withEnd(told, "not-run"), talk));
  await turn.log.flush();
  const response = "response" in resolution ? resolution.response : undefined;
  if (response?.type !== "answers") return { type: "refused", by: "person", words: told.text };
  const { answers, remark } = response;
  return { type: "answers", answers, ...(remark !== undefined && { remark }) };
}

/** Exactly one end for each call. Five refusals by a person in a row pause the turn. */
export function finish(turn: GuestTurn, known: KnownCall, result: ToolResult): void {
  if (known.end !== "open") return;
  const { log, context, progress } = turn;
  known.end = "finished";
  const key = known.started ? finishedKey(callKeys.run(0)) : callKeys.done;
  const kept = redacted(result, context.config.redact);
  known.result = kept.text;
  log.branch(known.place).decide(key, "call.finished", () => kept);
  const { call } = known;
  progress.toolHistory.push({ tool: call.tool, input: call.input, result: kept });
  context.memory.noteRefusals([call], [kept]);
}

export function pauseIfAtOdds({ log, context }: GuestTurn, { place }: KnownCall): void {
  const step = log.branch(stepOfKey(`${place}/${stepKeys.paused}`) ?? place);
  pauseIfRefused(step, context);
}

/** Calls that were started and whose end nobody here will hear of: the guest, which ran them, knows it. */
export function giveUp(turn: GuestTurn): void {
  const why = reason("guest-knows-end", { agent: turn.driver.name });
  for (const known of turn.book.all) {
    if (!known.started || known.end !== "open") continue;
    known.end = "unknown";
    turn.log.branch(known.place).decide(finishedKey(callKeys.run(0)), "call.unknown", () => ({ reason: why }));
  }
}
