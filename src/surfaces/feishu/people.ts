import type { InputRequest } from "../../protocol/index.ts";

/** Who may do what, by the id that a person has for this app. */
export type People = {
  /** Who may give tasks and talk. */
  talk: readonly string[] | "anyone";
  /** Who may allow and refuse. Being allowed to talk is not being allowed to approve. */
  approve: readonly string[];
  /** The one organisation they belong to; without it the id alone counts. */
  tenant?: string;
};

export type Person = { openId: string; tenantKey: string };

export function mayTalk(people: People, person: Person): boolean {
  if (!isKnown(people, person)) return false;
  return people.talk === "anyone" || people.talk.includes(person.openId) || people.approve.includes(person.openId);
}

export function mayApprove(people: People, person: Person): boolean {
  return isKnown(people, person) && people.approve.includes(person.openId);
}

/**
 * Who asked for the task may also say what they meant by it. What lets something run, a permission or the repetition of a command
 * that was interrupted, is for approvers alone.
 */
export function mayAnswer(people: People, person: Person, request: InputRequest, owner: string): boolean {
  if (mayApprove(people, person)) return true;
  const talks = request.kind !== "permission" && request.source !== "recovery";
  return talks && person.openId === owner && mayTalk(people, person);
}

export function mayStop(people: People, person: Person, owner: string): boolean {
  return mayApprove(people, person) || (person.openId === owner && mayTalk(people, person));
}

/** Somebody without an id, or from elsewhere, is nobody. */
function isKnown({ tenant }: People, { openId, tenantKey }: Person): boolean {
  return openId !== "" && (tenant === undefined || tenant === tenantKey);
}
