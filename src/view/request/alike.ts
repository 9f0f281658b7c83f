import type { InputRequest, PermissionRequest } from "../../protocol/facts/request.ts";
import { codeOf, splitRequestId, turnNumber } from "../../protocol/key.ts";
import { rulesFor } from "./answering.ts";
import { dangersOf } from "./danger.ts";
import { describeRequest, isLong, neededOf } from "./describe.ts";

/**
 * Requests with the same likeness may be answered together: of one task, in one folder, for the same tool, and the same rules would cover
 * them. Undefined for a request that is answered by itself: only a person may allow it, it takes several people, it is dangerous, no rule would cover
 * it, or it is too long to be seen in a list.
 */
export function likenessOf(request: InputRequest): string | undefined {
  if (request.kind !== "permission" || request.source !== "approval") return undefined;
  if (request.hard || request.consent || dangersOf(request).length > 0) return undefined;
  const rules = neededOf(rulesFor(request)).filter(({ behavior }) => behavior === "allow");
  if (rules.length === 0 || isLong(describeRequest(request))) return undefined;
  const { session, key } = splitRequestId(request.id);
  const { folder, machine } = request.origin ?? {};
  return JSON.stringify([
    session,
    turnNumber(key),
    folder,
    machine,
    request.tool,
    ...rules.map(({ rule }) => rule).sort(),
  ]);
}

/** The open requests that may be answered together with this one, itself included, in their order; none where there is no other. */
export function alikeTo(request: InputRequest, open: readonly InputRequest[]): PermissionRequest[] {
  const likeness = likenessOf(request);
  if (likeness === undefined) return [];
  const found = open.filter((request) => likenessOf(request) === likeness) as PermissionRequest[];
  return found.length > 1 && found.some(({ id }) => id === request.id) ? found : [];
}

/** Open requests in their order, those that are alike together under the first of them. */
export function groupsOf<T extends { request: InputRequest }>(open: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const request of open) {
    const name = likenessOf(request.request) ?? request.request.id;
    const group = groups.get(name);
    if (group) group.push(request);
    else groups.set(name, [request]);
  }
  return [...groups.values()];
}

/** Five letters for exactly this list. Whoever answers it says them, so that nobody answers a request that was not in the list they saw. */
export function codeOfList(requests: readonly Pick<InputRequest, "id">[]): string {
  return codeOf(requests.map(({ id }) => id).join("\n"));
}
