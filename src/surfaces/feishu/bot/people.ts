import type { InputRequest } from "../../../protocol/facts/request.ts";

/** Rights of people, by the id that a person has for this app. */
export type People = {
  talk: readonly string[] | "anyone";
  /** May allow and refuse. Being allowed to talk is not being allowed to approve. */
  approve: readonly string[];
  /** May say who else may, and where tasks work. Approvers, as long as nobody is named. */
  administer?: readonly string[];
  /** Names that the settings give to people; others are called as the platform calls them. */
  names?: Readonly<Record<string, string>>;
  /** The one organisation they belong to; without it the id alone counts. */
  tenant?: string;
};

type Person = { openId: string; tenantKey: string };

export function mayTalk(people: People, person: Person): boolean {
  if (!isKnown(people, person)) return false;
  const { talk, approve, administer = [] } = people;
  return talk === "anyone" || [...talk, ...approve, ...administer].includes(person.openId);
}

export function mayApprove(people: People, person: Person): boolean {
  return isKnown(people, person) && people.approve.includes(person.openId);
}

export function mayAdminister(people: People, person: Person): boolean {
  const { administer = [] } = people;
  if (administer.length === 0) return mayApprove(people, person);
  return isKnown(people, person) && administer.includes(person.openId);
}

/** The giver of the task may explain it. An answer that lets something run, a permission or a rerun after a crash, is for approvers alone. */
export function mayAnswer(people: People, person: Person, request: InputRequest, owner: string): boolean {
  if (mayApprove(people, person)) return true;
  return needsNoApprover(request) && person.openId === owner && mayTalk(people, person);
}

/** A question lets nothing run: the person who gave the task may answer it. */
export function needsNoApprover({ kind, source }: InputRequest): boolean {
  return kind !== "permission" && source !== "recovery";
}

export function mayStop(people: People, person: Person, owner: string): boolean {
  return mayApprove(people, person) || (person.openId === owner && mayTalk(people, person));
}

/** Somebody without an id, or from elsewhere, is nobody. */
function isKnown({ tenant }: People, { openId, tenantKey }: Person): boolean {
  return openId !== "" && (tenant === undefined || tenant === tenantKey);
}
