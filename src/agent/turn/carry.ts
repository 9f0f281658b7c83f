import { rejoin } from "../../input/ask.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import { isProven } from "../../input/passkey.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { noUsage } from "../../protocol/facts/message.ts";
import type { TurnEnd } from "../../protocol/facts/outcome.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { branchKey, carriedKey, isWithinKey, requestId, saidKey, turnEndedKey, turnKey } from "../../protocol/key.ts";
import { isSameReason, plainText, reason, SageError } from "../../protocol/reasons/reason.ts";
import { askUser } from "../../tools/ask/ask-user.ts";
import type { ExecutionContext } from "../state/context.ts";
import { fold, type Folded } from "./projection.ts";
import { addRules, endTurnIfSaid, waitForPerson } from "../call/judge/request.ts";
import { notApproved } from "../call/judge/results.ts";

const MAX_TEXT_LENGTH = 500;

/** An earlier version of the loop began the last turn: its requests stay open, and once all are answered, the model is told. */
export async function carry(
  log: SessionLog,
  context: ExecutionContext,
  turn: { key: string; carries: string[] },
): Promise<void> {
  const durable = log.branch(turn.key).branch(carriedKey);
  const ends = await Promise.all(
    turn.carries.map(async (id, n) => {
      const { request, resolution } = find(log, id);
      const opened = { request, resolution, wait: () => log.wait(id) };
      const end = await waitForPerson(context, { ...opened, wait: () => rejoin(opened, context.asking) });
      endTurnIfSaid(durable, end, request);
      if (end.outcome === "answered" && end.response.type === "granted" && isProven(request, end))
        await addRules(durable.branch(branchKey(n)), context, end.response, {
          number: 0,
          by: end.by,
          surface: end.surface,
          again: resolution !== undefined,
        });
      return { request, end, talk: context.inquiries.end(context, id) };
    }),
  );
  if (durable.stopped) throw durable.stopped;
  for (const { request, end } of ends)
    if (isGrant(end) && !isUsed(log.loaded, request.id)) {
      const shown = verdictOf(log.loaded, request);
      if (shown && isWhole(request, end, shown)) context.memory.grant(request, shown);
    }
  const text = [
    `${note} ${ends.length > 0 ? "What was open then, and what became of it:" : "Nothing was open then."}]`,
    ...ends.map(tell),
  ].join("\n");
  // Under a key of its own: told once, however often the turn is begun again.
  await log.store.append(log.id, {
    key: saidKey(`${turn.key}.${carriedKey}`),
    type: "user.said",
    at: Date.now(),
    data: { text, by: "sage", surface: "update" },
  });
}

/** Ends a turn whose keys this version of the loop does not meet again, in one commit with the beginning of the next. */
export function endForeign(
  log: SessionLog,
  folded: Folded,
  { facts, loop }: { facts: readonly Fact[]; loop: number },
): Folded {
  const key = turnEndedKey(turnKey(folded.turn));
  const why = reason("begun-by-other-version", { loop: folded.open?.data.loop ?? 0, now: loop });
  const error = { code: "turn-failed", message: plainText(why), reason: why } as const;
  const stats = { steps: 0, modelCalls: 0, toolCalls: 0, durationMs: 0 };
  const data: TurnEnd = { status: "error", error, text: "", usage: noUsage, stats };
  log.branch("").decide(key, "turn.ended", () => data);
  const at = { session: log.id, seq: log.lastSeq + 1, at: Date.now() };
  return { ...fold([...facts, { ...at, key, type: "turn.ended", data }]), tasks: folded.tasks };
}

/** Open requests of a turn: the next turn carries them on. */
export function openIn(log: SessionLog, folded: Folded): string[] {
  const turn = requestId(log.id, turnKey(folded.turn));
  return log.pending().flatMap(({ id }) => (isWithinKey(id, turn) ? [id] : []));
}

const note =
  "[Sage was updated in the middle of the turn, and goes on here. A call without a result was not run, unless its result says that it was started.";

export function tell({
  request,
  end,
  talk,
}: {
  request: InputRequest;
  end: Resolution;
  talk: string | undefined;
}): string {
  return [`- ${asked(request)}`, `  ${answer(request, end)}`, ...(talk === undefined ? [] : [talk])].join("\n");
}

function find(log: SessionLog, id: string): { request: InputRequest; resolution: Resolution | undefined } {
  const found = log.store.find(id);
  if (!found) throw new SageError("journal-damaged", reason("carried-request-missing", { request: id }));
  return found;
}

/** The person saw exactly this and said yes, or wants what was cut off to run again. */
export function isGrant(end: Resolution): boolean {
  if (end.outcome !== "answered") return false;
  if (end.response.type === "granted") return end.response.input === undefined;
  return (
    end.response.type === "answers" &&
    Object.values(end.response.answers).some(({ selected }) => selected[0] === "rerun")
  );
}

/** Everybody whose yes it takes has given it. Running it again is asked of one person, and takes the same yes once more. */
export function isWhole(request: InputRequest, end: Resolution, { consent }: Verdict): boolean {
  return isProven(request, end) && (consent === undefined || request.kind === "permission");
}

/** The verdict that the person was asked about. */
function verdictOf(facts: readonly Fact[], { digest }: InputRequest): Verdict | undefined {
  const verdicts = facts.flatMap((fact) => (fact.type === "calls.judged" ? fact.data.verdicts : []));
  return verdicts.findLast((verdict) => verdict.digest === digest);
}

export function isUsed(facts: readonly Fact[], id: string): boolean {
  const used = reason("approved-earlier", { request: id });
  return facts.some(
    (fact) => fact.type === "calls.judged" && fact.data.verdicts.some((verdict) => isSameReason(verdict.reason, used)),
  );
}

function asked(request: InputRequest): string {
  switch (request.kind) {
    case "permission":
      return `May ${request.tool} run with ${short(JSON.stringify(request.input))}?`;
    case "question":
      return request.questions.map(({ question }) => short(question)).join(" ");
    case "text":
      return short(request.prompt);
    default:
      return request satisfies never;
  }
}

function answer(request: InputRequest, end: Resolution): string {
  if (request.kind === "question") return askUser.answered?.({ questions: request.questions }, end).text ?? "";
  if (end.outcome === "answered" && end.response.type === "granted") {
    const { input, comment } = end.response;
    const how = input ? ` with this input instead: ${short(JSON.stringify(input))}` : "";
    const said = comment === undefined ? "" : ` They add: ${JSON.stringify(comment)}`;
    return `The person allowed it${how}. It has not run: make the call if it is still needed.${said}`;
  }
  if (end.outcome === "answered" && end.response.type === "text")
    return `In the person's own words: ${JSON.stringify(end.response.text)}`;
  return notApproved(end).text;
}

function short(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}
