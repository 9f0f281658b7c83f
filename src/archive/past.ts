import { sep } from "node:path";
import type { Store } from "../journal/store/store.ts";
import type { FactType } from "../protocol/facts/fact.ts";
import type { PastCall } from "../protocol/host/past.ts";
import type { Asked, Receipt } from "../protocol/host/receipt.ts";
import { receiptsOf } from "./receipts.ts";

/** Older ones say little about what a person wants today. */
const MAX_CALLS = 10_000;

/** Everything that tells how a call was decided; results, the bulk of a journal, are left out. */
const telling: readonly FactType[] = ["model.replied", "calls.judged", "input.requested", "input.resolved"];

export type PastOptions = {
  /** Only sessions in this folder or below. */ folder?: string | undefined;
  session?: string | undefined;
  since?: number | undefined;
  limit?: number;
};

/** The latest calls of the sessions, oldest first. */
export async function pastCalls(store: Store, options: PastOptions): Promise<PastCall[]> {
  return (await pastReceipts(store, options)).flatMap(({ cwd, ...receipt }) =>
    receipt.tool === "" ? [] : callOf(receipt, cwd),
  );
}

/** Receipts of the latest calls, and of Sage's own questions, oldest first, each with the folder of its session. */
export async function pastReceipts(
  store: Store,
  { folder, session, since = 0, limit = MAX_CALLS }: PastOptions,
): Promise<(Receipt & { cwd: string })[]> {
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

function callOf(receipt: Receipt, cwd: string): PastCall {
  const { id, session, at, tool, input, rule } = receipt;
  const permissions = receipt.asked.filter(({ request }) => request.kind === "permission");
  const asked = answerTo(permissions);
  const request = permissions[0]?.request;
  return {
    ...{ id, session, cwd, at, tool },
    // After an edit the input is the person's; a rule is held against what the agent wanted.
    input: request?.kind === "permission" ? request.input : input,
    decision: asked ? "asked" : receipt.decision === "refused" ? "refused" : "allowed",
    ...(rule && { rule: rule.text }),
    ...(asked && { asked }),
  };
}

/** The answer to something that was asked in one or several rounds: a no in one of them is a no. */
export function answerTo(rounds: readonly Asked[]): PastCall["asked"] {
  const answers = rounds.map(answerOf);
  const last = (answer: "yes" | "no") => answers.findLast((one) => one.answer === answer);
  return last("no") ?? last("yes") ?? answers[0];
}

function answerOf({ request, resolution }: Asked): NonNullable<PastCall["asked"]> {
  // With a reason, or by `auto`, it was given in the place of a person.
  if (!resolution || resolution.reason !== undefined || resolution.by === "auto") return { answer: "none" };
  const { by, surface, at, outcome } = resolution;
  const given = { by, surface, waitedMs: at - request.at };
  if (outcome === "declined") return { answer: "no", ...given };
  if (outcome !== "answered" && outcome !== "partial") return { answer: "none" };
  return { answer: resolution.response.type === "denied" ? "no" : "yes", ...given };
}
