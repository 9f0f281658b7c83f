import { statSync } from "node:fs";
import { readSettings, type PeopleSettings, type Settings } from "./settings.ts";

export type Role = PeopleSettings[string]["roles"][number];

/** A person of the settings: one name on every surface. */
type Person = { name: string; ids: readonly string[]; roles: readonly Role[] };

type Listed = Pick<Settings, "people">;

export function peopleIn({ people = {} }: Listed): Person[] {
  return Object.entries(people).map(([name, { ids, roles }]) => ({ name, ids, roles }));
}

/** Finds a person by an id, such as `account:lin` or `feishu:ou_1`. */
export function personWith(settings: Listed, id: string): Person | undefined {
  return peopleIn(settings).find(({ ids }) => ids.includes(id));
}

/** The one place that says what a role includes: every role may talk; approvers administer as long as nobody else does. */
export function hasRole(settings: Listed, id: string, role: Role): boolean {
  const { roles = [] } = personWith(settings, id) ?? {};
  if (role === "talker") return roles.length > 0;
  if (roles.includes(role)) return true;
  const administered = peopleIn(settings).some((person) => person.roles.includes("administrator"));
  return role === "administrator" && !administered && roles.includes("approver");
}

/** The same for an account here. While no account is named, the owner of the settings may do everything; then the others nothing. */
export function accountHasRole(settings: Listed, account: string, role: Role): boolean {
  const named = peopleIn(settings).some(({ ids }) => ids.some((id) => id.startsWith("account:")));
  return !named || hasRole(settings, `account:${account}`, role);
}

/** Rights of a person as a surface shows them. */
export function rightsOf({ roles }: Pick<Person, "roles">): ("talk" | "approve")[] {
  return [...(roles.length > 0 ? ["talk" as const] : []), ...(roles.includes("approver") ? ["approve" as const] : [])];
}

/** Settings as they are now, read again when the file changes. A file that cannot be used leaves them as they were. */
export function liveSettings(path: string, onProblem: (error: unknown) => void = () => {}): () => Settings {
  let settings = readSettings(path);
  let seen = stampOf(path);
  return () => {
    const now = stampOf(path);
    if (now === seen) return settings;
    seen = now;
    try {
      settings = readSettings(path);
    } catch (error) {
      onProblem(error);
    }
    return settings;
  };
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino}/${stat.size}/${stat.mtimeMs}` : "";
}

/** Gives somebody a role. A person who is not in the list yet is added, under a name of their own. */
export function withRole(
  people: PeopleSettings,
  { id, name, role }: { id: string; name: string; role: Role },
): PeopleSettings {
  const [known] = Object.entries(people).find(([, { ids }]) => ids.includes(id)) ?? [];
  const called = known ?? freeName(people, name.trim() === "" ? id : name.trim().slice(0, 60));
  const { ids = [], roles = [] } = people[called] ?? {};
  return {
    ...people,
    [called]: { ids: [...new Set([...ids, id])], roles: [...new Set([...roles, role])] },
  };
}

function freeName(people: PeopleSettings, name: string): string {
  for (let n = 1; ; n++) {
    const tried = n === 1 ? name : `${name} (${n})`;
    if (!Object.hasOwn(people, tried)) return tried;
  }
}
