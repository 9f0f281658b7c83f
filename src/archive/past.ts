import { sep } from "node:path";
import type { Store } from "../journal/store/store.ts";
import type { FactType } from "../protocol/facts/fact.ts";
import type { PastCall, Stats, Tally } from "../protocol/host/past.ts";
import type { Asked, Receipt } from "../protocol/host/receipt.ts";
import { receiptsOf } from "./receipts.ts";
import { isOutsideSession } from "../protocol/host/outside.ts";

/** Older ones say little about what a person wants today. */
const MAX_CALLS = 10_000;

/** Everything that tells how a call was decided; results, the bulk of a journal, are left out. */
const telling: readonly FactType[] = ["model.replied", "calls.judged", "input.requested", "input.resolved"];

type PastOptions = {
  /** Only sessions in this folder or below. */ folder?: string | undefined;
  session?: string | undefined;
  since?: number | undefined;
  limit?: number;
};

/** The latest calls of the sessions, oldest first. */
export async function pastCalls(store: Store, options: PastOptions): Promise<PastCall[]> {
  return (await pastReceipts(store, options)).flatMap(({ cwd, ...receipt }) =>
    receipt.tool === "" ? [] : pastCall(receipt, cwd),
  );
}

/** Receipts of the latest calls, and of Sage's own questions, oldest first, each with the folder of its session. */
async function pastReceipts(store: Store, { folder, session, since = 0, limit = MAX_CALLS }: PastOptions) {
  const isMeant = (id: string, cwd: string) =>
    (session ?? id) === id && (folder === undefined || cwd === folder || cwd.startsWith(`${folder}${sep}`));
  const found: (Receipt & { cwd: string })[] = [];
  for (const { id, cwd, lastAt } of store.sessions().toSorted((a, b) => b.lastAt - a.lastAt)) {
    if (found.length >= limit) break;
    if (lastAt < since || !isMeant(id, cwd)) continue;
    const receipts = receiptsOf(await store.read(id, { types: telling }), () => undefined);
    for (const receipt of receipts) if (receipt.at >= since) found.push({ ...receipt, cwd });
  }
  return found.sort((a, b) => a.at - b.at).slice(-limit);
}

function pastCall(receipt: Receipt, cwd: string): PastCall {
  const { id, session, at, tool, input, rule } = receipt;
  const permissions = receipt.asked.filter(({ request }) => request.kind === "permission");
  const asked = answerTo(permissions);
  const request = permissions[0]?.request;
  return {
    id,
    session,
    cwd,
    at,
    tool,
    // After an edit the input is the person's; a rule is held against what the agent wanted.
    input: request?.kind === "permission" ? request.input : input,
    decision: asked ? "asked" : receipt.decision === "refused" ? "refused" : "allowed",
    ...(rule && { rule: rule.text }),
    ...(asked && { asked }),
  };
}

/** The answer to something that was asked in one or several rounds: a no in one of them is a no. */
function answerTo(rounds: readonly Asked[]): PastCall["asked"] {
  const answers = rounds.map(pastAnswer);
  const last = (answer: "yes" | "no") => answers.findLast((each) => each.answer === answer);
  return last("no") ?? last("yes") ?? answers[0];
}

function pastAnswer({ request, resolution }: Asked): NonNullable<PastCall["asked"]> {
  // With a reason, or by `auto`, it was given in the place of a person.
  if (!resolution || resolution.reason !== undefined || resolution.by === "auto") return { answer: "none" };
  const { by, surface, at, outcome } = resolution;
  const given = { by, surface, waitedMs: at - request.at };
  if (outcome === "declined") return { answer: "no", ...given };
  if (outcome !== "answered" && outcome !== "partial") return { answer: "none" };
  return { answer: resolution.response.type === "denied" ? "no" : "yes", ...given };
}

type Answered = { tool: string; answer: NonNullable<ReturnType<typeof answerTo>>; isOpen: boolean };

export async function statsOf(store: Store, options: PastOptions): Promise<Stats> {
  const receipts = await pastReceipts(store, options);
  const calls = receipts.filter(({ tool }) => tool !== "");
  const answers = receipts.flatMap((receipt): Answered[] => {
    const { tool, asked } = receipt;
    const answer = answerTo(asked);
    const isOpen = answer?.answer === "none" && asked.some(({ resolution }) => !resolution);
    return answer ? [{ tool: tool === "" ? askerOf(receipt) : tool, answer, isOpen }] : [];
  });
  const inPerson = answers.filter(({ answer }) => answer.by !== undefined);
  return {
    calls: calls.length,
    sessions: new Set(receipts.map(({ session }) => session)).size,
    ...(receipts[0] && { since: receipts[0].at }),
    ...tallyOf(answers),
    tools: groupedBy(answers, ({ tool }) => tool).map(([tool, some]) => ({ tool, ...tallyOf(some) })),
    people: groupedBy(inPerson, ({ answer: { by, surface } }) => JSON.stringify([by, surface])).map(([who, some]) => {
      const [by, surface] = JSON.parse(who) as [string, string];
      return { by, surface, ...tallyOf(some) };
    }),
    rules: groupedBy(calls.filter(isSpared), ({ rule }) => rule!.text).map(([rule, some]) => ({
      rule,
      spared: some.length,
    })),
  };
}

/** Sage itself, or the agent that asks from outside. */
function askerOf({ session, agent }: Receipt): string {
  return isOutsideSession(session) ? (agent[0] ?? "") : "Sage";
}

function isSpared({ rule, decision, asked }: Receipt): boolean {
  return rule !== undefined && decision === "allowed" && asked.length === 0;
}

function tallyOf(answers: readonly Answered[]): Tally {
  const count = (wanted: string) => answers.filter(({ answer, isOpen }) => answer.answer === wanted && !isOpen).length;
  const waits = answers.flatMap(({ answer }) => answer.waitedMs ?? []).sort((a, b) => a - b);
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!;
  return {
    asked: answers.length,
    yes: count("yes"),
    no: count("no"),
    none: count("none"),
    open: answers.filter(({ isOpen }) => isOpen).length,
    ...(waits.length > 0 && { medianMs: at(0.5), p90Ms: at(0.9) }),
  };
}

/** The largest group first. */
function groupedBy<T>(all: readonly T[], key: (item: T) => string): [string, T[]][] {
  return [...Map.groupBy(all, key)].sort((a, b) => b[1].length - a[1].length);
}
