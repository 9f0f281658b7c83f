import type { Store } from "../../journal/store/store.ts";
import { costOf, type Prices } from "../../models/prices.ts";
import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { noUsage, type Usage } from "../../protocol/facts/message.ts";
import { choiceOf } from "../../protocol/facts/request.ts";
import type { LimitReached } from "../../protocol/reasons/turn.ts";
import { turnNumber } from "../../protocol/key.ts";

type Scope = LimitReached["scope"];
type Unit = LimitReached["unit"];

type Amounts = { [U in Unit]?: number | undefined };

/**
 * Tokens and dollars that may be used before a person is asked: by a turn, by a session, and on a local day by all turns that one person
 * began or by everybody. `people`: other amounts for somebody, by name.
 */
export type SpendLimits = { [S in Scope]?: Amounts | undefined } & {
  people?: Readonly<Record<string, Amounts | undefined>> | undefined;
};

/** Something that was paid for, or a person's word to go on, which counts as `granted` for its limit. */
type Entry = { at: number; turn: number; person: string; tokens: number; usd: number; granted?: LimitReached };

const read: readonly FactType[] = [
  ...(["user.said", "turn.begun", "model.replied", "context.compacted", "inquiry.replied"] as const),
  ...(["session.titled", "guest.parked", "input.requested", "input.resolved"] as const),
];
const scopes: readonly Scope[] = ["turn", "session", "person", "day"];
const units: readonly Unit[] = ["tokens", "usd"];

/**
 * The first limit that the open turn of the session has reached, from the facts of all sessions: other processes spend on the same day.
 * After a person said go on, as much again may be used. A model without a known price counts tokens alone.
 */
export async function limitReached(
  store: Store,
  session: string,
  { limits, prices, now = new Date() }: { limits: SpendLimits; prices: Prices | undefined; now?: Date },
): Promise<LimitReached | undefined> {
  const own = spendingIn(await store.read(session, { types: read }), prices);
  const turn = own.at(-1)?.turn ?? 0;
  const person = own.at(-1)?.person ?? "";
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const personal = limits.people && Object.hasOwn(limits.people, person) ? limits.people[person] : undefined;
  const today = limits.person || personal || limits.day ? await sinceMidnight(store, session, midnight, prices) : [];
  const ofDay = [...own.filter(({ at }) => at >= midnight), ...today];
  const counted: Record<Scope, Entry[]> = {
    turn: own.filter((entry) => entry.turn === turn),
    session: own,
    person: ofDay.filter((entry) => entry.person === person),
    day: ofDay,
  };
  for (const scope of scopes)
    for (const unit of units) {
      const limit = (scope === "person" ? personal?.[unit] : undefined) ?? limits[scope]?.[unit];
      if (limit === undefined) continue;
      const spent = counted[scope].reduce((sum, entry) => sum + entry[unit], 0);
      const granted = counted[scope].flatMap((entry) =>
        entry.granted?.scope === scope && entry.granted.unit === unit ? [entry.granted.spent] : [],
      );
      if (spent >= limit + Math.max(0, ...granted)) return { scope, unit, spent, limit };
    }
  return undefined;
}

async function sinceMidnight(store: Store, own: string, midnight: number, prices: Prices | undefined) {
  const others = store.sessions().filter(({ id, lastAt }) => id !== own && lastAt >= midnight);
  const entries = await Promise.all(
    others.map(async ({ id }) => spendingIn(await store.read(id, { types: read }), prices)),
  );
  return entries.flat().filter(({ at }) => at >= midnight);
}

/** The entries of a session. The last one is of its newest turn, also when that has used nothing yet. */
function spendingIn(facts: readonly Fact[], prices: Prices | undefined): Entry[] {
  const entries: Entry[] = [];
  const asked = new Map<string, LimitReached>();
  const said = facts.filter(
    (fact) => fact.type === "user.said" && fact.data.surface !== "update",
  ) as Fact<"user.said">[];
  // A guest that tells money has priced its messages itself.
  const tellsMoney = facts.some((fact) => fact.type === "guest.parked" && fact.data.spent?.more.usd !== undefined);
  let [turn, person, heard] = [0, said[0] ? speaker(said[0]) : "", 0];
  const add = (at: number, usage: Usage = noUsage, model = "", usd?: number) => {
    const tokens = usage.inputTokens + usage.outputTokens;
    entries.push({ at, turn, person, tokens, usd: usd ?? (tellsMoney ? 0 : (costOf(usage, model, prices) ?? 0)) });
  };
  for (const { at, key, type, data } of facts as Fact[]) {
    if (type === "turn.begun") {
      // A turn that nobody's message began is of the person who began the one before it.
      const first = said.find(({ seq }) => seq > heard && seq <= data.sawUpTo && !data.without?.includes(seq));
      [turn, person] = [turnNumber(key) ?? 0, first ? speaker(first) : person];
      add(at);
    } else if (type === "guest.parked") add(at, data.spent?.more.usage, "", data.spent?.more.usd);
    else if (type === "model.replied" || type === "inquiry.replied") add(at, data.usage, data.model);
    else if (type === "context.compacted" || type === "session.titled") add(at, data.usage, data.model);
    else if (type === "input.requested" && data.why.code === "limit-reached") asked.set(data.id, data.why.args);
    else if (type === "input.resolved") {
      const granted = asked.get(data.requestId);
      if (granted && choiceOf(data) === "go on") entries.push({ at, turn, person, tokens: 0, usd: 0, granted });
    }
    if (type === "turn.begun" || type === "model.replied") heard = Math.max(heard, data.sawUpTo);
  }
  return entries;
}

function speaker({ data }: Fact<"user.said">): string {
  return data.name ?? data.by;
}
