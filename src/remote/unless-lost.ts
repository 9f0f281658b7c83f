import type { Command, CommandReply, Host } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { SageError } from "../protocol/reasons/error.ts";
import { isForNow } from "./repeat.ts";

/** Refuses a command that would let something run while the link to the host is lost: such a yes is for now or never. */
export function unlessLost<H extends Host>(host: H, isLost: () => boolean): H {
  return {
    ...host,
    async send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      if (!isLost() || !isForNow(command)) return host.send(command);
      return refusalOf(new SageError("host-gone", reason("link-lost", {})));
    },
  };
}
