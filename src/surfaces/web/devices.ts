import { createHash, randomBytes, randomInt } from "node:crypto";
import type { SurfaceStore } from "../../protocol/index.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
export const LINK_MS = 10 * MINUTE;
export const CODE_MS = 2 * MINUTE;
/** From the last use of a key. */
const KEY_MS = 90 * DAY;
/** A use is written down at most this often. */
const SEEN_MS = 5 * MINUTE;
/** Wrong codes, by anybody, until no code counts any more. */
const TRIES = 5;
const LONGEST_NAME = 60;
/** Without letters and digits that look alike. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const CODE_LENGTH = 8;

/** A device of a person: a browser, a phone, a terminal on another machine. Its key is known to the device alone. */
export type Device = {
  /** Short; people and settings name the device by it. */
  id: string;
  name: string;
  /** The person whom it was given to, as the invitation says: `account:lin`, or `person:Lin` for a name of the settings. */
  owner: string;
  at: number;
  seen: number;
  /** The address it last came from. */
  from: string;
};

/** An invitation lets one device in, once. */
export type Invitation = {
  owner: string;
  /** Name for the device; the device's own word for itself otherwise. */
  name?: string;
  /** Somebody at the terminal has to say yes to the device that took it up. */
  confirm?: true;
  /** Id of the device that made it. Without that device it lets nobody in: whoever stole one must not come back by it. */
  device?: string;
};

/** The device that took up an invitation, before somebody said yes to it. */
export type Applicant = { name: string; from: string };

export type Paired = { key: string; device: Device };

/** Devices and invitations of a surface. Links, codes and keys are kept as hashes: whoever reads the file can use none of them. */
export type Devices = {
  /** Makes an invitation: the key for its link, and its id, by which the terminal follows it. */
  invite(invitation: Invitation): { id: string; key: string };
  /** A code that stands for the link of an invitation for two minutes, where a camera fails. */
  code(invitation: string): string;
  /** Takes up an invitation; with a device at once, or once somebody has said yes. */
  take(by: { key: string } | { code: string }, applicant: Applicant): Taken | undefined;
  /** The applicant of an invitation that waits for a yes. */
  applicant(invitation: string): Applicant | undefined;
  /** Nobody has got a key by it yet. */
  isOpen(invitation: string): boolean;
  /** Ends the wait of an applicant. False when nobody waits. */
  admit(invitation: string, yes: boolean): boolean;
  /** The device of a key; with an address, that is noted as its use. */
  find(key: string, from?: string): Device | undefined;
  withId(id: string): Device | undefined;
  /** In the order in which they came. */
  list(): Device[];
  remove(id: string): boolean;
};

export type Taken = { state: "paired"; paired: Paired } | { state: "waiting"; look(): Verdict };

/** How it stands with an applicant: let in, turned away, or still waiting. */
export type Verdict = Paired | "refused" | "waiting";

type Kept = Invitation & { applicant?: Applicant; admitted?: boolean };

export function createDevices(store: SurfaceStore, now: () => number = Date.now): Devices {
  const invitationOf = (id: string) => {
    const found = store.get(`invitation/${id}`) as Kept | undefined;
    return found?.device === undefined || deviceWith(found.device) ? found : undefined;
  };
  const keep = (id: string, invitation: Kept) => store.set(`invitation/${id}`, invitation, { ttlMs: LINK_MS });
  const all = () => store.list("device/").map(({ key, value }) => ({ key, device: value as Device }));
  const deviceWith = (id: string) => all().find(({ device }) => device.id === id);

  const add = ({ owner, name }: Invitation, applicant: Applicant): Paired => {
    const key = `sagekey_${randomBytes(32).toString("base64url")}`;
    const taken = new Set(all().map(({ device }) => device.id));
    const device = {
      ...{ id: freeId(taken), name: tidy(name ?? applicant.name), owner },
      ...{ at: now(), seen: now(), from: applicant.from },
    };
    store.set(`device/${digest(key)}`, device, { ttlMs: KEY_MS });
    return { key, device };
  };

  /** A wrong code counts against every code: nobody can say which one was meant. */
  const invitationOfCode = (given: string): string | undefined => {
    const code = given.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
    const found = store.get(`code/${digest(code)}`);
    if (typeof found === "string") {
      store.delete(`code/${digest(code)}`);
      return found;
    }
    const living = store.list("code/");
    if (living.length === 0) return undefined;
    const tries = Number(store.get("tries") ?? 0) + 1;
    store.set("tries", tries, { ttlMs: CODE_MS });
    if (tries >= TRIES) for (const { key } of living) store.delete(key);
    return undefined;
  };

  return {
    invite(invitation) {
      const key = `sagelink_${randomBytes(24).toString("base64url")}`;
      const id = digest(key);
      keep(id, invitation);
      return { id, key };
    },
    code(invitation) {
      const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
      store.atomically(() => {
        store.set(`code/${digest(code)}`, invitation, { ttlMs: CODE_MS });
        store.delete("tries");
      });
      return `${code.slice(0, 4)}-${code.slice(4)}`;
    },
    take: (by, applicant) =>
      store.atomically(() => {
        const id = "key" in by ? digest(by.key) : invitationOfCode(by.code);
        const invitation = id === undefined ? undefined : invitationOf(id);
        if (id === undefined || !invitation || invitation.applicant) return undefined;
        if (!invitation.confirm) {
          store.delete(`invitation/${id}`);
          return { state: "paired", paired: add(invitation, applicant) };
        }
        const who = { name: tidy(applicant.name), from: applicant.from };
        keep(id, { ...invitation, applicant: who });
        return { state: "waiting", look: () => verdict(id) };
      }),
    applicant: (id) => {
      const { applicant, admitted } = invitationOf(id) ?? {};
      return admitted === undefined ? applicant : undefined;
    },
    isOpen: (id) => invitationOf(id) !== undefined,
    admit: (id, yes) =>
      store.atomically(() => {
        const invitation = invitationOf(id);
        if (!invitation?.applicant || invitation.admitted !== undefined) return false;
        keep(id, { ...invitation, admitted: yes });
        return true;
      }),
    find: (key, from) =>
      store.atomically(() => {
        const at = `device/${digest(key)}`;
        const device = store.get(at) as Device | undefined;
        if (!device || from === undefined) return device;
        if (device.from === from && now() - device.seen < SEEN_MS) return device;
        const seen = { ...device, seen: now(), from };
        store.set(at, seen, { ttlMs: KEY_MS });
        return seen;
      }),
    withId: (id) => deviceWith(id)?.device,
    list: () =>
      all()
        .map(({ device }) => device)
        .toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1)),
    remove: (id) => {
      const found = deviceWith(id);
      return found !== undefined && store.delete(found.key);
    },
  };

  /** The key is made for whoever asks first after the yes, and never again. */
  function verdict(id: string): Verdict {
    return store.atomically(() => {
      const invitation = invitationOf(id);
      if (!invitation?.applicant) return "refused"; // it has expired
      if (invitation.admitted === undefined) return "waiting";
      store.delete(`invitation/${id}`);
      return invitation.admitted ? add(invitation, invitation.applicant) : "refused";
    });
  }
}

/** A tab that asks for its name is shown in a terminal: one line, and not a long one. */
function tidy(name: string): string {
  const line = name.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return line === "" ? "?" : line.slice(0, LONGEST_NAME);
}

function freeId(taken: ReadonlySet<string>): string {
  for (;;) {
    const id = Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    if (!taken.has(id)) return id;
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
