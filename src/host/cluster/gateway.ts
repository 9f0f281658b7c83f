import type { Replica } from "../../journal/replica.ts";
import { splitRequestId, type Command, type CommandReply, type Host } from "../../protocol/index.ts";
import type { LocalHost } from "../host.ts";
import type { Meeting } from "./meeting.ts";

/** Sessions stay held for a while after a command: the next one is likely to be about the same. */
const LINGER_MS = 30_000;

/**
 * A host whose sessions run on other machines: each is held here while somebody watches it or says something in it. Everything else
 * is the host's own.
 */
export function gateway(
  host: LocalHost,
  { look }: Pick<Replica, "look">,
  meeting?: Pick<Meeting, "watching">,
): LocalHost {
  const hold = async (session: string): Promise<() => void> => {
    try {
      const unlook = await look(session);
      return () => void setTimeout(unlook, LINGER_MS).unref();
    } catch {
      return () => {}; // there is no such session: the host says so
    }
  };
  return {
    ...host,
    async send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      const held = await Promise.all([...sessionsOf(command)].map(hold));
      try {
        return await host.send(command);
      } finally {
        for (const release of held) release();
      }
    },
    async *watch(session, options) {
      const unlook = await look(session);
      const unwatch = await meeting?.watching(session);
      try {
        yield* host.watch(session, options);
      } finally {
        unwatch?.();
        unlook();
      }
    },
  } satisfies Host;
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
