import { sageHome } from "../../config/home/home.ts";
import type { LocalHost } from "../../host/host.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Host } from "../../protocol/host/host.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { engineFlag, openJournal, person } from "./journal.ts";
import type { HostTarget } from "./paired-hosts.ts";
import { usage } from "../process/flags.ts";

/** Flags of commands that work on a host: another machine's, where --host or SAGE_HOST names one, or a shared journal. */
export const hostFlag = { host: { type: "string" }, ...engineFlag } as const;

type Values = { host?: string | undefined; engine?: string | undefined };

export function isRemote({ host, engine }: Values): boolean {
  return host !== undefined || (engine === undefined && Boolean(process.env["SAGE_HOST"]));
}

export async function targetFor(values: Values): Promise<HostTarget> {
  const { hostTarget } = await import("./paired-hosts.ts");
  const target = hostTarget(values.host, process.env, sageHome(process.env));
  if (!target) throw new Error("no host is named");
  return target;
}

export type Opened = AsyncDisposable & {
  host: Host & { close(): Promise<void> };
  me: { by: string; surface: string };
  /** Names the host on the command line: `--host box `, or nothing. */
  flag: string;
  /** The journal, where it is at hand: this machine's, or a shared one. */
  store?: Store;
  /** Set where the journal is this machine's, and sessions can run here. */
  local?: { host: LocalHost; store: Store };
};

export async function openHost(values: Values, { lang, looks }: { lang: Lang; looks: boolean }): Promise<Opened> {
  if (values.host !== undefined && values.engine !== undefined)
    throw usage(cliTexts(lang).conflict("--host", "--engine"));
  if (!isRemote(values)) {
    const { host, store, [Symbol.asyncDispose]: leave } = await openJournal(values, { lang, looks });
    const opened = { host, me: { by: person(), surface: "cli" }, store, [Symbol.asyncDispose]: leave };
    // An address may hold a password: the flag is for the person to repeat.
    if (store.shared) return { ...opened, flag: values.engine === undefined ? "" : "--engine … " };
    return { ...opened, flag: "", local: { host, store } };
  }
  const { connectRemoteHost } = await import("./remote-host.ts");
  const target = await targetFor(values);
  const { host, welcome } = await connectRemoteHost(target, { surface: "sdk", lang });
  return { host, me: welcome.me, flag: `--host ${target.named} `, [Symbol.asyncDispose]: () => host.close() };
}
