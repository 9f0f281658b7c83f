import type { Fact, FactData } from "../../protocol/facts/fact.ts";
import { isInquiry, type InquiryFact } from "../../protocol/facts/inquiry.ts";
import { moved, type TimeMoved } from "../../protocol/facts/moved.ts";
import { unseenMessages } from "../../protocol/facts/unseen.ts";
import { approvalKeys, draftKeys, inquiryKeys, resolvedKey, splitRequestId, withoutEnd } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { LocalStore, Page, SessionRow, Store } from "./store.ts";

/** A session in memory: its facts, and what is looked up in them. */
export type HeldSession = {
  facts: Fact[];
  keys: Map<string, Fact>;
  cwd: string;
  /** Maintained as facts arrive, so that answering does not get slower as the session grows. */
  said?: Fact<"user.said">;
  titled?: Fact<"session.titled">;
  turn?: Fact<"turn.begun" | "turn.ended">;
  /** Requests without a resolution, by key. */
  open: Map<string, Fact<"input.requested">>;
  /** Gaps in which nobody enforced deadlines. */
  moves?: TimeMoved[];
};

export function emptySession(cwd: string): HeldSession {
  return { facts: [], keys: new Map(), cwd, open: new Map() };
}

/** Adds a fact that has its number. */
export function holdSession(session: HeldSession, fact: Fact): void {
  session.facts.push(fact);
  session.keys.set(fact.key, fact);
  switch (fact.type) {
    case "user.said":
      session.said ??= fact;
      return;
    case "session.titled":
      session.titled = fact;
      return;
    case "time.moved":
      (session.moves ??= []).push(fact.data);
      return;
    case "workspace.made":
    case "session.moved":
      session.cwd = fact.data.cwd;
      return;
    case "turn.begun":
    case "turn.ended":
      session.turn = fact;
      return;
    case "input.requested":
      if (!session.keys.has(resolvedKey(fact.key))) session.open.set(fact.key, fact);
      return;
    case "input.resolved":
      session.open.delete(withoutEnd(fact.key));
      return;
    default:
  }
}

/** The part of a store that reads. */
export type Reading = Pick<
  LocalStore,
  | "opened"
  | "load"
  | "pending"
  | "resolution"
  | "find"
  | "draft"
  | "approvals"
  | "inquiries"
  | "since"
  | "read"
  | "fact"
>;

/** Sessions by their id; a map is enough. */
type Sessions<H extends HeldSession> = Pick<ReadonlyMap<string, H>, "get" | "keys" | "values">;

/** The reading half of a store over sessions in memory. `older` sorts facts of several sessions. */
export function reading(sessions: Sessions<HeldSession>, older: (a: Fact, b: Fact) => number): Reading {
  const factsOf = (id: string) => sessions.get(id)?.facts ?? [];
  const resolution: Store["resolution"] = (id) => {
    const { session, key } = splitRequestId(id);
    const fact = sessions.get(session)?.keys.get(resolvedKey(key));
    return fact?.type === "input.resolved" ? fact.data : undefined;
  };
  const now = ({ session, data }: Fact<"input.requested">) => moved(data, sessions.get(session)?.moves ?? []);
  return {
    resolution,
    opened: (id) => factsOf(id)[0]?.data as FactData["session.opened"] | undefined,
    load: (id) => [...sessionIn(sessions, id).facts],
    approvals(id) {
      const { session, key } = splitRequestId(id);
      const { prefix } = approvalKeys(key);
      return factsOf(session).flatMap((fact) =>
        fact.type === "input.approved" && fact.key.startsWith(prefix) ? [fact.data] : [],
      );
    },
    pending(id, page) {
      const open = (id === undefined ? [...sessions.values()] : [sessions.get(id)])
        .flatMap((session) => (session ? [...session.open.values()] : []))
        .sort(older);
      const { session = "", key = "" } = page?.after === undefined ? {} : splitRequestId(page.after);
      const after = sessions.get(session)?.keys.get(key);
      return open
        .filter((fact) => !after || older(fact, after) > 0)
        .slice(0, page?.limit)
        .map(now);
    },
    find(id) {
      const { session, key } = splitRequestId(id);
      const asked = sessions.get(session)?.keys.get(key);
      return asked?.type === "input.requested" ? { request: now(asked), resolution: resolution(id) } : undefined;
    },
    draft(id) {
      const { session, key } = splitRequestId(id);
      const { prefix } = draftKeys(key);
      const saved = factsOf(session).findLast((fact) => fact.type === "draft.saved" && fact.key.startsWith(prefix));
      return saved?.type === "draft.saved" ? saved.data.draft : undefined;
    },
    inquiries(id) {
      const { session, key } = splitRequestId(id);
      const { from } = inquiryKeys(key);
      return factsOf(session).filter((fact): fact is InquiryFact => isInquiry(fact) && fact.key.startsWith(from));
    },
    since: (id, after, limit) =>
      factsOf(id)
        .filter((fact) => fact.seq > after)
        .slice(0, limit),
    read: (id, { types, after = 0, limit } = {}) =>
      factsOf(id)
        .filter(({ seq, type }) => seq > after && (!types || types.includes(type)))
        .slice(0, limit),
    fact: (id, key) => sessions.get(id)?.keys.get(key),
  };
}

export function sessionIn<H extends HeldSession>(sessions: Sessions<H>, id: string): H {
  const session = sessions.get(id);
  if (!session) throw new SageError("session-unknown", reason("session-missing", { session: id }));
  return session;
}

/** The session as a list shows it. */
export function rowOf(id: string, session: HeldSession, owned: boolean): SessionRow {
  const { facts, cwd, said, titled, turn, open } = session;
  return {
    id,
    cwd,
    title: titled?.data.title ?? said?.data.text.slice(0, 200) ?? "",
    at: facts[0]?.at ?? 0,
    lastAt: facts.at(-1)?.at ?? 0,
    open: turn?.type === "turn.begun",
    unheard: turn?.type !== "turn.begun" && unseenMessages(facts).length > 0,
    owned,
    pending: open.size,
  };
}

/** Sessions as a list shows them, the newest first, or a page of them. */
export function pageOf(rows: SessionRow[], { limit, after }: Page = { limit: Infinity }): SessionRow[] {
  rows.sort((a, b) => b.lastAt - a.lastAt);
  const from = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1;
  return rows.slice(from, from + limit);
}
