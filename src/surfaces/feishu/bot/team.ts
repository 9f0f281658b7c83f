import type { TurnLimits } from "../../../protocol/facts/silence.ts";
import type { Lang } from "../../../texts/language.ts";
import type { People } from "./people.ts";

/** Settings of a bot. Read anew when they change: nothing of it needs a restart. */
export type Team = {
  people: People;
  /** Folder of new sessions, unless their chat has one of its own. */
  cwd: string;
  /** Folders that they may change to with /cd. */
  folders: readonly string[];
  /** Folders by the name that /bind takes. */
  workspaces: Readonly<Record<string, string>>;
  /** Models offered by /model. */
  models: readonly string[];
  /** Other agents that may run sessions, with /agent. */
  agents: readonly string[];
  /** Language of texts for clients that speak neither. */
  lang: Lang;
  limits: ChatLimits;
  chats: Readonly<Record<string, ChatSettings>>;
};

export type ChatSettings = { workspace?: string; lang?: Lang; limits?: ChatLimits };

export type ChatLimits = {
  /** How long a request waits for an answer, in ms. */
  promptTimeout?: number;
  /** Policy for that moment. `wait`: the request waits forever. */
  timeoutPolicy?: "wait" | NonNullable<TurnLimits["timeoutPolicy"]>;
  /** How long a task may work, in ms; waiting for people does not count. */
  taskLimit?: number;
};

/** Changes by an administrator from a chat. Kept in the settings. */
export type TeamChange =
  | { type: "chat"; chat: string; settings: ChatSettings }
  | { type: "person"; openId: string; name: string; role: "talker" | "approver" };

export type ChangeTeam = (change: TeamChange) => Promise<void>;

/** Lines about what is missing on the platform's side, in a reader's language; none when nothing is. */
export type Examine = () => Promise<(lang: Lang) => string[]>;

export const defaultLimits: Required<ChatLimits> = {
  promptTimeout: 5 * 60_000,
  timeoutPolicy: "cancel",
  taskLimit: 30 * 60_000,
};

export function folderOf({ cwd, workspaces, chats }: Team, chat: string): string {
  return workspaces[chats[chat]?.workspace ?? ""] ?? cwd;
}

export function limitsOf({ limits, chats }: Team, chat: string): TurnLimits {
  const { promptTimeout, timeoutPolicy, taskLimit } = { ...limits, ...chats[chat]?.limits };
  return {
    ...(promptTimeout !== undefined && timeoutPolicy !== "wait" && { promptTimeout }),
    ...(timeoutPolicy !== undefined && timeoutPolicy !== "wait" && { timeoutPolicy }),
    ...(taskLimit !== undefined && { executionTimeout: taskLimit }),
  };
}

export function languageOf({ lang, chats }: Team, chat: string): Lang {
  return chats[chat]?.lang ?? lang;
}
