import { attempt } from "../../../base/attempt.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { slashTexts } from "../../../texts/surfaces/slash.ts";
import { runSlash, type Reply } from "../../../view/slash/run.ts";
import { isAlias, lackedRight, ownNames, readTypedSlash, type TypedSlash } from "../../../view/slash/read.ts";
import { entryOf, type OwnSlash, type SlashRight } from "../../../view/slash/table.ts";
import type { Card } from "../cards/card.ts";
import { helpCard } from "../cards/lists.ts";
import type { Phrase } from "../cards/speech.ts";
import type { Incoming } from "../channel/channel.ts";
import type { Follow } from "../session/follow.ts";
import { mayAdminister, mayApprove, mayStop, mayTalk } from "../bot/people.ts";
import { type Place, placeIn } from "../bot/records.ts";
import { createSessionCommands, type SessionCommandParts } from "./session-commands.ts";
import { must, type Beginning } from "../session/session-manager.ts";
import { chatOffer } from "../session/state.ts";
import type { Stops } from "./stops.ts";
import { folderOf, type Team } from "../bot/team.ts";
import { createTeamCommands, type TeamCommandParts } from "./team-commands.ts";
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";

type CommandParts = TeamCommandParts &
  SessionCommandParts & {
    model?: string;
    stops: Stops;
    senderOf(openId: string): Promise<Sender>;
  };

/** Reply to a command; `task` is passed on as a message to the session that the command has begun. */
export type CommandResult =
  | { text: Phrase }
  | { card: Card; sent?: (message: string) => void }
  | { task: string; follow: Follow; when?: "now" | "next" };

export type CommandHandler = {
  /** The command that a message is; undefined for everything that goes to a session. */
  read(message: Incoming): Promise<TypedSlash | undefined>;
  /** It overtakes earlier messages that are still on their way. */
  overtakes(text: string): boolean;
  handle(message: Incoming, typed: TypedSlash): Promise<CommandResult>;
  /** Takes a session over to this person's chat, if they may. */
  resume(session: string, who: { openId: string; tenantKey: string }, place: Place): Promise<Phrase>;
};

export function createCommandHandler(parts: CommandParts): CommandHandler {
  const { host, sessions, team } = parts;
  const people = () => team().people;
  const forTeam = createTeamCommands(parts);
  const earlier = createSessionCommands(parts);

  const mayOf =
    ({ sender }: Incoming) =>
    (right: SlashRight): boolean => {
      const rights = { look: mayTalk, talk: mayTalk, approve: mayApprove, administer: mayAdminister };
      return rights[right](people(), sender);
    };
  const here = async (message: Incoming) => (await sessions.find(message)) ?? (await sessions.latest(message));
  const { begin, newIn, fresh, cd, model, agent } = createBeginnings(parts, here);
  const { stop, status, goOn } = createTurnCommands(parts, here);

  const own = async (name: OwnSlash<"feishu">, args: string, message: Incoming): Promise<CommandResult> => {
    switch (name) {
      case "stop":
        return stop(message);
      case "new":
        return fresh(message, args);
      case "status":
        return status(message);
      case "sessions":
        return earlier.list(message, (await here(message))?.handle.session);
      case "resume":
        return args === "" ? goOn(message) : { text: await earlier.resumeById(message, args) };
      case "cd":
        return cd(message, args);
      case "model":
        return model(message, args);
      case "agent":
        return agent(message, args);
      case "help":
        return { card: helpCard(parts.speak(message.chatId)) };
      default:
        return { text: await forTeam(name, message, args) };
    }
  };

  /** A command of the host, on the session of this chat. */
  const onSession = async (typed: TypedSlash, message: Incoming): Promise<CommandResult> => {
    const found = await here(message);
    const follow = found ?? (typed.name === "plan" ? await begin(message, newIn(message)) : undefined);
    if (!follow) return { text: ({ t }) => t.noSession };
    const typist = {
      session: follow.session,
      offer: chatOffer,
      sender: await parts.senderOf(message.sender.openId),
    };
    return runSlash<"feishu", CommandResult>(typed, typist, {
      own: (name, args) => own(name, args, message),
      say: (reply) => ({ text: phrase(reply) }),
      speak: (text, _, when) => ({ task: text, follow, when }),
      async go(session) {
        await sessions.take(session, placeIn(message));
        return { text: ({ t }) => t.resumed(session) };
      },
    });
  };
  const phrase =
    (reply: Reply): Phrase =>
    ({ lang, words: t }) =>
      parts.redaction.text(reply({ t, slash: slashTexts(lang) }).join("\n"));

  return {
    async read(message) {
      const typed = readTypedSlash(message.text, chatOffer);
      if (!typed || entryOf(typed.name).on.feishu === "answer") return undefined;
      if (!isAlias(typed, message.text)) return typed;
      // A command of the person's own comes before an alias, and the host knows those.
      const follow = await here(message);
      const reply = follow && (await host.send({ type: "about", session: follow.handle.session }));
      return readTypedSlash(message.text, {
        ...chatOffer,
        own: () => ownNames(reply?.ok ? reply.session : undefined),
      });
    },
    overtakes: (text) => readTypedSlash(text, chatOffer)?.name === "stop",
    resume: earlier.resume,
    async handle(message, typed) {
      const lacked = lackedRight(typed, "feishu", mayOf(message));
      if (lacked) return { text: phrase(({ slash }) => [slash.refused[lacked]]) };
      if (entryOf(typed.name).on.feishu === "own") return own(typed.name as OwnSlash<"feishu">, typed.args, message);
      return onSession(typed, message);
    },
  };
}

/** The session that a message is about. */
type Here = (message: Incoming) => Promise<Follow | undefined>;

function createTurnCommands(parts: CommandParts, here: Here) {
  const { host, team } = parts;

  const stop = async (message: Incoming): Promise<CommandResult> => {
    const follow = await here(message);
    if (follow && !mayStop(team().people, message.sender, follow.home().owner))
      return { text: ({ t }) => t.toast.notStopper };
    const onTheWay = parts.stops.stop(message);
    const reply = follow && must(await follow.handle.finish(await parts.senderOf(message.sender.openId)));
    return { text: ({ t }) => (onTheWay || (reply && reply.to !== "nothing") ? t.stopping : t.nothingRuns) };
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

  const goOn = async (message: Incoming): Promise<CommandResult> => {
    const follow = await here(message);
    if (!follow?.view.working()) return { text: ({ t }) => t.resumeWhich };
    const { session } = follow.handle;
    await host.send({ type: "resume", session });
    return { text: ({ t }) => t.resumed(session) };
  };

  return { stop, status, goOn };
}

function createBeginnings(parts: CommandParts, here: Here) {
  const { sessions, team } = parts;
  const folders = createFolders(team);

  const begin = async (message: Incoming, how: Beginning): Promise<Follow> => {
    const before = await sessions.find(message);
    // A redelivered command finds the session that it has begun.
    const follow = await sessions.begin(message, how);
    if (before && before !== follow && mayStop(team().people, message.sender, before.home().owner))
      await before.handle.finish(await parts.senderOf(message.sender.openId));
    return follow;
  };

  const fresh = async (message: Incoming, task: string): Promise<CommandResult> => {
    const cwd = folders.next(message, await sessions.find(message));
    const follow = await begin(message, { cwd, ...(parts.model !== undefined && { model: parts.model }) });
    return task === "" ? { text: ({ t }) => t.newSession(follow.home().cwd) } : { task, follow };
  };

  const cd = async (message: Incoming, to: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    const from = home?.cwd ?? folderOf(team(), message.chatId);
    if (to === "") return { text: ({ t }) => t.cdWhich(from, folders.offered(message.chatId)) };
    const found = folders.change(message.chatId, from, to);
    if ("problem" in found) {
      const { path, problem } = found;
      return { text: ({ t }) => (problem === "missing" ? t.cdMissing(path) : t.cdRefused(path)) };
    }
    const model = home?.model ?? parts.model;
    await begin(message, { cwd: found.real, ...(model !== undefined && { model }) });
    return { text: ({ t }) => t.newSession(found.real) };
  };

  const model = async (message: Incoming, name: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    if (name === "") return { text: ({ t }) => t.modelNow(home?.model ?? parts.model ?? "", team().models) };
    if (!team().models.includes(name)) return { text: ({ t }) => t.modelRefused(name) };
    await begin(message, { cwd: folders.next(message, await here(message)), model: name });
    return { text: ({ t }) => t.modelNew(name) };
  };

  /** Other agents use the login and the files of the account that runs the bot, without a sandbox. */
  const agent = async (message: Incoming, name: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    if (name === "") return { text: ({ t }) => t.agentNow(home?.agent, team().agents) };
    if (!team().agents.includes(name)) return { text: ({ t }) => t.agentRefused(name) };
    await begin(message, { cwd: folders.next(message, await here(message)), agent: name });
    return { text: ({ t }) => t.agentNew(name) };
  };

  const newIn = ({ chatId }: Incoming): Beginning => ({
    cwd: folderOf(team(), chatId),
    ...(parts.model !== undefined && { model: parts.model }),
  });

  return { begin, newIn, fresh, cd, model, agent };
}

/** Folders in which sessions of a chat may work. */
type Folders = {
  next(message: Incoming, follow: Follow | undefined): string;
  /** The folders that a chat may choose from, its own first. */
  offered(chat: string): string[];
  /** The folder that `cd` leads to, with its links resolved, or why a chat may not work there. */
  change(chat: string, from: string, to: string): { real: string } | { path: string; problem: "missing" | "refused" };
};

function createFolders(team: () => Team): Folders {
  const offered = (chat: string) => [...new Set([folderOf(team(), chat), ...team().folders])];
  const isAllowed = (path: string, chat: string) => offered(chat).some((folder) => isIn(realOf(folder), path));
  return {
    offered,
    // A session that an approver brought here may work anywhere; those that others begin may not.
    next({ sender, chatId }, follow) {
      const usual = folderOf(team(), chatId);
      const cwd = follow?.home().cwd ?? usual;
      return isAllowed(realOf(cwd), chatId) || mayApprove(team().people, sender) ? cwd : usual;
    },
    change(chat, from, to) {
      const path = resolve(from, to.replace(/^~(?=$|\/)/, homedir()));
      let real: string;
      try {
        real = realpathSync(path);
        if (!statSync(real).isDirectory()) return { path, problem: "missing" };
      } catch {
        return { path, problem: offered(chat).some((folder) => isIn(folder, path)) ? "missing" : "refused" };
      }
      return isAllowed(real, chat) ? { real } : { path, problem: "refused" };
    },
  };
}

function isIn(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside === "" || (!inside.startsWith("..") && !isAbsolute(inside));
}

function realOf(path: string): string {
  return attempt(() => realpathSync(path)) ?? join(path);
}
