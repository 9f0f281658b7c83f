import type { Command, CommandReply, Host } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { errorBecause } from "../texts/shared/error.ts";
import { isForNow } from "./repeat.ts";

/** Sends a command, unless the link to the host is lost and the command would let something run: such a yes is for now or never. */
export async function sendUnlessLost<C extends Command>(
  host: Host,
  command: C,
  { lost }: { lost: boolean },
): Promise<CommandReply<C["type"]>> {
  if (!lost || !isForNow(command)) return host.send(command);
  return refusalOf(errorBecause("host-gone", reason("link-lost", {})));
}
