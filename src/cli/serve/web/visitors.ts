import { accountHasRole, peopleIn, personWith, rightsOf } from "../../../config/settings/people.ts";
import type { Settings } from "../../../config/settings/settings.ts";
import type { Guard, PersonOf } from "../../../host/guard.ts";
import type { Devices, Identity, Visitor } from "../../../surfaces/web/index.ts";

export type Visitors = {
  visitorOf(identity: Identity): Visitor | undefined;
  /** For the host, which checks again. */
  guard: Guard;
  personOf: PersonOf;
};

/** People who come over the web, by the one list of people as it is now. */
export function createVisitors(devices: Devices, settings: () => Settings): Visitors {
  const visitorOf = (identity: Identity): Visitor | undefined => {
    if ("proxy" in identity) {
      const listed = personWith(settings(), `proxy:${identity.proxy}`);
      return listed && { by: listed.name, person: `proxy:${identity.proxy}`, may: rightsOf(listed) };
    }
    const { id, name, owner } = identity.device;
    const known = ownerOf(settings(), id, owner);
    return withId(known, `device:${id}`, name);
  };
  const senderOf = (person = ""): Visitor | undefined => {
    const [, kind, id = ""] = /^(account|device|proxy):(.*)$/s.exec(person) ?? [];
    if (kind === "proxy") return visitorOf({ proxy: id });
    if (kind === "account") return withId(ownerOf(settings(), "", person), person);
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
      return people.find((one) => one.name === name)?.name ?? null;
    },
  };
}

type Known = Pick<Visitor, "by" | "may" | "owner">;

function withId(known: Known | undefined, person: string, device?: string): Visitor | undefined {
  return known && { ...known, person, ...(device !== undefined && { device }) };
}

/** A device is whose the settings say; otherwise whose the invitation said. */
function ownerOf(settings: Settings, id: string, owner: string): Known | undefined {
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
