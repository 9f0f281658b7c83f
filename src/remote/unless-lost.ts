import type { Command, Refused } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { SageError } from "../protocol/reasons/error.ts";
import { isForNow } from "./repeat.ts";

/** Refuses a command that would let something run, while the link to the host is lost: such a yes is for now or never. */
export function refusedWhileLost(command: Command): Refused | undefined {
  return isForNow(command) ? refusalOf(new SageError("host-gone", reason("link-lost", {}))) : undefined;
}
