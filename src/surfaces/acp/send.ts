import type { Command, CommandReply, Host } from "../../protocol/host/host.ts";
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
  throw new Refusal(codeOf(reply.code), errorText(reply, t));
}
