import { hash } from "node:crypto";
import { hostname } from "node:os";
import type { Home } from "../../config/home/home.ts";
import { dropKey, keptKey, saveKey, type KeyPlace } from "../../config/home/keys.ts";
import { changeSettings, readSettings, type Settings } from "../../config/settings/settings.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { thrownText } from "../../texts/shared/error.ts";
import { person } from "./journal.ts";

export type HostTarget = {
  /** Scheme, name and port: a key belongs to these. */
  address: string;
  /** The word by which it is named on the command line. */
  named: string;
  /** Key of a one-time link: this machine is paired before anything else. */
  invitation?: string;
};

const PAIR_MS = 5 * 60_000;
/** A host that takes longer asks somebody. */
const ASKED_MS = 1_500;

/** The host that --host or SAGE_HOST names; undefined for this machine's own. Only the person's own settings name hosts. */
export function hostTarget(given: string | undefined, env: NodeJS.ProcessEnv, home: Home): HostTarget | undefined {
  const named = given ?? env["SAGE_HOST"];
  return named === undefined || named === "" ? undefined : targetOf(named, readSettings(home.settings));
}

/** Finds a host by a name of the settings, by an address, or by a one-time link. */
export function targetOf(given: string, { hosts = {} }: Pick<Settings, "hosts">): HostTarget {
  const known = Object.hasOwn(hosts, given) ? hosts[given] : undefined;
  if (known !== undefined) return { address: known, named: given };
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given))
    throw new SageError("config-invalid", reason("host-not-named", { given, known: Object.keys(hosts) }));
  const { protocol, hostname: name, origin, hash: fragment } = new URL(given);
  const isHere = name === "localhost" || name === "[::1]" || /^127(\.\d+){3}$/.test(name);
  if (protocol !== "https:" && !isHere)
    throw new SageError("config-invalid", reason("host-insecure", { address: origin }));
  const called = Object.entries(hosts).find(([, address]) => address === origin)?.[0];
  const invitation = /^#k=(.+)$/.exec(fragment)?.[1];
  return { address: origin, named: called ?? origin, ...(invitation !== undefined && { invitation }) };
}

/** Trades a one-time link or code for a key of this machine, and keeps the key. */
export async function pair(
  { address }: HostTarget,
  by: { key: string } | { code: string },
  {
    home,
    env,
    waits,
  }: { home: Home; env: NodeJS.ProcessEnv; /** Somebody there has to say yes first. */ waits(): void },
): Promise<{ by: string; place: KeyPlace }> {
  const name = `${person()}@${hostname()}`.slice(0, 60);
  const patience = setTimeout(waits, ASKED_MS);
  const reply = await request(address, "/v1/pair", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...by, name }),
  }).finally(() => clearTimeout(patience));
  if (reply.status === 429) throw new SageError("queue-full", reason("pairing-too-often", { address }));
  if (reply.status === 401) throw new SageError("key-unknown", reason("pairing-refused", { address }));
  const told = (await reply.json().catch(() => ({}))) as { key?: unknown; me?: { by?: unknown } };
  if (!reply.ok || typeof told.key !== "string")
    throw new SageError("host-gone", reason("host-shut", { address, why: `HTTP ${reply.status}` }));
  const place = saveKey(home, env, keyVariable(address), told.key);
  return { by: typeof told.me?.by === "string" ? told.me.by : name, place };
}

/** Adds a host to the person's settings and returns its name, for `--host`. */
export function nameHost(address: string, home: Home, name?: string): string {
  const known = readSettings(home.settings).hosts ?? {};
  const before = Object.entries(known).find(([, known]) => known === address)?.[0];
  const called = name ?? before ?? freeName(address, known);
  if (Object.hasOwn(known, called) && known[called] === address) return called;
  changeSettings(home.settings, (all) => ({ ...all, hosts: { ...all.hosts, [called]: address } }));
  return called;
}

/** Its own name; with the port, or with a number, where another host is called so. */
function freeName(address: string, known: Readonly<Record<string, string>>): string {
  const { hostname: name, port } = new URL(address);
  const own = name.startsWith("[") ? "host" : name.slice(0, 30);
  const names = [own, ...(port === "" ? [] : [`${own}-${port}`])];
  for (let n = 2; names.every((name) => Object.hasOwn(known, name)); n++) names.push(`${own}-${n}`);
  return names.find((name) => !Object.hasOwn(known, name)) ?? own;
}

/** Removes the host's key here and this machine there. False if the host could not be reached. */
export async function unpair(address: string, { home, env }: { home: Home; env: NodeJS.ProcessEnv }): Promise<boolean> {
  const key = hostKey(address, { home, env });
  dropKey(home, keyVariable(address));
  if (key === undefined) return false;
  const headers = { authorization: `Bearer ${key}` };
  return request(address, "/v1/device", { method: "DELETE", headers }).then(
    ({ ok, status }) => ok || status === 401,
    () => false,
  );
}

export function hostKey(address: string, { home, env }: { home: Home; env: NodeJS.ProcessEnv }): string | undefined {
  return keptKey(home, env, keyVariable(address));
}

function keyVariable(address: string): string {
  return `SAGE_HOST_KEY_${hash("sha256", address).slice(0, 16).toUpperCase()}`;
}

/** A host that leads elsewhere is none: the key in the request is for this one alone. */
async function request(address: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${address}${path}`, { ...init, redirect: "error", signal: AbortSignal.timeout(PAIR_MS) });
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    const problem = cause?.code ?? thrownText(error);
    throw new SageError("host-gone", reason("host-not-there", { address, problem }));
  }
}
