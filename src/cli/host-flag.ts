import { sageHome } from "../config/home.ts";
import type { LocalHost } from "../host/host.ts";
import type { Store } from "../journal/store.ts";
import type { Host } from "../protocol/index.ts";
import type { Lang } from "../texts/language.ts";
import { person } from "./account.ts";
import type { HostTarget } from "./hosts.ts";
import { openJournal } from "./journal.ts";

/** Of commands that work on a host: another machine's, where --host or SAGE_HOST names one. */
export const hostFlag = { host: { type: "string" } } as const;

type Values = { host?: string | undefined };

export function isElsewhere({ host }: Values): boolean {
  return host !== undefined || Boolean(process.env["SAGE_HOST"]);
}

export async function targetFor(values: Values): Promise<HostTarget> {
  const { hostTarget } = await import("./hosts.ts");
  const target = hostTarget(values.host, process.env, sageHome(process.env));
  if (!target) throw new Error("no host is named");
  return target;
}

/** The host that a command works on. `local`: it is this machine's, and what only its journal tells is at hand. */
export type Opened = {
  host: Host & { close(): Promise<void> };
  me: { by: string; surface: string };
  /** Names the host on the command line: `--host box `, or nothing. */
  flag: string;
  local?: { host: LocalHost; store: Store };
};

export async function openHost(values: Values, { lang, looks }: { lang: Lang; looks: boolean }): Promise<Opened> {
  if (!isElsewhere(values)) {
    const { host, store } = openJournal(process.env, { looks });
    return { host, me: { by: person(), surface: "cli" }, flag: "", local: { host, store } };
  }
  const { connectElsewhere } = await import("./elsewhere.ts");
  const target = await targetFor(values);
  const { host, welcome } = await connectElsewhere(target, { surface: "sdk", lang });
  return { host, me: welcome.me, flag: `--host ${target.named} ` };
}
