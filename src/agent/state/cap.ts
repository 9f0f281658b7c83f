import type { Store } from "../../journal/store/store.ts";
import { costOf, type Prices } from "../../models/prices.ts";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { noUsage, type Usage } from "../../protocol/facts/message.ts";
import { choiceOf } from "../../protocol/facts/request.ts";
import type { LimitReached } from "../../protocol/reasons/turn.ts";
import { turnNumber } from "../../protocol/key.ts";

type Scope = LimitReached["scope"];
type Unit = LimitReached["unit"];

/** Tokens and dollars that may be used before a person is asked: by a turn, by a session, and on a local day by all turns that one person began or by everybody. */
export type SpendLimits = { [S in Scope]?: { [U in Unit]?: number | undefined } | undefined };

/** A reply that was paid for, or a person's word to go on, which counts as `granted` for its limit. */
type Entry = { at: number; turn: number; person: string } & (
  | { usage: Usage; model: string }
  | { granted: LimitReached }
);

const read: readonly FactType[] = [
  ...(["user.said", "turn.begun", "model.replied", "context.compacted", "inquiry.replied"] as const),
  ...(["session.titled", "input.requested", "input.resolved"] as const),
];
const scopes: readonly Scope[] = ["turn", "session", "person", "day"];
const units: readonly Unit[] = ["tokens", "usd"];

/** The first limit reached, over all sessions of the day. After "go on" as much again may be used. Without a price only tokens count. */
export async function limitReached(
  store: Store,
  session: string,
  { limits, prices, now = new Date() }: { limits: SpendLimits; prices: Prices | undefined; now?: Date },
): Promise<LimitReached | undefined> {
  const own = spendingIn(await store.read(session, { types: read }));
  const turn = own.at(-1)?.turn ?? 0;
  const person = own.at(-1)?.person ?? "";
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const today = limits.person || limits.day ? await sinceMidnight(store, session, midnight) : [];
  const ofDay = [...own.filter(({ at }) => at >= midnight), ...today];
  const counted: Record<Scope, Entry[]> = {
    turn: own.filter((entry) => entry.turn === turn),
    session: own,
    person: ofDay.filter((entry) => entry.person === person),
    day: ofDay,
  };
  for (const scope of scopes)
    for (const unit of units) {
      const limit = limits[scope]?.[unit];
      if (limit === undefined) continue;
      const spent = spentBy(counted[scope], unit, prices);
      const granted = counted[scope].flatMap((entry) =>
        "granted" in entry && entry.granted.scope === scope && entry.granted.unit === unit ? [entry.granted.spent] : [],
      );
      if (spent >= limit + Math.max(0, ...granted)) return { scope, unit, spent, limit };
    }
  return undefined;
}

function spentBy(entries: readonly Entry[], unit: Unit, prices: Prices | undefined): number {
  return entries.reduce((sum, entry) => {
    if ("granted" in entry) return sum;
    const { usage, model } = entry;
    return sum + (unit === "tokens" ? usage.inputTokens + usage.outputTokens : (costOf(usage, model, prices) ?? 0));
  }, 0);
}

async function sinceMidnight(store: Store, own: string, midnight: number): Promise<Entry[]> {
  const others = store.sessions().filter(({ id, lastAt }) => id !== own && lastAt >= midnight);
  const entries = await Promise.all(others.map(async ({ id }) => spendingIn(await store.read(id, { types: read }))));
  return entries.flat().filter(({ at }) => at >= midnight);
}

/** The entries of a session. The last one is of its newest turn, also when that has used nothing yet. */
function spendingIn(facts: readonly Fact[]): Entry[] {
  const entries: Entry[] = [];
  const asked = new Map<string, LimitReached>();
  let [turn, person, said] = [0, "", ""];
  const add = (at: number, model: string, usage: Usage | undefined) =>
    usage && entries.push({ at, turn, person, usage, model });
  for (const { at, key, type, data } of facts as Fact[])
    if (type === "user.said") said = data.name ?? data.by;
    else if (type === "turn.begun") {
      // A turn that nobody's message began is of the person who spoke last.
      [turn, person] = [turnNumber(key) ?? 0, said];
      add(at, "", noUsage);
    } else if (type === "model.replied" || type === "inquiry.replied")
      add(at, "model" in data ? (data.model ?? "") : "", data.usage);
    else if (type === "context.compacted" || type === "session.titled") add(at, "", data.usage);
    else if (type === "input.requested" && data.why.code === "limit-reached") asked.set(data.id, data.why.args);
    else if (type === "input.resolved") {
      const granted = asked.get(data.requestId);
      if (granted && choiceOf(data) === "go on") entries.push({ at, turn, person, granted });
    }
  return entries;
}
