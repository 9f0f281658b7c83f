import type { Store } from "../journal/store/store.ts";
import { isOutsideSession } from "../protocol/host/outside.ts";
import type { Stats, Tally } from "../protocol/host/past.ts";
import type { Receipt } from "../protocol/host/receipt.ts";
import { answerTo, pastReceipts, type PastOptions } from "./past.ts";

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
    ...{ calls: calls.length, sessions: new Set(receipts.map(({ session }) => session)).size },
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
  const count = (one: string) => answers.filter(({ answer, isOpen }) => answer.answer === one && !isOpen).length;
  const waits = answers.flatMap(({ answer }) => answer.waitedMs ?? []).sort((a, b) => a - b);
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!;
  return {
    ...{ asked: answers.length, yes: count("yes"), no: count("no"), none: count("none") },
    open: answers.filter(({ isOpen }) => isOpen).length,
    ...(waits.length > 0 && { medianMs: at(0.5), p90Ms: at(0.9) }),
  };
}

/** The largest group first. */
function groupedBy<T>(all: readonly T[], key: (one: T) => string): [string, T[]][] {
  return [...Map.groupBy(all, key)].sort((a, b) => b[1].length - a[1].length);
}
