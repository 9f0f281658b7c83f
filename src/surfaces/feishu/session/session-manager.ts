import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { CommandReply, Host } from "../../../protocol/host/host.ts";
import { errorOf } from "../../../protocol/host/refusal.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { Incoming } from "../channel/channel.ts";
import { bridgeSession, type Follow, type FollowParts } from "./follow.ts";
import {
  type AskRecord,
  awayHome,
  CARD_LIFE_MS,
  createPlaces,
  type Home,
  homeAt,
  isAway,
  type Place,
  placeIn,
  newSessionId,
  speaksAt,
} from "../bot/records.ts";
import type { Fact } from "../../../protocol/facts/fact.ts";
import { isOutsideRequest } from "../../../protocol/host/outside.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { restartCard, unknownCard } from "../cards/closed.ts";
import { closeProgress } from "../chat/streamer.ts";

export type Beginning = { cwd: string; model?: string; agent?: string };

/** Finds the session of a message, by bot, chat and thread, and keeps every session that this bot speaks for. */
export type SessionManager = {
  /** The session that the place of this message continues. A mention at the top of a group belongs to none. */
  find(message: Incoming): Promise<Follow | undefined>;
  /** The session that was here has been taken to another place, and continues there. */
  hasLeft(message: Incoming): boolean;
  /** The session this person last worked with in this chat. */
  latest(message: Incoming): Promise<Follow | undefined>;
  /** A new one; the same message begins the same one. */
  begin(message: Incoming, how: Beginning): Promise<Follow>;
  /** The place of this message continues that session, wherever it was begun. */
  take(session: string, place: Place): Promise<Follow>;
  of(session: string): Promise<Follow | undefined>;
  /** Somebody may have been called to a request of this session, which speaks elsewhere. */
  call(session: string): Promise<void>;
  /** Open requests in this chat, or in the thread of this session if it has one. */
  openBeside(follow: Follow): InputRequest[];
  openInChat(chat: string): { follow: Follow; request: InputRequest }[];
  typed(card: AskRecord): (words: string) => string;
  /** Puts the cards of before in order, and continues what was under way unless somebody else does. */
  restore(): Promise<void>;
  settled(): Promise<void>;
};

export function createSessionManager(parts: FollowParts & { app: string; resumes: boolean }): SessionManager {
  const { host, records, now, resumes } = parts;
  const places = createPlaces(records, now);
  const { follows, ready, known, knownAway } = createFollows(parts);
  return {
    async find(message) {
      const found = await known(places.sessionAt(message));
      if (!found || !speaksAt(found.home(), message)) return undefined;
      places.remember(found.home(), message);
      return found;
    },
    hasLeft(message) {
      const home = records.home(places.sessionAt(message) ?? "");
      return home !== undefined && !speaksAt(home, message);
    },
    async latest({ chatId, sender }) {
      const mine = records.homes().filter(({ chat, owner }) => chat === chatId && owner === sender.openId);
      return known(mine.toSorted((a, b) => b.at - a.at)[0]?.session);
    },
    async begin(message, { cwd, model, agent }) {
      const place = placeIn(message);
      const id = newSessionId(parts.app, message.messageId);
      const chosen = { ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) };
      const { session } = must(await host.send({ type: "open", session: id, cwd, ...chosen }));
      places.settle({ ...homeAt(place, session), cwd, ...chosen, at: now() }, place);
      return ready(session);
    },
    async take(session, place) {
      const { sessions } = must(await host.send({ type: "sessions", session }));
      const row = sessions.find(({ id }) => id === session);
      if (!row) throw new SageError("session-unknown", reason("session-missing", { session }));
      const before = records.home(session);
      const chosen = {
        ...(before?.model !== undefined && { model: before.model }),
        ...(before?.agent !== undefined && { agent: before.agent }),
      };
      const guest = follows.get(session);
      if (guest && isAway(guest.home())) {
        guest.leave();
        follows.delete(session);
      }
      places.settle({ ...homeAt(place, session), cwd: row.cwd, ...chosen, at: now() }, place);
      return ready(session, { fresh: before === undefined });
    },
    of: async (session) => (await known(session)) ?? knownAway(session),
    async call(session) {
      if (!records.home(session)) await knownAway(session);
    },
    openBeside(follow) {
      const { chat, root } = follow.home();
      if (isAway(follow.home())) return follow.view.open();
      return [...follows.values()]
        .filter((other) => other.home().chat === chat && other.home().root === root)
        .flatMap(({ view }) => view.open());
    },
    openInChat: (chat) =>
      [...follows.values()]
        .filter((other) => other.home().chat === chat)
        .flatMap((other) => other.view.open().map((request) => ({ follow: other, request }))),
    typed: (card) => follows.get(card.session)?.asker.typed(card) ?? ((words) => words),
    async restore() {
      const { sessions } = must(await host.send({ type: "sessions" }));
      const alive = new Map(sessions.map((row) => [row.id, row]));
      closeOrphans(parts, (session) => alive.has(session));
      for (const { session } of records.homes()) {
        const row = alive.get(session);
        // Older cards cannot be changed any more; a session that rests is followed when somebody speaks to it.
        if (!row || (row.state === "idle" && now() - row.lastAt > CARD_LIFE_MS)) continue;
        const found = await ready(session);
        // A turn that a terminal left open is the terminal's to continue.
        if (resumes && found.view.stopped() && found.view.begunBy() === "feishu")
          await host.send({ type: "resume", session });
      }
      const shown = new Set(records.openCards().map(({ session }) => session));
      for (const session of shown) if (!records.home(session) && alive.has(session)) await knownAway(session);
    },
    async settled() {
      await Promise.all([...follows.values()].map((follow) => follow.settled()));
    },
  };
}

/** Sessions that are followed, each once. */
function createFollows(parts: FollowParts) {
  const { host, records } = parts;
  const follows = new Map<string, Follow>();

  const ready = async (session: string, how: { fresh?: boolean; away?: Home } = {}): Promise<Follow> => {
    const { fresh = false, away } = how;
    const left = () => {
      if (follows.get(session) === found) follows.delete(session); // it may be followed again by now
    };
    const found: Follow = follows.get(session) ?? bridgeSession(parts, session, { fresh, away, left });
    follows.set(session, found);
    await found.ready;
    return found;
  };
  const known = async (session: string | undefined): Promise<Follow | undefined> =>
    session === undefined || !records.home(session) ? undefined : ready(session);
  /** Also where it speaks elsewhere. */
  const knownAway = async (session: string): Promise<Follow | undefined> => {
    const reply = await host.send({ type: "sessions", session });
    const row = reply.ok ? reply.sessions[0] : undefined;
    if (!row || records.home(session)) return known(session);
    return ready(session, { away: awayHome(session, row.cwd) });
  };
  return { follows, ready, known, knownAway };
}

export function must<C extends Parameters<Host["send"]>[0]["type"]>(
  reply: CommandReply<C>,
): Exclude<CommandReply<C>, { ok: false }> {
  if (reply.ok) return reply as Exclude<CommandReply<C>, { ok: false }>;
  throw errorOf(reply);
}

type CalledParts = {
  sessions: SessionManager;
  signal: AbortSignal;
  /** The person who hears of agents outside, if there is one. */
  account?(): string | undefined;
  log(line: string): void;
};

/** Calls people to requests of sessions elsewhere once it is their turn, and this account's person to agents' outside at once. */
export async function followCalled(host: Host, { sessions, signal, account, log }: CalledParts): Promise<void> {
  const call = (session: string) =>
    sessions.call(session).catch((error: unknown) => log(`nobody was called to ${session}: ${thrownText(error)}`));
  const isForAccount = (request: InputRequest) => isOutsideRequest(request) && account?.() !== undefined;
  const isAskedOutside = (fact: Fact) => fact.type === "input.requested" && isForAccount(fact.data);
  const calls = (request: InputRequest) => (request.deadline?.escalation ?? []).length > 0 || isForAccount(request);
  for await (const event of host.inbox({ signal })) {
    if (event.type === "fact") {
      if (event.fact.type === "input.escalated" || isAskedOutside(event.fact)) await call(event.fact.session);
      continue;
    }
    const waiting = event.requests.map(({ request }) => request);
    const requests = event.more > 0 ? await allPending(host) : waiting;
    for (const session of new Set(requests.filter(calls).map((request) => request.session))) await call(session);
  }
}

async function allPending(host: Host): Promise<InputRequest[]> {
  const reply = await host.send({ type: "pending" });
  return reply.ok ? reply.requests.map(({ request }) => request) : [];
}

type Parts = Pick<FollowParts, "channel" | "records" | "speak" | "log">;

/** Closes cards of sessions that somebody deleted while nobody was here. What cannot be closed now is closed at the next start. */
function closeOrphans({ channel, records, speak, log }: Parts, isAlive: (session: string) => boolean): void {
  const close = (closing: Promise<void>, closed: () => void): void => {
    closing
      .then(closed)
      .catch((error: unknown) => log(`a card of a deleted session could not be closed: ${thrownText(error)}`));
  };
  for (const record of records.openCards()) {
    if (isAlive(record.session)) continue;
    const { message, spoken } = record;
    const isCard = message !== undefined && !spoken;
    const closing = isCard ? channel.patchCard(message, unknownCard(speak(record.chat))) : Promise.resolve();
    close(closing, () => records.closeCard(record));
  }
  for (const { session, chat } of records.homes()) {
    const left = isAlive(session) ? undefined : records.progress(session);
    if (left) close(closeProgress(channel, left, restartCard(false, speak(chat))), () => records.endProgress(session));
  }
}
