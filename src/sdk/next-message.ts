import type { InputChannel } from "../input/channel.ts";
import type { AgentOutcome } from "../protocol/facts/outcome.ts";
import type { InputRequest } from "../protocol/facts/request.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { type Store, localHead } from "../journal/store/store.ts";

/** Idle is not a request of the journal: no deadline runs on it and no inbox lists it. */
export async function nextMessage(
  channel: InputChannel,
  { session, text }: AgentOutcome,
  signal: AbortSignal,
): Promise<string | undefined> {
  const request: InputRequest = {
    kind: "text",
    id: `${session}/idle`,
    session,
    source: "sage",
    agent: [],
    why: reason("idle", {}),
    at: Date.now(),
    digest: "",
    prompt: "What next?",
    lastResponse: text,
  };
  try {
    const response = await channel.requestInput(request, signal);
    return response.type === "text" ? response.text : undefined;
  } catch {
    return undefined; // the handle or the SDK was closed: the conversation is over
  }
}

/** Seq of the newest fact of a session; 0 where there is none. A store without hashes has its facts at hand anyway. */
export function newestSeq(store: Store, session: string): number {
  return localHead(store, session)?.seq ?? store.since(session, 0).at(-1)?.seq ?? 0;
}
