import { needsConsent } from "../protocol/facts/consent.ts";
import type { Delta, Fact } from "../protocol/facts/fact.ts";
import { isInquiry, withInquiry, type Inquired } from "../protocol/facts/inquiry.ts";
import { moved, type TimeMoved } from "../protocol/facts/moved.ts";
import { beginsAttempt } from "../protocol/facts/session.ts";
import type { Command, CommandReply, Host, PendingRequest, Refused, WatchEvent } from "../protocol/host/host.ts";
import { isQueued, type Item, type SaidItem } from "./transcript/item.ts";
import { createProgress, type Progress } from "./transcript/progress.ts";
import { createTranscript } from "./transcript/transcript.ts";

/** `stopped`: work is open and no process does it: `resume` continues. `paused`: by a person, until their next word. */
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

/** A change. The session already has the new state when this is delivered. */
export type SessionChange =
  /** Messages before the turns that are shown. */
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
  /** Report the past from this fact on; everything before it is only folded. Without it the whole past is reported. */
  tellFrom?(facts: readonly Fact[]): { from: number; earlier: number };
  now?(): number;
};

/** The states of a followed session: what a host tells goes in, and what has changed comes out. */
type SessionMachine = Session & {
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
  const requests = createOpenRequests();
  const { items, queue, take } = createDrawn();
  const run = createRun(progress);
  const past: Fact[] = [];
  let joined = false;
  let lost = false;
  let streams = true;
  let seq = 0;

  const tell = (change: RequestChange | undefined): void => {
    if (change && joined) changed(change);
  };
  const note = (fact: Fact, { past, told }: { past: boolean; told: boolean }): void => {
    seq = fact.seq;
    if (fact.type === "turn.begun" && keep === "turn") items.clear();
    if (fact.type === "user.said" || fact.type === "turn.begun" || beginsAttempt(fact)) run.begins();
    progress.note(fact);
    const more = take(transcript.fact(fact));
    const asked = requests.note(fact);
    const put = fact.type === "time.moved" ? requests.move(fact.data) : [];
    if (told) changed({ type: "fact", fact, items: more, past });
    for (const change of [asked, ...put]) tell(change);
  };
  const join = (event: WatchEvent & { type: "ready" }): void => {
    const { from, earlier } = tellFrom?.(past) ?? { from: 0, earlier: 0 };
    if (earlier > 0) changed({ type: "earlier", messages: earlier });
    past.forEach((fact, n) => note(fact, { past: true, told: n >= from }));
    past.length = 0;
    requests.join(event.requests);
    streams = event.live;
    run.owned(event.owned);
    joined = true;
    changed({ type: "joined" });
  };
  const owner = (event: WatchEvent & { type: "owner" }): void => {
    const before = { run: run.state(seq), streams };
    streams = event.live;
    run.owned(!event.stopped);
    if (before.streams !== streams || before.run !== run.state(seq)) changed({ type: "owner", before });
  };

  return {
    id,
    progress,
    items,
    get phase() {
      return lost ? "lost" : joined ? "live" : "joining";
    },
    get run() {
      return run.state(seq);
    },
    get streams() {
      return streams;
    },
    get requests() {
      return [...requests.open.values()];
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
          const refused = delta.kind === "notice" && delta.key === "host"; // by whoever was to run the session
          if (refused) run.refused();
          return changed({ type: "delta", delta, items: take(transcript.delta(delta)), refused });
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
      requests.sends(command);
      const reply = await run.sends(command, replied);
      for (const change of requests.replied(command, reply)) tell(change);
    },
  };
}

/** Everything there is to draw, and the messages among it that wait. */
function createDrawn() {
  const items = new Set<Item>();
  const queue = new Set<SaidItem>();
  return {
    items,
    queue,
    take(more: readonly Item[]): readonly Item[] {
      for (const item of more) {
        items.add(item);
        if (item.type !== "said") continue;
        if (isQueued(item)) queue.add(item);
        else queue.delete(item);
      }
      return more;
    },
  };
}

/** State of the turn: by the facts, the owner of the session, and our own commands that are on their way. */
function createRun(progress: Progress) {
  /** A process runs the session, as far as this one knows. */
  let owned = true;
  let refused = false;
  /** Commands on their way that let it work, and the newest message that was taken. */
  let sending = 0;
  let taken = 0;
  return {
    /** `seq`: the newest fact that was heard. */
    state(seq: number): RunState {
      if (sending > 0 || taken > seq) return "running";
      if (!progress.working || refused) return progress.open ? "paused" : "idle";
      return owned ? "running" : "stopped";
    },
    begins() {
      [owned, refused] = [true, false];
    },
    refused() {
      refused = true;
    },
    owned(is: boolean) {
      owned = is;
      if (!is) progress.running.clear(); // calls run for as long as the process that runs them
    },
    async sends(command: Command, replied: Promise<CommandReply>): Promise<CommandReply> {
      const works = command.type === "say" || command.type === "resume" || command.type === "compact";
      if (works) sending++;
      const reply = await replied.finally(() => works && sending--);
      if (reply.ok && command.type === "say") taken = Math.max(taken, (reply as { seq: number }).seq);
      if (reply.ok && command.type === "resume") {
        owned = true;
        progress.working ||= progress.open;
      }
      return reply;
    },
  };
}

/** Open requests by id, as facts and replies change them. */
function createOpenRequests() {
  const open = new Map<string, OpenRequest>();
  const end = (requestId: string): RequestChange[] => {
    const request = open.get(requestId);
    open.delete(requestId);
    return request ? [{ type: "request", is: "ended", request }] : [];
  };
  const answered = (requestId: string, reply: CommandReply<"respond">): RequestChange[] => {
    if (reply.resolution) return end(requestId);
    const request = open.get(requestId);
    if (!reply.ok || !request) return [];
    request.approvals = reply.approved.approvals;
    return [{ type: "request", is: "changed", request }];
  };
  return {
    open,
    /** The host's list counts; what is known of a request beyond it stays. */
    join(pending: readonly PendingRequest[]): void {
      const known = new Map(open);
      open.clear();
      for (const each of pending)
        open.set(each.request.id, Object.assign(known.get(each.request.id) ?? { inquiries: [] }, each));
    },
    note(fact: Fact): RequestChange | undefined {
      if (fact.type === "input.resolved") return end(fact.data.requestId)[0];
      if (fact.type === "input.requested") {
        if (open.has(fact.data.id)) return undefined;
        const request = { request: fact.data, inquiries: [], ...(needsConsent(fact.data) && { approvals: [] }) };
        open.set(fact.data.id, request);
        return { type: "request", is: "opened", request };
      }
      const request = "requestId" in fact.data ? open.get(fact.data.requestId) : undefined;
      if (!request) return undefined;
      const reminded = fact.type === "input.reminded" || fact.type === "input.escalated";
      Object.assign(request, changedFields(request, fact));
      return { type: "request", is: reminded ? "reminded" : "changed", request };
    },
    move(time: TimeMoved): RequestChange[] {
      return [...open.values()].flatMap((request): RequestChange[] => {
        const { request: before } = request;
        request.request = moved(before, [time]);
        return request.request === before ? [] : [{ type: "request", is: "changed", request }];
      });
    },
    sends(command: Command): void {
      if (command.type === "saveDraft") Object.assign(open.get(command.requestId) ?? {}, { draft: command.draft });
    },
    /** A reply is known before its fact comes, and a refusal may say who was faster. */
    replied(command: Command, reply: CommandReply): RequestChange[] {
      if (command.type === "respond") return answered(command.response.requestId, reply as CommandReply<"respond">);
      if (!reply.ok) return [];
      if ("results" in reply)
        return reply.results.flatMap((each) => (each.ok || each.resolution ? end(each.requestId) : []));
      const cancels = command.type === "interrupt" && "to" in reply && reply.to === "cancel";
      return cancels ? [...open.keys()].flatMap(end) : [];
    },
  };
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

/** How a session of a host is followed. */
export type FollowOptions = SessionOptions & {
  /** Ends the watch. */
  signal: AbortSignal;
  /** Facts of the last turns only. */
  last?: number;
  /** May the session be continued in this process when it was answered and nobody runs it? Yes, if left out. */
  resumes?(): boolean;
  /** The refusal of a command that must not be sent later than now, while the link is lost. */
  whileLost?(command: Command): Refused | undefined;
};

/** A session of a host, and the way to tell it something. */
export type FollowedSession = Session & {
  /** Sends a command about the session, and knows at once what the reply says. */
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]>>;
  /** Settles when the watch has ended; rejects with a mistake of `changed`. */
  readonly done: Promise<void>;
};

/** Follows a session for a surface: `changed` is called with each change, in order. */
export function followSession(
  host: Pick<Host, "send" | "watch">,
  id: string,
  { signal, last, resumes = () => true, whileLost, ...options }: FollowOptions,
): FollowedSession {
  const failed = Promise.withResolvers<never>();
  const changed = (change: SessionChange) => {
    const heard = options.changed(change) as unknown; // an async function is none that is meant, and may reject all the same
    if (heard instanceof Promise) heard.catch(failed.reject);
  };
  const session = createSession(id, { ...options, changed });
  const follow = async () => {
    for await (const event of host.watch(id, { signal, ...(last !== undefined && { last }) })) session.hear(event);
  };
  const send: FollowedSession["send"] = async (command) => {
    const refused = session.phase === "lost" ? whileLost?.(command) : undefined;
    const replied = refused ? Promise.resolve(refused) : host.send(command);
    await session.sends(command, replied);
    const reply = await replied;
    if (isLeftAlone(reply) && resumes()) void send({ type: "resume", session: id });
    return reply;
  };
  const done = Promise.race([follow(), failed.promise]);
  done.catch(() => {}); // whoever does not wait for it must not end by it
  // A session has getters: a copy would not follow it.
  return Object.defineProperties({ send, done } as FollowedSession, Object.getOwnPropertyDescriptors(session));
}

/** An answer or an inquiry was recorded, and no process runs the session. */
function isLeftAlone(reply: CommandReply): boolean {
  if (!reply.ok) return false;
  if ("results" in reply) return reply.results.some((each) => each.ok && !each.running);
  return "running" in reply && !reply.running;
}
