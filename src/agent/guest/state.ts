import type { Guest, GuestDriver, Spending } from "../../guest/driver.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { Fact, FactData } from "../../protocol/facts/fact.ts";
import {
  addUsage,
  callsOf,
  noUsage,
  textOf,
  type Heard,
  type ToolResult,
  type Usage,
} from "../../protocol/facts/message.ts";
import { guestKeys, isWithinKey } from "../../protocol/key.ts";
import type { ExecutionContext, Progress, Tools } from "../state/context.ts";
import type { Turn } from "../turn/turn.ts";
import type { CallEvent } from "../call/judge/call-state.ts";
import { createBook, type Book, type KnownCall } from "./book.ts";

/** A turn that a guest runs, as far as it has come: a fold of its facts, kept up to date while it runs. */
export type GuestTurn = {
  log: SessionLog;
  key: string;
  driver: GuestDriver;
  context: ExecutionContext;
  progress: Progress;
  book: Book;
  /** The messages that began it, and up to where older ones go. */
  begun: Heard;
  older: number;
  /** Seq of the newest message that the guest was given. */
  heard: Heard;
  /** The guest's session, by which it is resumed. */
  joined: { session: string; version: string } | undefined;
  /** The session that was to be resumed at the last start. */
  resumed: string | undefined;
  runs: number;
  /** Times that it joined, and was parked, in this turn. */
  joins: number;
  parks: number;
  /** Calls left over from earlier turns, by id: requests about them are moot. */
  leftover: ReadonlySet<string>;
  /** Calls of this turn that it was left with last. */
  parked: ReadonlySet<string>;
  /** Totals that its conversation told last, and what its messages have told since, with what no reply has recorded yet. */
  told: { total: Spending; since: Usage; unsaid: Usage };
  /** A limit of spending was reached: the guest is interrupted, and a person asked. */
  limited: boolean;
  /** All that is known of the delivery of answers, by the ids of their requests. */
  deliveries: Map<string, "read" | "lost" | "unknown">;
  /** An answer got lost on the way to it just now: it is told in words. */
  untold: boolean;
  /** Ends of requests that somebody here waits for: each is waited for once. */
  ends: Map<KnownCall, Promise<Resolved>>;
};

export type Resolved = CallEvent & { type: "resolved" };

export function foldTurn(
  log: SessionLog,
  { key, context, progress, begun, heard }: Turn,
  driver: GuestDriver,
): GuestTurn {
  const facts = log.loaded;
  const mine = facts.filter((fact) => isWithinKey(fact.key, key));
  const joined = facts.findLast((fact): fact is Fact<"guest.joined"> => fact.type === "guest.joined");
  const { tree, memory } = context;
  tree.usd = undefined; // prices are between the person and the guest's own account
  const book = createBook(facts, key);
  for (const fact of facts) {
    if (fact.type === "user.said" && fact.seq > heard) memory.forgetRefusals();
    if (!isWithinKey(fact.key, key)) continue;
    if (fact.type === "model.replied") {
      progress.steps++;
      progress.text = textOf(fact.data) || progress.text;
      progress.sawUpTo = Math.max(progress.sawUpTo, fact.data.sawUpTo);
      tree.usage = addUsage(tree.usage, fact.data.usage);
      tree.modelCalls++;
      tree.toolCalls += callsOf(fact.data).length;
    } else if (fact.type === "guest.parked") tree.usage = addUsage(tree.usage, fact.data.spent?.more.usage ?? noUsage);
    else if (fact.type === "turn.interrupted") memory.refusalsInRow = 0;
    else if (fact.type === "call.finished") noteEnd(context, progress, book, fact);
  }
  return {
    log,
    key,
    driver,
    context,
    progress,
    book,
    begun,
    older: heard,
    heard: { sawUpTo: progress.sawUpTo, ...(begun.without && { without: begun.without }) },
    joined: joined?.data,
    resumed: undefined,
    runs: 0,
    joins: mine.filter(({ type }) => type === "guest.joined").length,
    parks: mine.filter(({ type }) => type === "guest.parked").length,
    told: toldSoFar(facts),
    limited: false,
    ends: new Map(),
    untold: false,
    deliveries: readDeliveries(facts),
    parked: new Set(mine.findLast((fact) => fact.type === "guest.parked")?.data.calls),
    leftover: new Set(
      facts.flatMap((fact) => (fact.type === "guest.parked" && !isWithinKey(fact.key, key) ? fact.data.calls : [])),
    ),
  };
}

function readDeliveries(facts: readonly Fact[]): GuestTurn["deliveries"] {
  const known: GuestTurn["deliveries"] = new Map();
  for (const { type, data } of facts)
    if (type === "answer.delivered") known.set(data.requestId, "read");
    else if (type === "answer.undelivered") known.set(data.requestId, data.unknown ? "unknown" : "lost");
  return known;
}

function noteEnd({ memory }: Tools, progress: Progress, book: Book, { key, data }: Fact & { data: ToolResult }): void {
  const known = book.all.findLast(({ place }) => isWithinKey(key, place));
  if (!known) return;
  memory.noteRefusals([known.call], [data]);
  const { tool, input } = known.call;
  progress.toolHistory.push({ tool, input, result: data });
}

/** The guest has joined: recorded before the first message is sent to it. */
export async function noteJoined(turn: GuestTurn, { session, version, model }: Guest): Promise<void> {
  if (turn.joined?.session !== session) {
    turn.book.forget();
    turn.told = { total: {}, since: noUsage, unsaid: noUsage };
  }
  const isNew = turn.joins === 0 || turn.joined?.session !== session || turn.joined.version !== version;
  turn.joined = { session, version };
  if (!isNew) return;
  const { name: agent, parks } = turn.driver;
  const keeps = parks === "on leaving" && ({ keeps: true } as const);
  const data = { agent, session, version, ...(model !== undefined && { model }), ...keeps, delivers: true } as const;
  turn.log.branch(turn.key).decide(guestKeys.joined(turn.joins++), "guest.joined", () => data);
  await turn.log.flush();
}

export async function noteParked(
  turn: GuestTurn,
  calls: string[],
  spent?: FactData["guest.parked"]["spent"],
): Promise<void> {
  turn.parked = new Set(calls);
  if (turn.log.closed) return;
  const data = { calls, ...(spent && { spent }) };
  turn.log.branch(turn.key).decide(guestKeys.parked(turn.parks++), "guest.parked", () => data);
  await turn.log.flush();
}

/** The guest has told what its conversation used: kept with what that is more than is known. */
export async function noteSpent(turn: GuestTurn, total: Spending | undefined): Promise<void> {
  const { told, context } = turn;
  // A guest that begins to count anew has used all that it tells.
  const before = (total?.usd ?? 0) < (told.total.usd ?? 0) ? {} : told.total;
  const usage = total?.usage ? lessUsage(lessUsage(total.usage, before.usage ?? noUsage), told.since) : told.unsaid;
  const usd = total?.usd === undefined ? undefined : total.usd - (before.usd ?? 0);
  const more = { ...(usage.inputTokens + usage.outputTokens > 0 && { usage }), ...(usd && { usd }) };
  if (!more.usage && !more.usd) return;
  context.tree.usage = addUsage(context.tree.usage, lessUsage(usage, told.unsaid));
  turn.told = { total: total ?? told.total, since: noUsage, unsaid: noUsage };
  await noteParked(turn, [...turn.parked], { ...(total && { total }), more });
}

function toldSoFar(facts: readonly Fact[]): GuestTurn["told"] {
  const joined = facts.findLast((fact) => fact.type === "guest.joined")?.data.session;
  const from = facts.findIndex((fact) => fact.type === "guest.joined" && fact.data.session === joined);
  const own = from < 0 ? [] : facts.slice(from);
  const last = own.findLastIndex((fact) => fact.type === "guest.parked" && fact.data.spent?.total !== undefined);
  const parked = own[last];
  const replies = own.slice(last + 1).flatMap((fact) => (fact.type === "model.replied" ? [fact.data.usage] : []));
  const total = parked?.type === "guest.parked" ? parked.data.spent?.total : undefined;
  return { total: total ?? {}, since: replies.reduce(addUsage, noUsage), unsaid: noUsage };
}

function lessUsage(a: Usage, b: Usage): Usage {
  const left = (name: keyof Usage) => Math.max(0, a[name] - b[name]);
  return {
    inputTokens: left("inputTokens"),
    outputTokens: left("outputTokens"),
    cacheReadTokens: left("cacheReadTokens"),
    cacheWriteTokens: left("cacheWriteTokens"),
  };
}
