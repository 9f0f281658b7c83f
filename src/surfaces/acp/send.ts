import type { Command, CommandReply, Host, Refused } from "../../protocol/host/host.ts";
import { errorText } from "../../texts/shared/error.ts";
import { codeOf, Refusal } from "./editor.ts";
import type { Words } from "./input.ts";

/** The reply to a command, or its refusal in the editor's terms. */
export async function send<C extends Command>(
  host: Pick<Host, "send">,
  { t }: Pick<Words, "t">,
  command: C,
): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw refusalFrom(reply, { t });
}

/** A refusal of the host in the editor's terms. */
export function refusalFrom(reply: Refused, { t }: Pick<Words, "t">): Refusal {
  return new Refusal(codeOf(reply.code), errorText(reply, t));
}
