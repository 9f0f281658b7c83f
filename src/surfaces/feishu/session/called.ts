import type { Fact } from "../../../protocol/facts/fact.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { Host } from "../../../protocol/host/host.ts";
import { isOutsideRequest } from "../../../protocol/host/outside.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { SessionManager } from "./session-manager.ts";

type CalledParts = {
  sessions: SessionManager;
  signal: AbortSignal;
  /** The person who hears of agents outside, if there is one. */
  account?(): string | undefined;
  log(line: string): void;
};

/**
 * Calls people to requests of sessions that speak elsewhere, in a terminal perhaps, when the time of those who were asked first is over; and
 * the person of this account to requests of agents outside of Sage, at once. The fact says who is called; the cards remember who was.
 */
export async function followCalled(host: Host, { sessions, signal, account, log }: CalledParts): Promise<void> {
  const call = (session: string) =>
    sessions.call(session).catch((error: unknown) => log(`nobody was called to ${session}: ${thrownText(error)}`));
  const isForAccount = (request: InputRequest) => isOutsideRequest(request) && account?.() !== undefined;
  const isAskedOutside = (fact: Fact) => fact.type === "input.requested" && isForAccount(fact.data);
  const calls = (request: InputRequest) => callsOthers(request) || isForAccount(request);
  for await (const event of host.inbox({ signal })) {
    if (event.type === "fact") {
      if (event.fact.type === "input.escalated" || isAskedOutside(event.fact)) await call(event.fact.session);
      continue;
    }
    const waiting = event.requests.map(({ request }) => request);
    const requests = event.more > 0 ? await allPending(host) : waiting;
    for (const session of new Set(requests.filter(calls).map((one) => one.session))) await call(session);
  }
}

function callsOthers({ deadline }: InputRequest): boolean {
  return (deadline?.escalation ?? []).length > 0;
}

async function allPending(host: Host): Promise<InputRequest[]> {
  const reply = await host.send({ type: "pending" });
  return reply.ok ? reply.requests.map(({ request }) => request) : [];
}
