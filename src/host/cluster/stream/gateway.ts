import type { Ledger } from "../../../journal/replica/ledger.ts";
import type { Replica } from "../../../journal/replica/replica.ts";
import type { Command, CommandReply, Host, WatchEvent } from "../../../protocol/host/host.ts";
import { splitRequestId } from "../../../protocol/key.ts";
import { noticeOf, reason } from "../../../protocol/reasons/reason.ts";
import type { LocalHost } from "../../host.ts";
import type { StreamClient } from "./stream-client.ts";

/** Sessions stay held for a while after a command: the next one is likely to be about the same. */
const LINGER_MS = 30_000;

/** A host whose sessions run elsewhere: each is held here while somebody watches it or speaks in it. */
export function createGatewayHost(
  host: LocalHost,
  { look, store, staffed }: Pick<Replica, "look"> & Partial<Pick<Replica, "store"> & Pick<Ledger, "staffed">>,
  streams?: Pick<StreamClient, "watching">,
): LocalHost {
  const holdSession = async (session: string): Promise<() => void> => {
    try {
      const unlook = await look(session);
      return () => void setTimeout(unlook, LINGER_MS).unref();
    } catch {
      return () => {}; // no such session: the host reports it
    }
  };
  return {
    ...host,
    async send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      const releases = await Promise.all([...sessionsOf(command)].map(holdSession));
      try {
        return await host.send(command);
      } finally {
        for (const release of releases) release();
      }
    },
    async *watch(session, options) {
      const unlook = await look(session);
      const unwatch = await streams?.watching(session);
      try {
        let ready = false;
        for await (const event of host.watch(session, options)) {
          yield event;
          ready ||= event.type === "ready";
          const row = ready && isForWorkers(event) ? store?.session(session) : undefined;
          // Earlier messages are announced once, if they still wait.
          if (!row?.place || row.place.works || (event.type === "ready" && !row.open && !row.unheard)) continue;
          const places = await staffed?.().catch(() => undefined); // somebody may have come since
          if (places && !places.includes(row.place.name))
            yield noWorkerNotice(session, row.place.name, event.type === "ready");
        }
      } finally {
        unwatch?.();
        unlook();
      }
    },
  } satisfies Host;
}

/** A message or an answer came and no request is open: a worker has to continue. */
function isForWorkers(event: WatchEvent): boolean {
  if (event.type === "ready") return event.requests.length === 0;
  return event.type === "fact" && (event.fact.type === "user.said" || event.fact.type === "input.resolved");
}

/** `whole`: already sent before the connection came back. */
function noWorkerNotice(session: string, place: string, whole: boolean): WatchEvent {
  const why = reason("no-worker", { place });
  return {
    type: "delta",
    delta: { session, key: "place", attempt: 0, n: 0, ...noticeOf(why), ...(whole && { whole }) },
  };
}

/** The sessions that a command is about. */
function sessionsOf(command: Command): ReadonlySet<string> {
  const requests = [
    ...("requestId" in command ? [command.requestId] : []),
    ...("requestIds" in command ? command.requestIds : []),
    ...(command.type === "respond" ? [command.response.requestId] : []),
    ...(command.type === "request" ? [command.id] : []),
  ];
  const named = "session" in command && command.session !== undefined ? [command.session] : [];
  return new Set([...named, ...requests.map((id) => splitRequestId(id).session)]);
}
