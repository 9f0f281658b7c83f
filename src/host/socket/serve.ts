import type { Socket } from "node:net";
import {
  refusalOf,
  SageError,
  said,
  type Command,
  type CommandReply,
  type Host,
  type Refused,
} from "../../protocol/index.ts";
import { parseCall, parseCommand, type Call, type Said } from "./messages.ts";
import { createWire } from "./wire.ts";

/** More at once is not what a surface does. */
const MOST_AT_ONCE = 256;

/** Decides which commands a listener takes, and in whose name: a sender does not say who it is. Throws for the rest. */
export type Admission = (command: Command) => Command;

/**
 * On the private socket of an owner everybody is anonymous: a command that an agent runs can connect to it as well as a terminal can. It tells,
 * and takes nothing. Who follows a session speaks, answers and interrupts by facts in the journal.
 */
export const onlyTells: Admission = (command) => {
  if (command.type === "sessions" || command.type === "pending") return command;
  throw new SageError("request-invalid", said(`this socket tells what happens; it takes no "${command.type}"`));
};

/** Lets one other process use this one's host. */
export function serve(
  socket: Socket,
  host: Host,
  { admit, ...hello }: { process: string; version: string; admit: Admission },
): void {
  const watches = new Map<number, AbortController>();
  let busy = 0;
  const say = (message: Said) => wire.send(message);
  const wire = createWire(socket, (message) => {
    const asked = parseCall(message);
    if (asked.do === "unwatch") watches.get(asked.id)?.abort();
    else if (busy >= MOST_AT_ONCE) wire.close();
    else {
      busy++;
      void (asked.do === "send" ? send(asked) : watch(asked)).finally(() => busy--);
    }
  });
  wire.over.addEventListener("abort", () => {
    for (const one of watches.values()) one.abort();
  });
  void say({ hello: 1, ...hello });

  async function send({ id, command }: Call & { do: "send" }): Promise<void> {
    await say({ id, reply: await replyTo(command) });
  }

  async function replyTo(command: (Call & { do: "send" })["command"]): Promise<CommandReply> {
    try {
      return await host.send(admit(parseCommand(command)));
    } catch (error) {
      return refusalOf(error);
    }
  }

  async function watch({ id, session, after }: Call & { do: "watch" }): Promise<void> {
    if (watches.has(id)) return wire.close();
    const controller = new AbortController();
    watches.set(id, controller);
    let ended: Refused | null = null;
    try {
      const { signal } = controller;
      const options = after === undefined ? { signal } : { after, signal };
      for await (const event of host.watch(session, options)) await say({ id, event });
    } catch (error) {
      ended = refusalOf(error);
    }
    watches.delete(id);
    await say({ id, ended });
  }
}
