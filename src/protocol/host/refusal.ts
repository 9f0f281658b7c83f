import type { Resolution } from "../facts/request.ts";
import type { Fact } from "../facts/fact.ts";
import type { Command, CommandReply, Host, Refused } from "./host.ts";
import { said, SageError, messageOf } from "../reasons/reason.ts";

/** An error as the reply to a command. It carries the reason, which each reader sees in their own language. */
export function refusalOf(error: unknown): Refused {
  if (!(error instanceof SageError)) return { ok: false, code: "turn-failed", message: messageOf(error) };
  const { code, message, cause, reason } = error;
  return {
    ok: false,
    code,
    message,
    reason,
    ...(code === "request-resolved" && { resolution: cause as Resolution }),
  };
}

/** A refusal as an error, the way back: nothing of it is lost. */
export function errorOf({ code, message, reason, resolution }: Refused): SageError {
  return new SageError(code, reason ?? said(message), { cause: resolution });
}

/** A command's reply, or the reason why there is none as an error. */
export async function ask<C extends Command>(
  host: Pick<Host, "send">,
  command: C,
): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw errorOf(reply);
}

/** All facts of a session, page by page. */
export async function factsOf(host: Pick<Host, "send">, session: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await ask(host, { type: "facts", session, after: facts.at(-1)?.seq ?? 0 });
    facts.push(...page.facts);
    if (!page.more || page.facts.length === 0) return facts;
  }
}
