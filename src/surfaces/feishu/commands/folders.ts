import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import type { Incoming } from "../channel/channel.ts";
import type { Follow } from "../session/follow.ts";
import { mayApprove } from "../bot/people.ts";
import { folderOf, type Team } from "../bot/team.ts";

/** Folders in which sessions of a chat may work. */
type Folders = {
  /** The folder for a session that this person begins after `follow`. */
  next(message: Incoming, follow: Follow | undefined): string;
  /** The folders that a chat may choose from, its own first. */
  offered(chat: string): string[];
  /** The folder that `cd` leads to, with its links resolved, or why a chat may not work there. */
  change(chat: string, from: string, to: string): { real: string } | { path: string; problem: "missing" | "refused" };
};

export function createFolders(team: () => Team): Folders {
  const offered = (chat: string) => [...new Set([folderOf(team(), chat), ...team().folders])];
  const isAllowed = (path: string, chat: string) => offered(chat).some((one) => isIn(realOf(one), path));
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
        return { path, problem: offered(chat).some((one) => isIn(one, path)) ? "missing" : "refused" };
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
  try {
    return realpathSync(path);
  } catch {
    return join(path);
  }
}
