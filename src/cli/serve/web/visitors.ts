import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accountHasRole, peopleIn, personWith, rightsOf } from "../../../config/settings/people.ts";
import type { Settings } from "../../../config/settings/settings.ts";
import type { Guard, PersonOf } from "../../../host/guard.ts";
import { type Devices, type Identity, LINK_MS, type Visitor } from "../../../surfaces/web/index.ts";
import type { ServeTexts } from "../../../texts/serve/serve.ts";
import { accountName } from "../../host/journal.ts";

const OPENING_MS = 30_000;

export type Visitors = {
  visitorOf(identity: Identity): Visitor | undefined;
  /** For the host, which checks again. */
  guard: Guard;
  personOf: PersonOf;
};

/** People who connect over the web, by the current list of people. */
export function createVisitors(devices: Devices, settings: () => Settings): Visitors {
  const visitorOf = (identity: Identity): Visitor | undefined => {
    if ("proxy" in identity) {
      const listed = personWith(settings(), `proxy:${identity.proxy}`);
      return listed && { by: listed.name, person: `proxy:${identity.proxy}`, may: rightsOf(listed) };
    }
    const { id, name, owner } = identity.device;
    return withId(deviceOwner(settings(), id, owner), `device:${id}`, name);
  };
  const senderOf = (person = ""): Visitor | undefined => {
    const [, kind, id = ""] = /^(account|device|proxy):(.*)$/s.exec(person) ?? [];
    if (kind === "proxy") return visitorOf({ proxy: id });
    if (kind === "account") return withId(deviceOwner(settings(), "", person), person);
    const device = kind === "device" ? devices.withId(id) : undefined;
    return device && visitorOf({ device });
  };
  return {
    visitorOf,
    guard: ({ person }, act) => senderOf(person)?.may.includes(act) ?? false,
    personOf({ person }) {
      const people = peopleIn(settings());
      if (people.length === 0) return undefined;
      const name = senderOf(person)?.by;
      return people.find((person) => person.name === name)?.name ?? null;
    },
  };
}

type Known = Pick<Visitor, "by" | "may" | "owner">;

function withId(known: Known | undefined, person: string, device?: string): Visitor | undefined {
  return known && { ...known, person, ...(device !== undefined && { device }) };
}

/** Settings decide who owns a device; otherwise its invitation does. */
function deviceOwner(settings: Settings, id: string, owner: string): Known | undefined {
  const named = /^person:(.*)$/s.exec(owner)?.[1];
  const listed = personWith(settings, `device:${id}`) ?? peopleIn(settings).find(({ name }) => name === named);
  if (listed) return { by: listed.name, may: rightsOf(listed), owner: `person:${listed.name}` };
  const account = /^account:(.*)$/s.exec(owner)?.[1];
  if (account === undefined || !accountHasRole(settings, account, "talker")) return undefined;
  return {
    by: personWith(settings, owner)?.name ?? account,
    may: ["talk", ...(accountHasRole(settings, account, "approver") ? (["approve"] as const) : [])],
  };
}

type Inviting = {
  devices: Devices;
  origins: readonly string[];
  /** Folder of the person's own, which nobody else can read. */
  folder: string;
  opens: boolean;
  env: NodeJS.ProcessEnv;
  t: ServeTexts;
};

/** Lets the person who started the daemon in: by a link that works once. It goes to them, and into no log. */
export async function inviteSelf({ devices, origins, folder, opens, env, t }: Inviting): Promise<void> {
  const isKept = env["JOURNAL_STREAM"] !== undefined; // below systemd, everything that is printed
  if (isKept && !opens) return;
  const { key } = await devices.invite({ owner: `account:${accountName()}` });
  const link = linkTo(origins.find(isHere) ?? origins[0] ?? "", key);
  const show = () => isKept || console.log(t.page(link, LINK_MS / 60_000));
  if (opens) open(link, { folder, env, show });
  else show();
}

/** In the fragment, which no server, proxy or referrer sees. */
export function linkTo(origin: string, key: string): string {
  return `${origin}/#k=${key}`;
}

export function isHere(origin: string): boolean {
  return origin.startsWith("http://127.0.0.1:");
}

/** Arguments of programs are visible to other users, so a file holds the link for a while. Without a browser, as over ssh, it is shown. */
function open(link: string, { folder, env, show }: Pick<Inviting, "folder" | "env"> & { show: () => void }): void {
  const file = join(folder, "open.html");
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">\n`, { mode: 0o600 });
  const program = { darwin: "open", win32: "explorer" }[process.platform as string] ?? "xdg-open";
  const child = spawn(program, [file], { stdio: "ignore", detached: true, env });
  child.on("error", show);
  child.on("exit", (code) => code === 0 || program === "explorer" || show()); // that one never ends with 0
  child.unref();
  const remove = () => {
    child.removeAllListeners("exit"); // of a browser that somebody closes
    rmSync(file, { force: true });
  };
  setTimeout(remove, OPENING_MS).unref();
  process.on("exit", remove);
}
