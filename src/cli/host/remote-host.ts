import { ask } from "../../protocol/host/refusal.ts";
import { sageHome, readInstallation } from "../../config/home/home.ts";
import { connectWeb } from "../../host/socket/connect-web.ts";
import { contextWindow } from "../../models/window.ts";
import type { Host } from "../../protocol/host/host.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { ClientSurface, Welcome } from "../../remote/frames.ts";
import { closeCodes } from "../../remote/wire.ts";
import { hostsTexts } from "../../texts/serve/hosts.ts";
import type { Lang } from "../../texts/language.ts";
import { hostKey, nameHost, pair, type HostTarget } from "./paired-hosts.ts";
import { requirePerson } from "./people-only.ts";
import type { HostClient } from "./host-client.ts";

const TIMEOUT_MS = 10_000;

type RemoteHost = { host: Host & { close(): Promise<void> }; welcome: Welcome; address: string };

/** Connects to a host that is elsewhere; a one-time link pairs with it first. Throws with what to do next. */
export async function connectRemoteHost(
  target: HostTarget,
  { surface, lang }: { surface: ClientSurface; lang: Lang },
): Promise<RemoteHost> {
  const { address, invitation } = target;
  const { env } = process;
  requirePerson(env);
  const home = sageHome(env);
  if (invitation !== undefined) {
    const w = hostsTexts(lang);
    const waits = () => console.error(`sage: ${w.waiting}`);
    const { by, place } = await pair(target, { key: invitation }, { home, env, waits });
    console.error(`sage: ${w.paired(address, by, w.places[place])} ${w.nextTime(`--host ${nameHost(address, home)}`)}`);
  }
  const key = hostKey(address, { home, env });
  if (key === undefined) throw new SageError("key-unknown", reason("host-key-missing", { address }));
  const host = connectWeb(address, key, { surface, lang });
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => patience.reject(new SageError("host-gone", reason("host-not-there", { address, problem: "" }))),
    TIMEOUT_MS,
  );
  try {
    const welcome = await Promise.race([host.welcome, patience.promise]);
    return { host: { ...host, close: async () => host.close() }, welcome, address };
  } catch (error) {
    host.close();
    throw explainConnectError(error, address);
  } finally {
    clearTimeout(timer);
  }
}

/** Says what is wrong with the connection, and what to do about it. */
export function explainConnectError(error: unknown, address: string): unknown {
  if (!(error instanceof SageError) || !error.reason) return error;
  const { code, args } = error.reason;
  if (code === "device-key-unknown") return new SageError("key-unknown", reason("host-key-refused", { address }));
  if (code !== "host-refused") return error;
  const { code: closed, why } = args;
  return closed === closeCodes.noCommonProtocol || closed === closeCodes.notUnderstood
    ? new SageError("host-gone", reason("host-speaks-other", { address, why }))
    : new SageError("not-permitted", reason("host-shut", { address, why }));
}

/** A person before a host that is elsewhere. Editor, history, colours and paths to write to are of this machine. */
export function remoteHostClient({ host, welcome }: RemoteHost, target: HostTarget): HostClient {
  const { home, settings } = readInstallation(process.env);
  const { by, surface } = welcome.me;
  return {
    host,
    by,
    surface,
    home,
    settings,
    flag: `--host ${target.named} `,
    cwd: process.cwd(),
    ready: async () => {},
    async look(session) {
      const { session: told } = await ask(host, { type: "about", session });
      const { cwd = "", model = "", contextWindow: own, sandbox, skills = [], commands = [] } = told ?? {};
      return {
        cwd,
        model,
        window: (name) => (name === model && own !== undefined ? own : contextWindow(name)),
        ...(sandbox && { sandbox }),
        invocable: [...commands, ...skills.filter(({ invocable }) => invocable)],
        prompts: async () => (await ask(host, { type: "about", session, prompts: true })).session?.prompts ?? [],
      };
    },
  };
}
