import type { Host, SessionSummary } from "../../../protocol/host/host.ts";
import type { Card } from "../cards/card.ts";
import { sessionsCard } from "../cards/lists.ts";
import type { Redaction } from "../cards/escape.ts";
import type { Phrase, Speeches } from "../cards/speech.ts";
import type { Incoming } from "../channel/channel.ts";
import { mayApprove } from "../bot/people.ts";
import { newRid, type Place, placeIn, type Records } from "../bot/records.ts";
import { must, type SessionManager } from "../session/session-manager.ts";
import type { Team } from "../bot/team.ts";

export type SessionCommandParts = {
  host: Host;
  records: Records;
  sessions: SessionManager;
  team(): Team;
  speak(chat: string): Speeches;
  redaction: Redaction;
  now(): number;
};

type SessionCommands = {
  /** A card of the sessions that this person may see here; `sent` learns the message that it became. */
  list(message: Incoming, current: string | undefined): Promise<{ card: Card; sent(message: string): void }>;
  /** Takes a session over to this person's chat, if they may. */
  resume(session: string, who: Incoming["sender"], place: Place): Promise<Phrase>;
  resumeById(message: Incoming, start: string): Promise<Phrase>;
};

export function createSessionCommands(parts: SessionCommandParts): SessionCommands {
  const { host, records, sessions, team, now } = parts;
  /** Own sessions and those of this chat; an approver sees every session of the machine. */
  const visible = async (who: Incoming["sender"], chat: string): Promise<SessionSummary[]> => {
    const all = must(await host.send({ type: "sessions" })).sessions;
    if (mayApprove(team().people, who)) return all;
    return all.filter(({ id }) => {
      const home = records.home(id);
      return home !== undefined && (home.owner === who.openId || home.chat === chat);
    });
  };

  const list: SessionCommands["list"] = async (message, current) => {
    const rids: string[] = [];
    const ridOf = (session: string) => {
      const rid = newRid();
      rids.push(rid);
      records.saveCard({ k: "run", rid, session, chat: message.chatId, g: 1, at: now(), place: placeIn(message) });
      return rid;
    };
    const all = await visible(message.sender, message.chatId);
    // A group sees only its own sessions, even if the person who asks may see more.
    const shown = message.chatType === "p2p" ? all : all.filter(({ id }) => records.home(id)?.chat === message.chatId);
    const found = shown.map((session) => ({ ...session, title: parts.redaction.text(session.title) }));
    return {
      card: sessionsCard(found, { now: now(), current, ridOf }, parts.speak(message.chatId)),
      sent(id) {
        for (const rid of rids) {
          const record = records.card(rid);
          if (record) records.saveCard({ ...record, message: id });
        }
      },
    };
  };

  const resume: SessionCommands["resume"] = async (session, who, place) => {
    const may = (await visible(who, place.chat)).some(({ id }) => id === session);
    if (!may) return ({ t }) => t.noSuchSession(session);
    // Taking it over means to answer and stop it: not while it works for somebody else.
    const owner = records.home(session)?.owner;
    const others = owner !== undefined && owner !== who.openId && !mayApprove(team().people, who);
    if (others && (await sessions.of(session))?.view.state() !== "IDLE") return ({ t }) => t.worksForOthers;
    const follow = await sessions.take(session, place);
    // A turn that nobody runs continues here; one that runs elsewhere is watched.
    if (follow.view.stopped()) await host.send({ type: "resume", session });
    return ({ t }) => t.resumed(session);
  };

  return {
    list,
    resume,
    async resumeById(message, start) {
      const found = (await visible(message.sender, message.chatId)).filter(({ id }) => id.startsWith(start));
      const chosen = found.find(({ id }) => id === start) ?? (found.length === 1 ? found[0] : undefined);
      if (!chosen) return ({ t }) => (found.length > 1 ? t.resumeWhich : t.noSuchSession(start));
      return resume(chosen.id, message.sender, placeIn(message));
    },
  };
}
