import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { Asking } from "./asker.ts";
import { mayAnswer, needsNoApprover, type People } from "../bot/people.ts";
import type { AskRecord } from "../bot/records.ts";

/** A place where a request is shown: to whom, for whom, and whether only to be looked at. */
export type Audience = Pick<AskRecord, "chat" | "watch" | "for" | "from" | "called">;

/**
 * Calls the people who may answer. In a group the card mentions them; an approver who is not in it is asked in their own chat
 * with the bot. Where nobody can tell who is in a group, they are called in both places: once too often is better than never.
 * In a chat with the bot alone, the person there sees who was asked.
 */
export async function audienceOf(asking: Asking, request: InputRequest): Promise<Audience[]> {
  const { channel, people, home } = asking;
  const { chat, group, owner } = home();
  const person = { openId: owner, tenantKey: people().tenant ?? "" };
  const forOwner = mayAnswer(people(), person, request, owner) && needsNoApprover(request);
  if (forOwner) return [{ chat, ...(group && { called: [owner] }) }];
  const approvers = firstAsked(people(), request);
  if (!group && approvers.includes(owner)) return [{ chat }];
  const present = group ? await channel.members(chat).catch(() => undefined) : [];
  const absent = approvers.filter((one) => !present?.includes(one));
  const whose = await nameOf(asking, owner);
  const elsewhere = absent.map((one): Audience => ({ chat: one, for: whose, ...(group && { from: chat }) }));
  if (!group)
    return [...elsewhere, { chat, watch: { asked: await Promise.all(approvers.map((id) => nameOf(asking, id))) } }];
  return [{ chat, called: approvers.filter((one) => present?.includes(one) ?? true) }, ...elsewhere];
}

export async function nameOf({ channel, speeches }: Asking, openId: string): Promise<string> {
  return (await channel.userName(openId).catch(() => undefined)) ?? speeches()[0].t.somebody;
}

/** Open ids of approvers by their names in the settings. */
export function idsOf({ approve, names: known }: People, names: readonly string[]): string[] {
  return approve.filter((id) => names.includes(known?.[id] ?? id));
}

/** Approvers who are called later are not called now, unless nobody would be left. */
function firstAsked(people: People, { deadline }: InputRequest): string[] {
  const later = idsOf(
    people,
    (deadline?.escalation ?? []).map(({ to }) => to),
  );
  const first = people.approve.filter((id) => !later.includes(id));
  return first.length > 0 ? first : [...people.approve];
}
