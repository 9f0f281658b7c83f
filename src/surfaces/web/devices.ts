import { createHash, randomBytes, randomInt } from "node:crypto";
import type { SharedStore, SurfaceStore } from "../../protocol/host/surface-store.ts";
import { isElsewhere } from "./address.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
export const LINK_MS = 10 * MINUTE;
export const CODE_MS = 2 * MINUTE;
/** From the last use of a key. */
const KEY_MS = 90 * DAY;
/** A use is written down at most this often. */
const SEEN_MS = 5 * MINUTE;
/** From the question to the passkey's signature. */
const CHALLENGE_MS = 2 * MINUTE;
/** Wrong codes, by anybody, until no code counts any more. */
const TRIES = 5;
const MAX_NAME_LENGTH = 60;
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
  /** It has come from this machine: its key lies in files that code of these accounts may read, and counts as no proof any more. */
  here?: true;
  /** Passkeys that were made on it; they go with it. */
  passkeys?: Passkey[];
};

/** A key that signs a yes once a person was verified. `site`: the host that it was made for. */
export type Passkey = { credential: string; publicKey: string; counter: number; site: string; at: number };

/** The device and address that a challenge was given to: it is answered once, within two minutes, at the same address and by the same device. */
type Challenge = { device: string; origin: string; nonce?: string };

/** An invitation lets one device in, once. */
type Invitation = {
  owner: string;
  /** Name for the device; the device's own word for itself otherwise. */
  name?: string;
  /** Somebody at the terminal has to say yes to the device that took it up. */
  confirm?: true;
  /** Id of the device that created it. It is void once that device is removed: a thief must not get back in with it. */
  device?: string;
};

/** The device that used an invitation and awaits confirmation. */
type Applicant = { name: string; from: string };

export type Paired = { key: string; device: Device };

/**
 * Devices and invitations of a surface. Links, codes and keys are kept as hashes: whoever reads them can use none of them. What changes
 * something is settled where it is kept, so that of several daemons one lets somebody in; looking is quick, and may be a second behind.
 */
export type Devices = {
  /** False: they may have changed elsewhere, and nobody here would know. Then nobody comes in. */
  areCurrent(): boolean;
  /** Reads what has changed elsewhere. */
  refresh(): Promise<void>;
  /** Makes an invitation: the key for its link, and its id, by which the terminal follows it. */
  invite(invitation: Invitation): Promise<{ id: string; key: string }>;
  /** A code that replaces the link of an invitation for two minutes, if there is no camera. */
  code(invitation: string): Promise<string>;
  /** Uses an invitation; pairs the device at once, or once somebody has confirmed. */
  take(by: { key: string } | { code: string }, applicant: Applicant): Promise<Taken | undefined>;
  /** The applicant of an invitation that waits for a yes. */
  applicant(invitation: string): Applicant | undefined;
  /** Nobody has got a key by it yet. */
  isOpen(invitation: string): boolean;
  /** Ends the wait of an applicant. False when nobody waits. */
  admit(invitation: string, yes: boolean): Promise<boolean>;
  /** The device of a key; with an address, that is noted as its use. */
  find(key: string, from?: string): Device | undefined;
  withId(id: string): Device | undefined;
  list(): Device[];
  remove(id: string): Promise<boolean>;
  /** Keeps a challenge, for whoever redeems it first. */
  challenge(text: string, given: Challenge): Promise<void>;
  redeem(text: string): Promise<Challenge | undefined>;
  /** False: the device is gone, or a device has this passkey. */
  addPasskey(id: string, passkey: Passkey): Promise<boolean>;
  /** Notes the counter of a signature. False: the passkey is gone, or was copied, since the counter did not grow. */
  countPasskey(id: string, credential: string, counter: number): Promise<boolean>;
};

export type Taken = { state: "paired"; paired: Paired } | { state: "waiting"; look(): Promise<Verdict> };

/** State of an applicant: let in, turned away, or still waiting. */
type Verdict = Paired | "refused" | "waiting";

type Kept = Invitation & { applicant?: Applicant; admitted?: boolean };

export function createDevices(shared: SharedStore, now: () => number = Date.now): Devices {
  return {
    areCurrent: shared.isCurrent,
    refresh: shared.refresh,
    async invite(invitation) {
      const key = `sagelink_${randomBytes(24).toString("base64url")}`;
      const id = digest(key);
      await shared.change((store) => keep(store, id, invitation));
      return { id, key };
    },
    async code(invitation) {
      const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
      await shared.change((store) => {
        store.set(`code/${digest(code)}`, invitation, { ttlMs: CODE_MS });
        store.delete("tries");
      });
      return `${code.slice(0, 4)}-${code.slice(4)}`;
    },
    take: (by, applicant) =>
      shared.change((store) => {
        const id = "key" in by ? digest(by.key) : invitationOfCode(store, by.code);
        const invitation = id === undefined ? undefined : invitationOf(store, id);
        if (id === undefined || !invitation || invitation.applicant) return undefined;
        if (!invitation.confirm) {
          store.delete(`invitation/${id}`);
          return { state: "paired", paired: add(store, invitation, applicant) };
        }
        keep(store, id, { ...invitation, applicant: { name: tidy(applicant.name), from: applicant.from } });
        return { state: "waiting", look: () => verdict(id) };
      }),
    applicant: (id) => {
      const { applicant, admitted } = invitationOf(shared, id) ?? {};
      return admitted === undefined ? applicant : undefined;
    },
    isOpen: (id) => invitationOf(shared, id) !== undefined,
    admit: (id, yes) =>
      shared.change((store) => {
        const invitation = invitationOf(store, id);
        if (!invitation?.applicant || invitation.admitted !== undefined) return false;
        keep(store, id, { ...invitation, admitted: yes });
        return true;
      }),
    find(key, from) {
      const at = `device/${digest(key)}`;
      const device = shared.get(at) as Device | undefined;
      if (!device || from === undefined) return device;
      if (device.from === from && now() - device.seen < SEEN_MS) return device;
      const here = device.here ?? (isElsewhere(device.from) && isElsewhere(from) ? undefined : true);
      const seen: Device = { ...device, seen: now(), from, ...(here && { here }) };
      // A device removed in the meantime stays removed. If this fails, its next use is recorded.
      const use = { seen: seen.seen, from, ...(here && { here }) };
      shared.change((store) => void change(store, at, (kept) => ({ ...kept, ...use }))).catch(() => {});
      return seen;
    },
    withId: (id) => deviceWith(shared, id)?.device,
    list: () =>
      all(shared)
        .map(({ device }) => device)
        .toSorted((left, right) => left.at - right.at || (left.id < right.id ? -1 : 1)),
    remove: (id) =>
      shared.change((store) => {
        const found = deviceWith(store, id);
        return found !== undefined && store.delete(found.key);
      }),
    ...passkeysIn(shared),
  };

  /** The key is created for the first caller after the confirmation, and only once. */
  async function verdict(id: string): Promise<Verdict> {
    const waiting = invitationOf(shared, id);
    if (waiting?.applicant && waiting.admitted === undefined) return "waiting";
    return shared.change((store) => {
      const invitation = invitationOf(store, id);
      if (!invitation?.applicant) return "refused"; // it has expired
      if (invitation.admitted === undefined) return "waiting";
      store.delete(`invitation/${id}`);
      return invitation.admitted ? add(store, invitation, invitation.applicant) : "refused";
    });
  }

  function add(store: SurfaceStore, { owner, name }: Invitation, applicant: Applicant): Paired {
    const key = `sagekey_${randomBytes(32).toString("base64url")}`;
    const taken = new Set(all(store).map(({ device }) => device.id));
    const device = {
      id: freeId(taken),
      name: tidy(name ?? applicant.name),
      owner,
      at: now(),
      seen: now(),
      from: applicant.from,
      ...(!isElsewhere(applicant.from) && { here: true as const }),
    };
    store.set(`device/${digest(key)}`, device, { ttlMs: KEY_MS });
    return { key, device };
  }
}

function passkeysIn(shared: SharedStore): Pick<Devices, "challenge" | "redeem" | "addPasskey" | "countPasskey"> {
  return {
    challenge: (text, given) =>
      shared.change((store) => store.set(`challenge/${digest(text)}`, given, { ttlMs: CHALLENGE_MS })),
    redeem: (text) =>
      shared.change((store) => {
        const given = store.get(`challenge/${digest(text)}`) as Challenge | undefined;
        return store.delete(`challenge/${digest(text)}`) ? given : undefined;
      }),
    addPasskey: (id, passkey) =>
      shared.change((store) => {
        const at = deviceWith(store, id)?.key;
        const isKnown = all(store).some(({ device: { passkeys = [] } }) =>
          passkeys.some(({ credential }) => credential === passkey.credential),
        );
        if (at === undefined || isKnown) return false;
        return change(store, at, (kept) => ({ ...kept, passkeys: [...(kept.passkeys ?? []), passkey] }));
      }),
    countPasskey: (id, credential, counter) =>
      shared.change((store) => {
        const { key: at, device } = deviceWith(store, id) ?? {};
        const passkey = device?.passkeys?.find((kept) => kept.credential === credential);
        // Passkeys that are synchronized between devices do not count: they say 0 every time.
        if (at === undefined || !passkey || (counter <= passkey.counter && counter + passkey.counter > 0)) return false;
        const counted = (kept: Passkey) => (kept.credential === credential ? { ...kept, counter } : kept);
        return change(store, at, (kept) => ({ ...kept, passkeys: (kept.passkeys ?? []).map(counted) }));
      }),
  };
}

type Reads = Pick<SurfaceStore, "get" | "list">;

function invitationOf(store: Reads, id: string): Kept | undefined {
  const found = store.get(`invitation/${id}`) as Kept | undefined;
  return found?.device === undefined || deviceWith(store, found.device) ? found : undefined;
}

function keep(store: SurfaceStore, id: string, invitation: Kept): void {
  store.set(`invitation/${id}`, invitation, { ttlMs: LINK_MS });
}

function all(store: Reads): { key: string; device: Device }[] {
  return store.list("device/").map(({ key, value }) => ({ key, device: value as Device }));
}

/** On what is kept by then: a use and a passkey may come at once, and a device that was removed stays so. */
function change(store: SurfaceStore, at: string, next: (kept: Device) => Device): boolean {
  const kept = store.get(at) as Device | undefined;
  if (kept) store.set(at, next(kept), { ttlMs: KEY_MS });
  return kept !== undefined;
}

function deviceWith(store: Reads, id: string): { key: string; device: Device } | undefined {
  return all(store).find(({ device }) => device.id === id);
}

/** A wrong code counts against every code: it is unknown which one was meant. */
function invitationOfCode(store: SurfaceStore, given: string): string | undefined {
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
}

/** A tab that asks for its name is shown in a terminal: one line, and not a long one. */
function tidy(name: string): string {
  const line = name.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return line === "" ? "?" : line.slice(0, MAX_NAME_LENGTH);
}

function freeId(taken: ReadonlySet<string>): string {
  for (;;) {
    const id = Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    if (!taken.has(id)) return id;
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
