import { moved } from "../../protocol/facts/moved.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Inquired, InquiryFact } from "../../protocol/facts/inquiry.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import type { InboxEvent, PendingRequest, SessionSummary } from "../../protocol/host/host.ts";

/** A request as an inbox keeps it. An ended one stays for as long as somebody shows it. */
export type InboxRequest = PendingRequest & {
  inquiries: readonly Inquired[];
  /** The half-filled answer is by somebody, from somewhere. */
  draftBy?: { by: string; surface: string; at: number };
  resolution?: Resolution;
};

/** Open requests of all sessions, those that ended since, and the sessions. */
export type Inbox = {
  /** Requests by id, oldest first. */
  requests: ReadonlyMap<string, InboxRequest>;
  sessions: ReadonlyMap<string, SessionSummary>;
  /** Open requests that are not among these. */
  more: number;
};

const interrupted = { pause: "stopped", cancel: "idle", now: "running" } as const;

export const emptyInbox: Inbox = { requests: new Map(), sessions: new Map(), more: 0 };

/** A snapshot says all that is open; facts change it. */
export function foldInbox(inbox: Inbox, event: InboxEvent): Inbox {
  switch (event.type) {
    case "inbox":
      return taken(inbox, event);
    case "fact":
      return noted(inbox, event.fact);
    default:
      return event satisfies never;
  }
}

/** Requests that ended while we were disconnected: the snapshot does not say how. */
export function vanished(inbox: Inbox, event: InboxEvent & { type: "inbox" }): InboxRequest[] {
  if (event.more > 0) return [];
  const open = new Set(event.requests.map(({ request }) => request.id));
  return [...inbox.requests.values()].filter(({ request, resolution }) => !resolution && !open.has(request.id));
}

/** The request ended in this way. */
export function ended(inbox: Inbox, id: string, resolution: Resolution): Inbox {
  return changed(inbox, id, { resolution });
}

/** Takes a request out that has ended and was shown for long enough. */
export function forget(inbox: Inbox, id: string): Inbox {
  const requests = new Map(inbox.requests);
  requests.delete(id);
  return { ...inbox, requests };
}

/** Open requests, oldest first. */
export function openIn({ requests }: Inbox): InboxRequest[] {
  return [...requests.values()].filter(({ resolution }) => !resolution);
}

function taken(inbox: Inbox, { requests, more, sessions }: InboxEvent & { type: "inbox" }): Inbox {
  const over = [...inbox.requests.values()].filter(({ resolution }) => resolution);
  const open = requests.map((pending): InboxRequest => {
    const known = inbox.requests.get(pending.request.id);
    return { inquiries: [], ...(known?.draftBy && { draftBy: known.draftBy }), ...pending };
  });
  return {
    requests: new Map([...over, ...open].map((entry) => [entry.request.id, entry])),
    sessions: new Map(sessions.map((session) => [session.id, session])),
    more,
  };
}

function noted(inbox: Inbox, fact: Fact): Inbox {
  const session = inbox.sessions.get(fact.session);
  const tell = (more: Partial<SessionSummary>, requests = inbox.requests): Inbox => ({
    ...inbox,
    requests,
    sessions: new Map(inbox.sessions).set(fact.session, {
      id: fact.session,
      cwd: "",
      title: "",
      at: fact.at,
      state: "idle",
      pending: 0,
      ...session,
      lastAt: fact.at,
      ...more,
    }),
  });
  switch (fact.type) {
    case "session.opened":
    case "session.moved":
      return tell({ cwd: fact.data.cwd });
    case "session.titled":
      return tell({ title: fact.data.title });
    case "session.removed": {
      const sessions = new Map(inbox.sessions);
      sessions.delete(fact.data.session);
      return { ...inbox, sessions };
    }
    case "user.said":
      return tell({
        title: session?.title || fact.data.text,
        state: session?.state === "waiting" ? "waiting" : "running",
      });
    case "turn.begun":
      return tell({ state: "running" });
    case "turn.ended":
      return tell({ state: "idle", pending: 0 });
    case "turn.interrupted":
      // A request that a message does not end still waits.
      return tell({ state: fact.data.to === "now" && session?.pending ? "waiting" : interrupted[fact.data.to] });
    case "input.requested": {
      if (inbox.requests.has(fact.data.id)) return inbox;
      const requests = new Map(inbox.requests).set(fact.data.id, { request: fact.data, inquiries: [] });
      return tell({ state: "waiting", pending: (session?.pending ?? 0) + 1 }, requests);
    }
    case "input.resolved": {
      if (inbox.requests.get(fact.data.requestId)?.resolution) return inbox;
      const pending = Math.max(0, (session?.pending ?? 1) - 1);
      const { requests } = ended(inbox, fact.data.requestId, fact.data);
      return tell({ pending, state: pending > 0 ? "waiting" : "running" }, requests);
    }
    case "time.moved": {
      const open = [...inbox.requests.values()].filter(
        ({ request, resolution }) => request.session === fact.session && !resolution,
      );
      return open.reduce(
        (now, { request }) => changed(now, request.id, { request: moved(request, [fact.data]) }),
        inbox,
      );
    }
    case "input.approved": {
      const { approvals = [] } = inbox.requests.get(fact.data.requestId) ?? {};
      return changed(inbox, fact.data.requestId, { approvals: [...approvals, fact.data] });
    }
    case "draft.saved": {
      const { requestId, draft, by, surface } = fact.data;
      return changed(inbox, requestId, { draft, draftBy: { by, surface, at: fact.at } });
    }
    case "inquiry.made":
    case "inquiry.replied":
      return inquired(inbox, fact);
    default:
      return inbox;
  }
}

function inquired(inbox: Inbox, { type, at, data }: InquiryFact): Inbox {
  const { inquiries = [] } = inbox.requests.get(data.requestId) ?? {};
  const others = inquiries.filter(({ made }) => made.inquiry !== data.inquiry);
  if (type === "inquiry.made")
    return others.length < inquiries.length
      ? inbox
      : changed(inbox, data.requestId, { inquiries: [...inquiries, { made: data }] });
  return changed(inbox, data.requestId, {
    inquiries: inquiries.map((inquiry) =>
      inquiry.made.inquiry === data.inquiry ? { ...inquiry, reply: { ...data, at } } : inquiry,
    ),
  });
}

function changed(inbox: Inbox, id: string, more: Partial<InboxRequest>): Inbox {
  const known = inbox.requests.get(id);
  return known ? { ...inbox, requests: new Map(inbox.requests).set(id, { ...known, ...more }) } : inbox;
}
