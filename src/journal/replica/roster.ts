import type { Fact, FactType } from "../../protocol/facts/fact.ts";
import { emptySession, holdSession, type HeldSession } from "../store/held-session.ts";
import type { Hub } from "../store/hub.ts";
import type { Ledger, Standing } from "./ledger.ts";
import { untilWritten } from "../store/retry.ts";
import type { SessionRow } from "../store/store.ts";

/** Facts for watchers of all sessions: everything except what happens within a turn. */
const quiet: readonly FactType[] = [
  "model.replied",
  "reply.interrupted",
  "calls.judged",
  "call.started",
  "call.finished",
  "call.unknown",
  "state.changed",
  "context.compacted",
];

const POLL_MS = 5_000;

/** A session that nobody watches here: its state and its open requests. */
type Listed = HeldSession & { standing: Standing; told: number; catchingUp: Promise<void> };

export type Roster = {
  readonly sessions: ReadonlyMap<string, HeldSession>;
  row(id: string): SessionRow | undefined;
  /** The holder of the session has told its facts up to this one. */
  told(session: string, upTo: number): void;
  /** Reads what is new of a session that is not held here. */
  heard(session: string): Promise<void>;
  /** Reads everything anew: news may have been missed. */
  refresh(): Promise<void>;
};

type RosterParts = {
  isHeld(session: string): boolean;
  /** Reads what else changes without a fact. */
  look(): Promise<void>;
  signal: AbortSignal;
};

/** A list of all sessions and of everything that waits, kept as news come. */
export function createRoster(ledger: Ledger, hub: Pick<Hub, "tell">, { isHeld, look, signal }: RosterParts): Roster {
  const sessions = new Map<string, Listed>();
  let staffed: ReadonlySet<string> = new Set();
  const lookWhoWorks = async () => {
    await look();
    staffed = new Set(await ledger.staffed());
  };
  // Workers come and go without a fact.
  const looking = setInterval(() => void lookWhoWorks().catch(() => {}), POLL_MS).unref();
  signal.addEventListener("abort", () => clearInterval(looking), { once: true });
  const list = (standing: Standing): Listed => {
    const had = sessions.get(standing.id);
    if (had) return had;
    const listed = { ...emptySession(standing.cwd), standing, told: 0, catchingUp: Promise.resolve() };
    sessions.set(standing.id, listed);
    return listed;
  };
  const note = (listed: Listed, fact: Fact) => {
    if (fact.type === "input.requested" || fact.type === "time.moved") holdSession(listed, fact);
    if (fact.type !== "input.resolved") return;
    holdSession(listed, fact);
    // Neither is needed any more: a session is held while somebody watches it.
    listed.facts.length = 0;
    for (const key of listed.keys.keys()) if (!listed.open.has(key)) listed.keys.delete(key);
  };
  const catchUp = async (id: string): Promise<void> => {
    const [standing] = await untilWritten(() => ledger.standing(id), { signal });
    if (!standing) return void sessions.delete(id);
    const isNew = !sessions.has(id);
    const listed = list(standing);
    const after = isNew ? 0 : listed.standing.seq;
    if (standing.seq > after) {
      const facts = await untilWritten(() => ledger.read(id, after, { without: quiet }), { signal });
      for (const fact of facts) note(listed, fact);
      const { told } = listed;
      if (!isHeld(id)) hub.tell(facts.filter(({ seq }) => seq > told));
    }
    listed.standing = { ...standing, seq: Math.max(standing.seq, after) };
  };
  return {
    sessions,
    row(id) {
      const listed = sessions.get(id);
      if (!listed) return undefined;
      const { seq: _seq, place: name, loop: _loop, ...row } = listed.standing;
      return { ...row, pending: listed.open.size, place: { name, works: staffed.has(name) } };
    },
    told(id, upTo) {
      const listed = sessions.get(id);
      if (listed) listed.told = Math.max(listed.told, upTo);
    },
    heard(id) {
      const last = sessions.get(id)?.catchingUp ?? Promise.resolve();
      const next = last.then(() => catchUp(id)).catch(() => {}); // with the next news, then
      const listed = sessions.get(id);
      if (listed) listed.catchingUp = next;
      return next;
    },
    async refresh() {
      await untilWritten(lookWhoWorks, { signal });
      const all = await untilWritten(() => ledger.standing(), { signal });
      if (sessions.size === 0) {
        for (const standing of all) list(standing);
        const open = await untilWritten(() => ledger.open(), { signal });
        for (const fact of [...open, ...(await untilWritten(() => ledger.moves(), { signal }))]) {
          const listed = sessions.get(fact.session);
          if (listed) holdSession(listed, fact);
        }
        return;
      }
      const there = new Set(all.map(({ id }) => id));
      const deleted = [...sessions.keys()].filter((id) => !there.has(id)); // or begun a moment ago: check each
      const changed = all.filter(({ id, seq }) => sessions.get(id)?.standing.seq !== seq).map(({ id }) => id);
      await Promise.all([...deleted, ...changed].map((id) => this.heard(id)));
      for (const standing of all) {
        const listed = sessions.get(standing.id);
        if (listed && listed.standing.seq === standing.seq) listed.standing = standing;
      }
    },
  };
}
