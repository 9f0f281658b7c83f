import { userInfo } from "node:os";
import { sageHome, type Home } from "../../config/home/home.ts";
import { accountHasRole, liveSettings, peopleIn, personWith } from "../../config/settings/people.ts";
import { readSettings, type Settings } from "../../config/settings/settings.ts";
import type { Act, Guard, PersonOf } from "../../host/guard.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

/** Name of the person at the keyboard: the one that `people` gives to their account, or the account's own. */
export function person(settings: Settings = readSettings(sageHome(process.env).settings)): string {
  const account = accountName();
  return personWith(settings, `account:${account}`)?.name ?? account;
}

/** In a process that one person started, every command is theirs. The settings are read when the first one comes. */
export function accountGuard({ settings: path }: Pick<Home, "settings">): Guard {
  let settings: (() => Settings) | undefined;
  return (_sender, act) => accountMay((settings ??= liveSettings(path))(), act);
}

export function accountPerson({ settings: path }: Pick<Home, "settings">): PersonOf {
  let settings: (() => Settings) | undefined;
  return () => {
    const now = (settings ??= liveSettings(path))();
    if (peopleIn(now).length === 0) return undefined;
    return personWith(now, `account:${accountName()}`)?.name ?? null;
  };
}

export function accountMay(settings: Settings, act: Act): boolean {
  return accountHasRole(settings, accountName(), act === "talk" ? "talker" : "approver");
}

/** Throws unless the account may approve: for commands that let something run and do not go through a host, which would check them. */
export function checkApprover(settings: Settings = readSettings(sageHome(process.env).settings)): void {
  if (!accountMay(settings, "approve"))
    throw new SageError("not-permitted", reason("may-not-approve", { by: person(settings) }));
}

/** The account that the system knows, never a variable: a list of roles would be worth nothing then. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `${process.getuid?.() ?? "you"}`; // a container may know no name for its user
  }
}
