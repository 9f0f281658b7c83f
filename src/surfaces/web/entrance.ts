import { timingSafeEqual, createHash } from "node:crypto";
import { isElsewhere, plainAddress } from "./address.ts";
import type { Device, Devices } from "./devices.ts";

/** How a person is identified: by the key of a device, or by the name that a proxy passes. */
export type Identity = { device: Device } | { proxy: string };

/** A person as the settings know them now. */
export type Visitor = {
  /** Name under which facts hold what they do. */
  by: string;
  /** Id in the list of people, such as `device:k3f9`. */
  person: string;
  device?: string;
  /** Whom a device belongs to that they invite. */
  owner?: string;
  may: readonly ("talk" | "approve")[];
};

/** Reasons to turn somebody away; `unsure`: their device may have been removed elsewhere, so they come again. */
export type Turned = "key-unknown" | "may-not-look" | "unsure";

/** A proxy that signs people in. It proves itself by a secret, and comes from these addresses. */
export type ProxyIdentity = { header: string; secret: string; from?: readonly string[] | undefined };

export type Entrance = {
  /** With a key, the owner of the device; without one, the person named by the proxy. */
  enter(key: string | undefined, caller: Caller): Promise<Entered | Turned>;
};

export type Caller = { address: string; proxy?: string | undefined };

/** Somebody who may look. `ended` is aborted when they no longer may, with the reason; `leave` when they have gone. */
export type Entered = {
  identity: Identity;
  visitor: Visitor;
  /** It came with the key of a device that was never on this machine: no code of this one's accounts speaks. */
  elsewhere: boolean;
  ended: AbortSignal;
  leave(): void;
};

type EntranceParts = {
  devices: Devices;
  /** The visitor by the settings of this moment; undefined for somebody who has no role in them. */
  visitorOf(identity: Identity): Visitor | undefined;
  /** Keys are checked again this often during a connection: another process may revoke one. */
  everyMs?: number;
};

export function createEntrance({ devices, visitorOf, everyMs = 400 }: EntranceParts): Entrance {
  const here = new Map<AbortController, Identity>();
  let timer: NodeJS.Timeout | undefined;

  const turned = (identity: Identity): Turned | undefined => {
    if ("device" in identity && !devices.areCurrent()) return "unsure";
    if ("device" in identity && !devices.withId(identity.device.id)) return "key-unknown";
    return visitorOf(identity) ? undefined : "may-not-look";
  };
  const look = () => {
    for (const [controller, identity] of here) {
      const why = turned(identity);
      if (why === undefined) continue;
      here.delete(controller);
      controller.abort(why);
    }
    if (here.size === 0) timer = void clearInterval(timer);
  };

  /** A device that another daemon has just paired is known here a moment later: an unknown key is looked up twice. */
  const deviceOf = async (key: string, address: string): Promise<Device | undefined> => {
    const known = devices.find(key, address);
    if (known) return known;
    await devices.refresh().catch(() => {});
    return devices.find(key, address);
  };

  return {
    async enter(key, { address, proxy }) {
      const device = key === undefined ? undefined : await deviceOf(key, address);
      if (key !== undefined && !devices.areCurrent()) return "unsure";
      if (key !== undefined && !device) return "key-unknown";
      if (!device && proxy === undefined) return "key-unknown";
      const identity: Identity = device ? { device } : { proxy: proxy ?? "" };
      const visitor = visitorOf(identity);
      if (!visitor) return "may-not-look";
      const ended = new AbortController();
      here.set(ended, identity);
      timer ??= setInterval(look, everyMs).unref();
      const elsewhere = device !== undefined && !device.here && isElsewhere(address);
      return { identity, visitor, elsewhere, ended: ended.signal, leave: () => void here.delete(ended) };
    },
  };
}

/** The user name that a proxy passes. Valid only with the shared secret and from the proxy's own address: anybody can send a header. */
export function proxyName(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  address: string,
  identity: ProxyIdentity | undefined,
): string | undefined {
  if (!identity) return undefined;
  const { header, secret, from = ["127.0.0.1", "::1"] } = identity;
  const [name, proof] = [headers[header.toLowerCase()], headers["x-sage-proxy"]];
  if (typeof name !== "string" || name === "" || typeof proof !== "string") return undefined;
  return from.includes(plainAddress(address)) && isSame(proof, secret) ? name : undefined;
}

/** In the same time for every guess. */
function isSame(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash("sha256").update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
