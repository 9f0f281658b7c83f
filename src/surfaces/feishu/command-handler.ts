import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import { modeWords, type Host, type Sender, type SessionMode, type SessionSummary } from "../../protocol/index.ts";
import type { Card } from "./cards/card.ts";
import { helpCard, sessionsCard } from "./cards/lists.ts";
import type { Redaction } from "./cards/redact.ts";
import type { Phrase, Speeches } from "./cards/speech.ts";
import type { Incoming } from "./channel.ts";
import type { Follow } from "./follow.ts";
import { mayApprove, mayStop } from "./people.ts";
import { newRid, type Place, type Records } from "./records.ts";
import { must, placeOf, type Beginning, type SessionManager } from "./session-manager.ts";
import type { Stops } from "./stops.ts";
import { folderOf } from "./team.ts";
import { createTeamCommands, teamCommands, type TeamCommand, type TeamCommandParts } from "./team-commands.ts";

export type CommandParts = TeamCommandParts & {
  host: Host;
  records: Records;
  sessions: SessionManager;
  speak(chat: string): Speeches;
  model?: string;
  redaction: Redaction;
  stops: Stops;
  now(): number;
  senderOf(openId: string): Promise<Sender>;
};

/** Reply to a command; `task` goes on as a message to the session that the command has begun. */
export type CommandResult =
  | { text: Phrase }
  | { card: Card; sent?: (message: string) => void }
  | { task: string; follow: Follow };

export type CommandHandler = {
  isCommand(text: string): boolean;
  /** It is done before what was said earlier, which may still be on its way. */
  overtakes(text: string): boolean;
  handle(message: Incoming): Promise<CommandResult>;
  /** Takes a session over to this person's chat, if they may. */
  resume(session: string, who: { openId: string; tenantKey: string }, place: Place): Promise<Phrase>;
};

const names = ["stop", "new", "status", "resume", "sessions", "cd", "model", "agent", "plan", "mode", "help"] as const;
type Name = (typeof names)[number] | TeamCommand;

export function createCommandHandler(parts: CommandParts): CommandHandler {
  const { host, records, sessions, team, now } = parts;
  const people = () => team().people;
  const forTeam = createTeamCommands(parts);

  const read = (text: string): { name: Name; rest: string } | undefined => {
    const found = /^[/／]([a-z]+)(?:\s+([^]*))?$/i.exec(text.trim());
    const name = [...names, ...teamCommands].find((one) => one === found?.[1]?.toLowerCase());
    return name && { name, rest: found?.[2]?.trim() ?? "" };
  };
  const here = async (message: Incoming) => (await sessions.find(message)) ?? (await sessions.latest(message));

  const stop = async (message: Incoming): Promise<CommandResult> => {
    const follow = await here(message);
    if (follow && !mayStop(people(), message.sender, follow.home().owner))
      return { text: ({ t }) => t.toast.notStopper };
    const onTheWay = parts.stops.stop(message);
    const reply = follow && must(await follow.handle.finish(await parts.senderOf(message.sender.openId)));
    return { text: ({ t }) => (onTheWay || (reply && reply.to !== "nothing") ? t.stopping : t.nothingRuns) };
  };

  const begin = async (message: Incoming, how: Beginning): Promise<Follow> => {
    const before = await sessions.find(message);
    // A redelivered command finds the session that it has begun.
    const follow = await sessions.begin(message, how);
    if (before && before !== follow && mayStop(people(), message.sender, before.home().owner))
      await before.handle.finish(await parts.senderOf(message.sender.openId));
    return follow;
  };

  const foldersOf = (chat: string) => [...new Set([folderOf(team(), chat), ...team().folders])];
  const isAllowed = (path: string, chat: string) => foldersOf(chat).some((one) => isIn(realOf(one), path));
  /** A session that an approver brought here may work anywhere; those that others begin may not. */
  const folderFor = ({ sender, chatId }: Incoming, follow: Follow | undefined): string => {
    const usual = folderOf(team(), chatId);
    const cwd = follow?.home().cwd ?? usual;
    return isAllowed(realOf(cwd), chatId) || mayApprove(people(), sender) ? cwd : usual;
  };

  const fresh = async (message: Incoming, task: string): Promise<CommandResult> => {
    const cwd = folderFor(message, await sessions.find(message));
    const follow = await begin(message, { cwd, ...(parts.model !== undefined && { model: parts.model }) });
    return task === "" ? { text: ({ t }) => t.newSession(follow.home().cwd) } : { task, follow };
  };

  const status = async (message: Incoming): Promise<CommandResult> => {
    const follow = await here(message);
    if (!follow) return { text: ({ t }) => t.noSession };
    const { session, cwd, agent: by, model = parts.model ?? "" } = follow.home();
    const open = follow.view.open().length;
    const state = follow.view.state();
    return {
      text: ({ t }) =>
        [
          t.statusLine(session, t.status[state], cwd, { model: by === undefined ? model : "", agent: by }),
          ...(open > 0 ? [t.openRequests(open)] : []),
        ].join("\n"),
    };
  };

  /** Own sessions and those of this chat; an approver sees every session of the machine. */
  const visible = async (who: Incoming["sender"], chat: string): Promise<SessionSummary[]> => {
    const all = must(await host.send({ type: "sessions" })).sessions;
    if (mayApprove(people(), who)) return all;
    return all.filter(({ id }) => {
      const home = records.home(id);
      return home !== undefined && (home.owner === who.openId || home.chat === chat);
    });
  };

  const list = async (message: Incoming): Promise<CommandResult> => {
    const rids: string[] = [];
    const ridOf = (session: string) => {
      const rid = newRid();
      rids.push(rid);
      records.saveCard({ k: "run", rid, session, chat: message.chatId, g: 1, at: now(), place: placeOf(message) });
      return rid;
    };
    const all = await visible(message.sender, message.chatId);
    // A group reads what it was told itself, also when somebody asks who may see more.
    const shown = message.chatType === "p2p" ? all : all.filter(({ id }) => records.home(id)?.chat === message.chatId);
    const found = shown.map((one) => ({ ...one, title: parts.redaction.text(one.title) }));
    const current = (await here(message))?.handle.session;
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

  const resume = async (session: string, who: Incoming["sender"], place: Place): Promise<Phrase> => {
    const may = (await visible(who, place.chat)).some(({ id }) => id === session);
    if (!may) return ({ t }) => t.noSuchSession(session);
    // Whoever takes it over may answer and stop it: not while it does so for somebody else.
    const owner = records.home(session)?.owner;
    const others = owner !== undefined && owner !== who.openId && !mayApprove(people(), who);
    if (others && (await sessions.of(session))?.view.state() !== "IDLE") return ({ t }) => t.worksForOthers;
    const follow = await sessions.take(session, place);
    // A turn that nobody runs goes on here; one that runs elsewhere is watched.
    if (follow.view.working()) await host.send({ type: "resume", session });
    return ({ t }) => t.resumed(session);
  };

  const byId = async (message: Incoming, start: string): Promise<CommandResult> => {
    const found = (await visible(message.sender, message.chatId)).filter(({ id }) => id.startsWith(start));
    const one = found.find(({ id }) => id === start) ?? (found.length === 1 ? found[0] : undefined);
    if (start === "" && !(await here(message))?.view.working()) return { text: ({ t }) => t.resumeWhich };
    if (start === "") {
      const session = (await here(message))?.handle.session ?? "";
      await host.send({ type: "resume", session });
      return { text: ({ t }) => t.resumed(session) };
    }
    if (!one) return { text: ({ t }) => (found.length > 1 ? t.resumeWhich : t.noSuchSession(start)) };
    return { text: await resume(one.id, message.sender, placeOf(message)) };
  };

  const cd = async (message: Incoming, to: string): Promise<CommandResult> => {
    const folders = foldersOf(message.chatId);
    const now = (await here(message))?.home().cwd ?? folderOf(team(), message.chatId);
    if (to === "") return { text: ({ t }) => t.cdWhich(now, folders) };
    const path = resolve(now, to.replace(/^~(?=$|\/)/, homedir()));
    let real: string;
    try {
      real = realpathSync(path);
      if (!statSync(real).isDirectory()) return { text: ({ t }) => t.cdMissing(path) };
    } catch {
      return { text: ({ t }) => (folders.some((one) => isIn(one, path)) ? t.cdMissing(path) : t.cdRefused(path)) };
    }
    if (!isAllowed(real, message.chatId)) return { text: ({ t }) => t.cdRefused(path) };
    const model = (await here(message))?.home().model ?? parts.model;
    await begin(message, { cwd: real, ...(model !== undefined && { model }) });
    return { text: ({ t }) => t.newSession(real) };
  };

  const model = async (message: Incoming, name: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    if (name === "") return { text: ({ t }) => t.modelNow(home?.model ?? parts.model ?? "", team().models) };
    if (!team().models.includes(name)) return { text: ({ t }) => t.modelRefused(name) };
    await begin(message, { cwd: folderFor(message, await here(message)), model: name });
    return { text: ({ t }) => t.modelNew(name) };
  };

  /** Other agents work with the login and the files of whoever runs the bot, and outside of any sandbox. */
  const agent = async (message: Incoming, name: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    if (name === "") return { text: ({ t }) => t.agentNow(home?.agent, team().agents) };
    if (!team().agents.includes(name)) return { text: ({ t }) => t.agentRefused(name) };
    if (!mayApprove(people(), message.sender)) return { text: ({ t }) => t.approversChooseAgent };
    await begin(message, { cwd: folderFor(message, await here(message)), agent: name });
    return { text: ({ t }) => t.agentNew(name) };
  };

  /** Plan mode lets less happen, so whoever may talk may go into it. The others let more happen. */
  const mode = async (message: Incoming, word: string): Promise<CommandResult> => {
    const follow = await here(message);
    if (!follow) return { text: ({ t }) => t.noSession };
    const chosen = modeWords[word.toLowerCase()];
    const words = Object.keys(modeWords);
    if (chosen === undefined) return { text: ({ t, words: own }) => t.modeNow(own.modes[follow.view.mode()], words) };
    if (chosen !== "plan" && !mayApprove(people(), message.sender)) return { text: ({ t }) => t.approversChooseMode };
    await choose(follow, chosen, message);
    return { text: ({ t, words: own }) => t.modeSet(own.modes[chosen]) };
  };

  const plan = async (message: Incoming, task: string): Promise<CommandResult> => {
    const follow = (await here(message)) ?? (await begin(message, newIn(message)));
    await choose(follow, "plan", message);
    return task === "" ? { text: ({ t, words }) => t.modeSet(words.modes.plan) } : { task, follow };
  };

  const newIn = ({ chatId }: Incoming): Beginning => ({
    cwd: folderOf(team(), chatId),
    ...(parts.model !== undefined && { model: parts.model }),
  });

  const choose = async ({ handle: { session } }: Follow, chosen: SessionMode, { sender }: Incoming) =>
    must(await host.send({ type: "chooseMode", session, mode: chosen, ...(await parts.senderOf(sender.openId)) }));

  return {
    isCommand: (text) => read(text) !== undefined,
    overtakes: (text) => read(text)?.name === "stop",
    resume,
    async handle(message) {
      const command = read(message.text);
      if (!command) return { text: ({ t }) => t.unknownCommand(message.text) };
      switch (command.name) {
        case "stop":
          return stop(message);
        case "new":
          return fresh(message, command.rest);
        case "status":
          return status(message);
        case "sessions":
          return list(message);
        case "resume":
          return byId(message, command.rest);
        case "cd":
          return cd(message, command.rest);
        case "model":
          return model(message, command.rest);
        case "agent":
          return agent(message, command.rest);
        case "mode":
          return mode(message, command.rest);
        case "plan":
          return plan(message, command.rest);
        case "help":
          return { card: helpCard(parts.speak(message.chatId)) };
        default:
          return { text: await forTeam(command.name, message, command.rest) };
      }
    },
  };
}

function isIn(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside === "" || (!inside.startsWith("..") && !isAbsolute(inside));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(path);
  }
}
