import { needsConsent } from "../protocol/facts/consent.ts";
import type { Delta, Fact } from "../protocol/facts/fact.ts";
import { isInquiry, withInquiry, type Inquired } from "../protocol/facts/inquiry.ts";
import { beginsAttempt } from "../protocol/facts/session.ts";
import type { Command, CommandReply, Host, PendingRequest, WatchEvent } from "../protocol/host/host.ts";
import type { Item, SaidItem } from "./transcript/item.ts";
import { createProgress, type Progress } from "./transcript/progress.ts";
import { createTranscript } from "./transcript/transcript.ts";

/**
 * `stopped`: a turn is open or a message waits, and no process works on it: `resume` continues it. `paused`: a person has
 * paused the turn, which waits for a word of theirs.
 */
export type RunState = "idle" | "running" | "paused" | "stopped";

/** An open request, with everything that is known of it. It keeps its identity while it changes. */
export type OpenRequest = PendingRequest & { inquiries: readonly Inquired[] };

/** A session as it is now. Read it again whenever something has changed: `requests` and `queue` are lists of that moment. */
export type Session = {
  readonly id: string;
  /** `joining`: facts of before are being read. `lost`: the connection to a host that is elsewhere is being dialled again. */
  readonly phase: "joining" | "live" | "lost";
  /** State of the turn. */
  readonly run: RunState;
  /** Text and output come as they happen. False: another process runs it and does not answer, and only facts come. */
  readonly streams: boolean;
  /** Open requests, oldest first. */
  readonly requests: readonly OpenRequest[];
  /** Messages that wait for the next step, oldest first. */
  readonly queue: readonly SaidItem[];
  /** Everything there is to draw, in order: of the whole session, or of the turn under way (`keep`). */
  readonly items: ReadonlySet<Item>;
  readonly progress: Readonly<Progress>;
  /** The newest fact. */
  readonly seq: number;
};

/** A difference to before. The session has changed already when somebody is told. */
export type SessionChange =
  /** Messages before those turns that are told. */
  | { type: "earlier"; messages: number }
  /** `items` are new or have changed. `past`: it happened before the session was joined. */
  | { type: "fact"; fact: Fact; items: readonly Item[]; past: boolean }
  /** `refused`: a turn could not begin or go on, and the text says why. */
  | { type: "delta"; delta: Delta; items: readonly Item[]; refused: boolean }
  /** Told after the fact, or with the reply, that causes it. Of requests that are open on joining, `joined` tells. */
  | { type: "request"; is: "opened" | "changed" | "reminded" | "ended"; request: OpenRequest }
  | { type: "joined" }
  /** Another process runs the session, or none does any more. */
  | { type: "owner"; before: Pick<Session, "run" | "streams"> }
  | { type: "link"; lost: boolean };

type RequestChange = SessionChange & { type: "request" };

/** How a session is followed. */
export type SessionOptions = {
  /** Told of each change, in order. */
  changed(change: SessionChange): void;
  /** Items that are kept: all of them, if left out, or those since the turn under way began. */
  keep?: "session" | "turn";
  /** The past from this fact on is told: everything before is known and not told. Without it the whole past is told. */
  tellFrom?(facts: readonly Fact[]): { from: number; earlier: number };
  now?(): number;
};

/** The states of a followed session: what a host tells goes in, and what has changed comes out. */
export type SessionMachine = Session & {
  hear(event: WatchEvent): void;
  /** A command is on its way. The reply may say more than the facts that have come so far. */
  sends(command: Command, reply: Promise<CommandReply>): Promise<void>;
};

export function createSession(
  id: string,
  { changed, keep = "session", tellFrom, now }: SessionOptions,
): SessionMachine {
  const transcript = createTranscript({ ...(now && { now }) });
  const progress = createProgress();
  const requests = new Map<string, OpenRequest>();
  const items = new Set<Item>();
  const queue = new Set<SaidItem>();
  const past: Fact[] = [];
  let joined = false;
  let lost = false;
  let streams = true;
  /** A process runs the session, as far as this one knows. */
  let owned = true;
  let refused = false;
  /** Commands on their way that let it work, and the newest message that was taken. */
  let sending = 0;
  let taken = 0;
  let seq = 0;

  const runOf = (): RunState => {
    if (sending > 0 || taken > seq) return "running";
    if (!progress.working || refused) return progress.open ? "paused" : "idle";
    return owned ? "running" : "stopped";
  };
  /** Calls run for as long as the process that runs them. */
  const left = () => {
    owned = false;
    progress.running.clear();
  };
  const take = (more: readonly Item[]): readonly Item[] => {
    for (const item of more) {
      items.add(item);
      if (item.type !== "said") continue;
      if (item.read || item.withdrawn) queue.delete(item);
      else queue.add(item);
    }
    return more;
  };
  const end = (requestId: string): RequestChange | undefined => {
    const request = requests.get(requestId);
    requests.delete(requestId);
    return request && { type: "request", is: "ended", request };
  };
  const ask = (fact: Fact): RequestChange | undefined => {
    if (fact.type === "input.resolved") return end(fact.data.requestId);
    if (fact.type === "input.requested") {
      if (requests.has(fact.data.id)) return undefined;
      const request = { request: fact.data, inquiries: [], ...(needsConsent(fact.data) && { approvals: [] }) };
      requests.set(fact.data.id, request);
      return { type: "request", is: "opened", request };
    }
    const request = "requestId" in fact.data ? requests.get(fact.data.requestId) : undefined;
    if (!request) return undefined;
    const reminded = fact.type === "input.reminded" || fact.type === "input.escalated";
    Object.assign(request, changedFields(request, fact));
    return { type: "request", is: reminded ? "reminded" : "changed", request };
  };
  const tell = (change: RequestChange | undefined): void => {
    if (change && joined) changed(change);
  };
  const note = (fact: Fact, { past, told }: { past: boolean; told: boolean }): void => {
    seq = fact.seq;
    if (fact.type === "turn.begun" && keep === "turn") items.clear();
    if (fact.type === "user.said" || fact.type === "turn.begun" || beginsAttempt(fact))
      [owned, refused] = [true, false];
    progress.note(fact);
    const more = take(transcript.fact(fact));
    const asked = ask(fact);
    if (told) changed({ type: "fact", fact, items: more, past });
    tell(asked);
  };
  const join = (event: WatchEvent & { type: "ready" }): void => {
    const { from, earlier } = tellFrom?.(past) ?? { from: 0, earlier: 0 };
    if (earlier > 0) changed({ type: "earlier", messages: earlier });
    past.forEach((fact, n) => note(fact, { past: true, told: n >= from }));
    past.length = 0;
    const known = new Map(requests);
    requests.clear();
    for (const pending of event.requests)
      requests.set(pending.request.id, Object.assign(known.get(pending.request.id) ?? { inquiries: [] }, pending));
    streams = event.live;
    if (event.owned) owned = true;
    else left();
    joined = true;
    changed({ type: "joined" });
  };
  const owner = (event: WatchEvent & { type: "owner" }): void => {
    const before = { run: runOf(), streams };
    streams = event.live;
    if (event.stopped) left();
    else owned = true;
    if (before.streams !== streams || before.run !== runOf()) changed({ type: "owner", before });
  };

  return {
    id,
    progress,
    items,
    get phase() {
      return lost ? "lost" : joined ? "live" : "joining";
    },
    get run() {
      return runOf();
    },
    get streams() {
      return streams;
    },
    get requests() {
      return [...requests.values()];
    },
    get queue() {
      return [...queue];
    },
    get seq() {
      return seq;
    },
    hear(event) {
      switch (event.type) {
        case "fact":
          if (!joined && tellFrom) past.push(event.fact);
          else note(event.fact, { past: !joined, told: true });
          return;
        case "delta": {
          const { delta } = event;
          if (isRefusal(delta)) refused = true;
          return changed({ type: "delta", delta, items: take(transcript.delta(delta)), refused: isRefusal(delta) });
        }
        case "ready":
          return join(event);
        case "owner":
          return owner(event);
        case "link":
          lost = event.lost;
          return changed({ type: "link", lost: event.lost });
        default:
          return event satisfies never;
      }
    },
    async sends(command, replied) {
      const works = command.type === "say" || command.type === "resume" || command.type === "compact";
      if (works) sending++;
      if (command.type === "saveDraft") Object.assign(requests.get(command.requestId) ?? {}, { draft: command.draft });
      const reply = await replied.finally(() => works && sending--);
      if (command.type === "respond") answered(command.response.requestId, reply as CommandReply<"respond">);
      if (!reply.ok) return;
      if (command.type === "say") taken = Math.max(taken, (reply as { seq: number }).seq);
      if (command.type === "resume") {
        owned = true;
        progress.working ||= progress.open;
      }
      if ("results" in reply)
        for (const each of reply.results) if (each.ok || each.resolution) tell(end(each.requestId));
      if (command.type === "interrupt" && "to" in reply && reply.to === "cancel")
        for (const requestId of requests.keys()) tell(end(requestId));
    },
  };

  function answered(requestId: string, reply: CommandReply<"respond">): void {
    if (reply.resolution) return tell(end(requestId));
    const request = requests.get(requestId);
    if (!reply.ok || !request) return;
    request.approvals = reply.approved.approvals;
    tell({ type: "request", is: "changed", request });
  }
}

/** Fields of an open request that a fact has changed. */
function changedFields(
  { inquiries, approvals = [] }: Pick<OpenRequest, "inquiries" | "approvals">,
  fact: Fact,
): Partial<OpenRequest> {
  if (isInquiry(fact)) return { inquiries: withInquiry(inquiries, fact) };
  if (fact.type === "draft.saved") return { draft: fact.data.draft };
  if (fact.type !== "input.approved") return {};
  return { approvals: [...approvals.filter(({ by }) => by !== fact.data.by), fact.data] };
}

/** The process that was to run the session says why it does not. */
function isRefusal({ kind, key }: Delta): boolean {
  return kind === "notice" && key === "host";
}

/** How a session of a host is followed. */
export type FollowOptions = SessionOptions & {
  /** Ends the watch. */
  signal: AbortSignal;
  /** Facts of the last turns only. */
  last?: number;
  /** May the session be continued in this process when it was answered and nobody runs it? Yes, if left out. */
  resumes?(): boolean;
};

/** A session of a host, and the way to tell it something. */
export type FollowedSession = Session & {
  /** Sends a command about the session, and knows at once what the reply says. */
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]>>;
  /** Settles when the watch has ended. */
  readonly done: Promise<void>;
};

/** Follows a session for somebody who draws it: `changed` is told of each thing that is different, in order. */
export function followSession(
  host: Pick<Host, "send" | "watch">,
  id: string,
  { signal, last, resumes = () => true, ...options }: FollowOptions,
): FollowedSession {
  const session = createSession(id, options);
  const follow = async () => {
    for await (const event of host.watch(id, { signal, ...(last !== undefined && { last }) })) session.hear(event);
  };
  const send: FollowedSession["send"] = async (command) => {
    const replied = host.send(command);
    await session.sends(command, replied);
    const reply = await replied;
    if (isLeftAlone(reply) && resumes()) void send({ type: "resume", session: id });
    return reply;
  };
  // A session has getters: a copy would not follow it.
  return Object.defineProperties(
    { send, done: follow() } as FollowedSession,
    Object.getOwnPropertyDescriptors(session),
  );
}

/** An answer or an inquiry was recorded, and no process runs the session. */
function isLeftAlone(reply: CommandReply): boolean {
  if (!reply.ok) return false;
  if ("results" in reply) return reply.results.some((each) => each.ok && !each.running);
  return "running" in reply && !reply.running;
}
