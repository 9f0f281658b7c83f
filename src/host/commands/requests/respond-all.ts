import { ended, endOf, prepare } from "../../../input/respond.ts";
import type { Store } from "../../../journal/store/store.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { Refused, RespondedEach, SharedAnswer } from "../../../protocol/host/host.ts";
import { refusalOf } from "../../../protocol/host/refusal.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import { likenessOf } from "../../../view/request/alike.ts";

type Parts = {
  store: Store;
  running(session: string): boolean;
  late(resolution: Resolution): Error;
};

/**
 * One answer to several requests that are alike, in one transaction. Each has a result of its own: somebody may have answered one of
 * them meanwhile, and that one alone is told so. A list that holds a request which is answered by itself is refused whole.
 */
export async function respondAll(
  { store, running, late }: Parts,
  { requestIds, answer, by, surface, device }: { requestIds: readonly string[]; answer: SharedAnswer } & Sender,
): Promise<RespondedEach[]> {
  const sender = { by, surface, ...(device !== undefined && { device }) };
  checkAlike(requestIds.map((id) => requestOf(store, id)));
  const ready = await Promise.all(
    [...new Set(requestIds)].map((id) => prepareOne(store, { ...answer, requestId: id }, sender)),
  );
  const ends = ready.flatMap((one) => ("fact" in one ? [one] : []));
  const written = await store.appendAll(ends);
  const results = new Map<string, RespondedEach>();
  for (const [n, { requestId, session }] of ends.entries()) {
    const one = written[n]!;
    if (one instanceof Error) results.set(requestId, { requestId, ...refusalOf(one) });
    else {
      const { won, resolution } = ended(one);
      results.set(
        requestId,
        won
          ? { requestId, ok: true, resolution, running: running(session) }
          : { requestId, ...refusalOf(late(resolution)) },
      );
    }
  }
  return ready.map((one) =>
    "fact" in one ? results.get(one.requestId)! : { ...one.refused, requestId: one.requestId },
  );

  async function prepareOne(
    of: Store,
    response: Parameters<typeof prepare>[1],
    sender: Sender,
  ): Promise<({ requestId: string } & ReturnType<typeof endOf>) | { requestId: string; refused: Refused }> {
    const { requestId } = response;
    try {
      const found = await prepare(of, response, sender);
      if ("yes" in found) throw new SageError("request-invalid", reason("answered-by-itself", { request: requestId }));
      if ("won" in found) throw late(found.resolution);
      return { requestId, ...endOf(found.request, found.resolution) };
    } catch (error) {
      return { requestId, refused: refusalOf(error) };
    }
  }
}

function requestOf(store: Store, id: string): InputRequest {
  const found = store.find(id);
  if (found) return found.request;
  throw new SageError("request-unknown", reason("request-missing", { request: id }));
}

function checkAlike(requests: readonly InputRequest[]): void {
  const [first, ...others] = requests;
  const likeness = first && likenessOf(first);
  const odd = likeness === undefined ? first : others.find((one) => likenessOf(one) !== likeness);
  if (odd || !first) throw new SageError("request-invalid", reason("answered-by-itself", { request: odd?.id ?? "" }));
}
