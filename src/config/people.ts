import type { PeopleSettings, Settings } from "./settings.ts";

export type Role = PeopleSettings[string]["roles"][number];

/** A person of the settings: one name, wherever they are. */
export type Person = { name: string; ids: readonly string[]; roles: readonly Role[] };

export function peopleIn({ people = {} }: Pick<Settings, "people">): Person[] {
  return Object.entries(people).map(([name, { ids, roles }]) => ({ name, ids, roles }));
}

/** By one of their ids, such as `account:lin` or `feishu:ou_1`. */
export function personWith(settings: Pick<Settings, "people">, id: string): Person | undefined {
  return peopleIn(settings).find(({ ids }) => ids.includes(id));
}

/** Gives somebody a role. Who is not there yet is added, under a name of their own. */
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
