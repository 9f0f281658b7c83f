import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { stopTask } from "../agent/state/tasks.ts";
import { settle } from "../input/respond.ts";
import type { SessionRow, Store } from "../journal/store/store.ts";
import { tasksIn } from "../protocol/facts/session.ts";
import type { Receipt } from "../protocol/host/receipt.ts";
import {
  callKey,
  callOfKey,
  doneKey,
  isInSubagent,
  isTurnOrStep,
  isWithinKey,
  placeOfKey,
  stepOfKey,
  titleKey,
  turnEndedKey,
} from "../protocol/key.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { newSessionId } from "../journal/session/session-id.ts";
import type { Home } from "../config/home/home.ts";
import { dropOutput, forkImages, outputOf } from "./output.ts";
import { receiptsOf } from "./receipts.ts";
import { checkOwnConversation, existingSession } from "../journal/session/existing-session.ts";
import { policyPath } from "../config/settings/policy.ts";
import { projectFiles } from "../config/settings/settings.ts";
import { projectRoot } from "../config/trust/trust.ts";
import type { Fact, FactType } from "../protocol/facts/fact.ts";
import { callsOf, noUsage, type ToolResult } from "../protocol/facts/message.ts";
import { withoutRewound } from "../protocol/facts/rewound.ts";
import { createMail } from "../protocol/facts/unseen.ts";

const MAX_TITLE_LENGTH = 200;
const MAX_RECEIPT_LENGTH = 500;

type Kept = Pick<Home, "settings" | "output">;

export async function renameSession(store: Store, session: string, title: string, sender: Sender): Promise<void> {
  existingSession(store, session);
  const line = title.replace(/[\p{C}\s]+/gu, " ").trim();
  if (line === "") throw new SageError("input-invalid", reason("title-empty", {}));
  const data = { title: [...line].slice(0, MAX_TITLE_LENGTH).join(""), ...sender };
  await store.append(session, { key: titleKey(randomUUID()), type: "session.titled", at: Date.now(), data });
}

/** A new session that continues from the other's current state, or from `at`. The other is unaffected, even if it is running. */
export async function forkSession(
  store: Store,
  session: string,
  at: string | undefined,
  { output, ...sender }: Sender & Partial<Pick<Home, "output">>,
): Promise<string> {
  const { title } = existingSession(store, session);
  checkOwnConversation(store, session);
  const facts = await store.read(session);
  const fork = forkOf(facts, cutAt(facts, at));
  const id = newSessionId();
  if (output !== undefined) forkImages(output, session, id, fork);
  await store.housekeeping.copy(id, fork);
  if (title !== "") await renameSession(store, id, `${title} (fork)`, sender);
  return id;
}

/** Ends its requests first, so that surfaces that show one can say how it ended. Receipts are kept. */
export async function deleteSession(store: Store, home: Kept, session: string, sender: Sender): Promise<void> {
  const { cwd, title, owned } = existingSession(store, session);
  if (owned) throw new SageError("session-owned", reason("session-runs", { session }));
  for (const request of store.pending(session))
    await settle(store, request, {
      requestId: request.id,
      ...sender,
      at: Date.now(),
      outcome: "cancelled",
      reason: reason("session-deleted", {}),
    });
  const facts = await store.read(session);
  // Process groups of another machine have the numbers of others here, and so has its folder the names: its worker sees to both.
  if (!store.shared) await Promise.all(tasksIn(facts).tasks.map(stopTask));
  const receipts = receiptsOf(facts, ruleFiles(home, cwd)).map(slim);
  await store.housekeeping.remove(session, facts.at(-1)?.seq ?? 0, { session, cwd, title, ...sender, receipts });
  if (!store.shared) await dropOutput(store, home.output, session, outputOf(facts));
}

/** Retention of sessions and receipts in ms; undefined: forever. */
type Retention = { sessions?: number | undefined; receipts?: number | undefined };

type Retained = {
  removed: SessionRow[];
  /** Sessions as old that are kept: a turn of theirs is open. */
  open: SessionRow[];
  forgotten: number;
};

/** Deletes sessions past their retention, but never one with an open turn: somebody may still answer it. */
export async function retain(store: Store, home: Kept, retention: Retention, now = Date.now()): Promise<Retained> {
  const { sessions = Infinity, receipts = Infinity } = retention;
  const old = store.sessions().filter(({ lastAt }) => now - lastAt > sessions);
  const isOpen = ({ open, owned, pending }: SessionRow) => open || owned || pending > 0;
  const removed: SessionRow[] = [];
  for (const session of old.filter((candidate) => !isOpen(candidate))) {
    try {
      await deleteSession(store, home, session.id, { by: "retention", surface: "settings" });
      removed.push(session);
    } catch (error) {
      // Somebody continues it at this very moment: then it is not old.
      if (!(error instanceof SageError && ["session-owned", "request-pending", "journal-locked"].includes(error.code)))
        throw error;
    }
  }
  const forgotten = receipts === Infinity ? 0 : await store.housekeeping.forget(now - receipts);
  return { removed, open: old.filter(isOpen), forgotten };
}

/** Rules are known by their source; which file that is depends on where the session works. */
export function ruleFiles(home: Pick<Home, "settings">, cwd: string): Parameters<typeof receiptsOf>[1] {
  return (source) => {
    if (source === "managed") return policyPath;
    if (source === "user") return home.settings;
    return source === "session" || !existsSync(cwd) ? undefined : projectFiles(projectRoot(cwd))[source];
  };
}

/** Receipts outlive the conversation; its words do not. */
function slim(receipt: Receipt): Receipt {
  const asked = receipt.asked.map(({ request, ...entry }) => {
    if (request.kind !== "permission") return { request, ...entry };
    const { preview: _preview, parts: _parts, ...rest } = request;
    return { request: { ...rest, suggestions: [], input: {} }, ...entry };
  });
  return { ...receipt, asked, input: shortened(receipt.input) as Receipt["input"] };
}

function shortened(value: unknown): unknown {
  if (typeof value === "string")
    return value.length > MAX_RECEIPT_LENGTH ? `${value.slice(0, MAX_RECEIPT_LENGTH).toWellFormed()}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shortened(field)]));
}

/** Facts that make up a conversation. Requests, answers, verdicts, rules and drafts stay where they were given. */
const copied: readonly FactType[] = [
  "session.opened",
  "model.chosen",
  "user.said",
  "turn.begun",
  "model.replied",
  "reply.interrupted",
  "call.finished",
  "context.compacted",
  "turn.ended",
];

/** Facts of a fork at `cut`. No grant and no open request comes along; a call without a result by then reads as not run. */
export function forkOf(facts: readonly Fact[], cut: number): Fact[] {
  const kept = withoutRewound(facts.filter(({ seq }) => seq <= cut)).filter(
    ({ type, seq }) => seq <= cut && copied.includes(type),
  );
  const replied = kept.filter(
    (fact) => fact.type === "model.replied" && !isInSubagent(fact.key),
  ) as Fact<"model.replied">[];
  // A turn that had done nothing yet is left out of the fork, with its message.
  const happened = new Set(kept.flatMap(({ type, key }) => (type === "turn.begun" ? [] : [placeOfKey(key)?.turn])));
  const turns = kept.filter(({ type, key }) => type !== "turn.begun" || happened.has(key));
  const heard = Math.max(0, ...turns.map(({ data }) => ("sawUpTo" in data ? data.sawUpTo : 0)));
  const mail = createMail();
  for (const fact of turns) mail.note(fact);
  const conversation = turns.filter(
    ({ type, seq }) => type !== "user.said" || (seq <= heard && mail.fateOf(seq) === "read"),
  );
  const moved = facts.findLast((fact) => fact.type === "session.moved");
  return [
    ...conversation.map(opened(cut, moved?.data.cwd)).map(unchanged),
    ...endsFor(facts, conversation, replied, cut),
    ...ended(conversation, cut),
  ];
}

/** `1234` is a fact's number, `t2` the end of a turn, `t2/5` that of a step. Without one: as it is now. */
function cutAt(facts: readonly Fact[], at: string | undefined): number {
  if (at === undefined) return facts.at(-1)?.seq ?? 0;
  const found = /^\d+$/.test(at)
    ? facts.findLast(({ seq }) => seq <= Number(at))
    : facts.findLast(({ key }) => isTurnOrStep(at) && isWithinKey(key, at));
  if (found) return found.seq;
  throw new SageError("usage", reason("fork-place-unfit", { given: at }));
}

/** A fork works where the other session does now: the folder of its beginning may have been moved. */
function opened(cut: number, cwd: string | undefined): (fact: Fact) => Fact {
  return (fact) => {
    if (fact.type === "session.opened")
      return {
        ...fact,
        data: {
          ...fact.data,
          ...(cwd !== undefined && { cwd }),
          forkedFrom: { session: fact.session, seq: cut },
        },
      };
    if (fact.type !== "call.finished" || !fact.data.background) return fact;
    // The command belongs to the other session, which alone may stop it.
    const { background: _, ...data } = fact.data;
    return { ...fact, data };
  };
}

/** Files replaced by the other session are restored by that session alone. */
function unchanged(fact: Fact): Fact {
  if (fact.type !== "call.finished" || !fact.data.replaced) return fact;
  const { replaced: _, ...data } = fact.data;
  return { ...fact, data };
}

/** Calls that had begun by then, in the other session, are not told as if nothing had happened. */
function endsFor(
  facts: readonly Fact[],
  kept: readonly Fact[],
  replied: readonly Fact<"model.replied">[],
  seq: number,
): Fact[] {
  const done = new Set(kept.flatMap(({ type, key }) => (type === "call.finished" ? [callOfKey(key)] : [])));
  const begun = facts.filter((fact) => fact.seq <= seq && fact.type === "call.started");
  return replied.flatMap(({ session, key, data }) =>
    callsOf(data).flatMap((_, n): Fact[] => {
      const call = callKey(stepOfKey(key) ?? "", n);
      const result = begun.some(({ key }) => isWithinKey(key, call)) ? leftBehind : notRun;
      return done.has(call)
        ? []
        : [{ session, seq, key: doneKey(call), type: "call.finished", at: Date.now(), data: result }];
    }),
  );
}

const notRun: ToolResult = { ok: false, text: "Not run in this fork.", end: "not-run" };
const leftBehind: ToolResult = {
  ok: false,
  text: "This was started in the session that this one is a fork of, and its end is not known here. Check what it left behind.",
  end: "unknown",
};

function ended(facts: readonly Fact[], seq: number): Fact[] {
  const turn = facts.findLast(({ type }) => type === "turn.begun" || type === "turn.ended");
  if (turn?.type !== "turn.begun") return [];
  const stats = { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 };
  const data = { status: "cancelled", reason: reason("forked-here", {}), text: "", usage: noUsage, stats } as const;
  return [{ session: turn.session, seq, key: turnEndedKey(turn.key), type: "turn.ended", at: Date.now(), data }];
}
