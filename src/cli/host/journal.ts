import type { OutsideSettings } from "../../input/outside.ts";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import type { Store } from "../../journal/store/store.ts";
import { said, SageError, reason } from "../../protocol/reasons/reason.ts";
import { sageHome, type Home } from "../../config/home/home.ts";
import { createHost, type HostParts, type LocalHost } from "../../host/host.ts";
import type { Lang } from "../../texts/language.ts";
import { hostHome } from "./host-home.ts";
import { version } from "../../config/version.ts";
import { userInfo } from "node:os";
import { accountHasRole, liveSettings, peopleIn, personWith } from "../../config/settings/people.ts";
import { readSettings, type Settings } from "../../config/settings/settings.ts";
import type { Act, Guard, PersonOf } from "../../host/guard.ts";

/** A journal for commands that read and answer but run no turn. Closed on errors, too. */
export type Journal = AsyncDisposable & { host: LocalHost; store: Store; home: Home };

/** Flags of commands that work on any journal: the one that machines share, where --engine or SAGE_ENGINE names one. */
export const engineFlag = { engine: { type: "string" } } as const;

type Looks = {
  /** A read-only command also opens a journal that it may not write. */
  looks?: boolean;
  lang: Lang;
};

/** The shared journal that is named, or else this machine's. */
export async function openJournal(
  { engine }: { engine?: string | undefined },
  { lang, looks }: Looks,
): Promise<Journal> {
  const url = await engineNamed(engine, lang);
  if (url === undefined) return openLocalJournal(process.env, { ...(looks && { looks }) });
  const { openSharedJournal } = await import("./shared-journal.ts");
  return openSharedJournal(url, process.env, lang);
}

async function engineNamed(flag: string | undefined, lang: Lang): Promise<string | undefined> {
  if (flag === undefined && !process.env["SAGE_ENGINE"]) return undefined;
  const [{ engineUrl }, { clusterTexts }] = await Promise.all([
    import("./join-engine.ts"),
    import("../../texts/serve/cluster.ts"),
  ]);
  return engineUrl(flag, process.env, clusterTexts(lang));
}

export function openLocalJournal(
  env: NodeJS.ProcessEnv,
  { silence, ...options }: { looks?: boolean; silence?: OutsideSettings } = {},
): Journal {
  const home = sageHome(env);
  const store = sqliteStore(home.journal, options);
  const host = createHost({ ...hostParts(store, home, env), ...(silence && { silence }) });
  return { store, home, host, [Symbol.asyncDispose]: host.close };
}

/** A host that runs no turn. It knows the person of this account alone. */
export function hostParts(store: Store, home: Home, env: NodeJS.ProcessEnv): HostParts {
  const executor = () => Promise.reject(new SageError("turn-failed", said("this command runs no turn")));
  const people = { guard: accountGuard(home), personOf: accountPerson(home) };
  return { store, version, executor, home: hostHome(home, env), ...people };
}

/** Only a person at a terminal can agree, and only by saying so. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const said = await reader.question(question);
  reader.close();
  return /^(y|yes|是)$/i.test(said.trim());
}

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
