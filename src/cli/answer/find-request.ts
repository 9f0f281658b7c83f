import { ask, factsOf } from "../../protocol/host/refusal.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Host } from "../../protocol/host/host.ts";
import { shortRequestId, splitRequestId } from "../../protocol/key.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import { usage } from "../process/flags.ts";
import { findSession } from "../host/host-client.ts";

/** Finds a request by its id, short or whole. A session, or the start of an id, names whatever is open by now: nobody has read that yet. */
export async function requestBy(host: Host, target: string, t: CliTexts): Promise<InputRequest | Resolution> {
  const { session } = splitRequestId(target);
  const isMeant = (id: string) => id === target || shortRequestId(id) === target;
  const known = (await findSession(host, session)) !== undefined;
  const open = known ? (await pendingOf(host, session)).filter(({ id }) => isMeant(id)) : [];
  const ended = known ? (await resolutionsIn(host, session)).filter(({ requestId }) => isMeant(requestId)) : [];
  const openIds = open.map(({ id }) => id);
  // Two requests can share five letters, and the person has seen only one of them.
  if (open.length > 0 && new Set([...openIds, ...ended.map(({ requestId }) => requestId)]).size > 1)
    throw usage(t.whichRequest(target, openIds));
  const found = open[0] ?? ended.at(-1);
  if (found) return found;
  const begun = (await pendingOf(host)).filter(({ id }) => id.startsWith(target));
  if (begun.length > 0)
    throw usage(
      t.whichRequest(
        target,
        begun.map(({ id }) => shortRequestId(id)),
      ),
    );
  throw new SageError("request-unknown", said(t.unknownRequest(target)));
}

export async function pendingOf(host: Host, session?: string): Promise<InputRequest[]> {
  const { requests } = await ask(host, { type: "pending", ...(session !== undefined && { session }) });
  return requests.map(({ request }) => request);
}

async function resolutionsIn(host: Host, session: string): Promise<Resolution[]> {
  return (await factsOf(host, session)).flatMap((fact) => (fact.type === "input.resolved" ? [fact.data] : []));
}
