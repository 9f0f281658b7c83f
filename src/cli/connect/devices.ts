import { setTimeout as sleep } from "node:timers/promises";
import { sageHome, type Home } from "../../config/home/home.ts";
import { peopleIn } from "../../config/settings/people.ts";
import { readSettings } from "../../config/settings/settings.ts";
import { openSurfaceStores, shareFile } from "../../host/surface-store.ts";
import { oneLine } from "../../base/visible.ts";
import type { SharedStore } from "../../protocol/host/surface-store.ts";
import { CODE_MS, createDevices, LINK_MS, type Devices } from "../../surfaces/web/index.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import { deviceTexts, type DeviceTexts } from "../../texts/serve/devices.ts";
import type { Lang } from "../../texts/language.ts";
import { tableLines } from "../../view/lines/table.ts";
import { agrees, accountName } from "../host/journal.ts";
import { engineUrl } from "../host/join-engine.ts";
import { exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";
import { openGatewayMemory } from "../host/gateway-memory.ts";
import { createVisitors, isHere, linkTo } from "../serve/web/visitors.ts";
import { lifeOf } from "../../processes/identity.ts";
import { servedKey, type Served } from "../serve/surface-memory.ts";

const POLL_MS = 250;
/** A device that was let in fetches its key within this time, or has gone. */
const FETCH_MS = 5_000;

/** `sage devices …`: browsers, phones and terminals that may come in, for `sage serve`. */
export async function devices(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, {
    json: { type: "boolean" },
    all: { type: "boolean" },
    person: { type: "string" },
    engine: { type: "string" },
  } as const);
  const t = deviceTexts(lang);
  const [action = "list", ...words] = positionals;
  const home = sageHome(process.env);
  const memory = await openMemory(values.engine, home, lang);
  try {
    const known = createDevices(memory.store);
    switch (action) {
      case "list":
        if (words.length > 0) throw usage(t.usage);
        return list(known, home, values.json === true, t);
      case "add": {
        if (words.length > 1) throw usage(t.usage);
        const origins = await memory.origins();
        if (origins.length === 0) throw usage(t.notServed);
        return await add(known, origins, { owner: ownerOf(values.person, home, t), name: words[0] }, t);
      }
      case "remove": {
        const chosen = values.all ? known.list().map(({ id }) => id) : words;
        if ((chosen.length === 0 && !values.all) || (values.all && words.length > 0)) throw usage(t.usage);
        return await remove(known, chosen, t);
      }
      default:
        throw usage(t.usage);
    }
  } finally {
    await memory.close();
  }
}

type DeviceMemory = {
  store: SharedStore;
  origins(): Promise<string[]>;
  close(): Promise<void>;
};

/** The devices that `sage serve` remembers: in a file of this machine, or with all gateways in the database. */
async function openMemory(engine: string | undefined, home: Home, lang: Lang): Promise<DeviceMemory> {
  const t = clusterTexts(lang);
  const url = engineUrl(engine, process.env, t);
  if (url === undefined) {
    const stores = openSurfaceStores(home.surfaces);
    const store = shareFile(stores.of("web"));
    return {
      store,
      async origins() {
        const served = store.get("served") as Served | undefined;
        return served && lifeOf(served) === "alive" ? served.origins : [];
      },
      close: async () => stores.close(),
    };
  }
  const { gateways, share, close } = await openGatewayMemory(url, t);
  try {
    const store = await share("web");
    return {
      store,
      origins: async () =>
        (await gateways()).flatMap(({ id }) => (store.get(servedKey(id)) as string[] | undefined) ?? []),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function list(known: Devices, home: Home, json: boolean, t: DeviceTexts): number {
  const { visitorOf } = createVisitors(known, () => readSettings(home.settings));
  const all = known.list().map((device) => ({ ...device, person: visitorOf({ device })?.by }));
  if (json) console.log(JSON.stringify(all));
  else if (all.length === 0) console.log(t.none);
  else {
    const row = ({ id, name, person = t.nobody, at, seen, from, passkeys }: (typeof all)[number]) =>
      [id, passkeys ? t.withPasskey(name) : name, person, day(at), minute(seen), from] as const;
    console.log(tableLines([t.head, ...all.map(row)]).join("\n"));
  }
  return exitCodes.success;
}

async function add(
  known: Devices,
  origins: readonly string[],
  { owner, name }: { owner: string; name: string | undefined },
  t: DeviceTexts,
): Promise<number> {
  // A program that reads the output could use the link, and nobody would say no.
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw usage(t.terminalOnly);
  const origin = origins.find((origin) => origin.startsWith("https:")) ?? origins.find(isHere) ?? origins[0] ?? "";
  const { id, key } = await known.invite({ owner, confirm: true, ...(name !== undefined && { name }) });
  const link = linkTo(origin, key);
  const { encodeQR } = await import("qr");
  console.log(t.scan(LINK_MS / 60_000));
  console.log(`\n${encodeQR(link, "ascii", { border: 2 })}\n  ${link}\n`);
  console.log(t.code(await known.code(id), origin, CODE_MS / 60_000));
  if (!origin.startsWith("https:")) console.log(t.onlyHere(origin));
  console.log(t.waiting);
  const applicant = await until(known, () => known.applicant(id), LINK_MS);
  if (!applicant) return told(t.late, exitCodes.failure);
  const called = oneLine(name ?? applicant.name);
  const yes = await agrees(t.admit(called, oneLine(applicant.from)));
  if (!(await known.admit(id, yes))) return told(t.gone(called), exitCodes.failure);
  if (!yes) return told(t.turnedAway(called), exitCodes.failure);
  const fetched = await until(known, () => (known.isOpen(id) ? undefined : true), FETCH_MS);
  return fetched ? told(t.admitted(called), exitCodes.success) : told(t.gone(called), exitCodes.failure);
}

async function remove(known: Devices, ids: readonly string[], t: DeviceTexts): Promise<number> {
  const unknown = ids.filter((id) => !known.withId(id));
  if (unknown[0] !== undefined) throw usage(t.unknown(unknown[0]));
  for (const id of ids) {
    const { name = id } = known.withId(id) ?? {};
    await known.remove(id);
    console.log(t.removed(oneLine(name)));
  }
  return exitCodes.success;
}

/** The person at this machine invites for themselves, or for somebody whom the settings name. */
function ownerOf(person: string | undefined, home: Home, t: DeviceTexts): string {
  if (person === undefined) return `account:${accountName()}`;
  const names = peopleIn(readSettings(home.settings)).map(({ name }) => name);
  if (!names.includes(person)) throw usage(t.unknownPerson(person, names));
  return `person:${person}`;
}

async function until<T>(known: Devices, look: () => T | undefined, withinMs: number): Promise<T | undefined> {
  const end = performance.now() + withinMs;
  for (;;) {
    await known.refresh();
    const found = look();
    if (found !== undefined || performance.now() > end) return found;
    await sleep(POLL_MS);
  }
}

function told(text: string, code: number): number {
  console.log(text);
  return code;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const minute = (at: number) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
