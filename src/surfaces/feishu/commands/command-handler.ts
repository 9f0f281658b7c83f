import { modeWords, type SessionMode } from "../../../protocol/mode.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { Card } from "../cards/card.ts";
import { helpCard } from "../cards/lists.ts";
import type { Phrase } from "../cards/speech.ts";
import type { Incoming } from "../channel/channel.ts";
import { createFolders } from "./folders.ts";
import type { Follow } from "../session/follow.ts";
import { mayApprove, mayStop } from "../bot/people.ts";
import type { Place } from "../bot/records.ts";
import { createSessionCommands, type SessionCommandParts } from "./session-commands.ts";
import { must, type Beginning } from "../session/session-manager.ts";
import type { Stops } from "./stops.ts";
import { folderOf } from "../bot/team.ts";
import { createTeamCommands, teamCommands, type TeamCommand, type TeamCommandParts } from "./team-commands.ts";

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
  const { host, sessions, team } = parts;
  const people = () => team().people;
  const forTeam = createTeamCommands(parts);
  const earlier = createSessionCommands(parts);
  const folders = createFolders(team);

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

  const fresh = async (message: Incoming, task: string): Promise<CommandResult> => {
    const cwd = folders.next(message, await sessions.find(message));
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

  const goOn = async (message: Incoming): Promise<CommandResult> => {
    const follow = await here(message);
    if (!follow?.view.working()) return { text: ({ t }) => t.resumeWhich };
    const { session } = follow.handle;
    await host.send({ type: "resume", session });
    return { text: ({ t }) => t.resumed(session) };
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

  /** Other agents work with the login and the files of whoever runs the bot, and outside of any sandbox. */
  const agent = async (message: Incoming, name: string): Promise<CommandResult> => {
    const home = (await here(message))?.home();
    if (name === "") return { text: ({ t }) => t.agentNow(home?.agent, team().agents) };
    if (!team().agents.includes(name)) return { text: ({ t }) => t.agentRefused(name) };
    if (!mayApprove(people(), message.sender)) return { text: ({ t }) => t.approversChooseAgent };
    await begin(message, { cwd: folders.next(message, await here(message)), agent: name });
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
    resume: earlier.resume,
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
          return earlier.list(message, (await here(message))?.handle.session);
        case "resume":
          if (command.rest === "") return goOn(message);
          return { text: await earlier.resumeById(message, command.rest) };
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
