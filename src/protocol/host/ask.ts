import type { Fact } from "../facts/fact.ts";
import type { Command, CommandReply, Host } from "./host.ts";
import { errorOf } from "./refusal.ts";

/** A command's reply, or the reason why there is none as an error. */
export async function ask<C extends Command>(host: Host, command: C): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw errorOf(reply);
}

/** All facts of a session, page by page. */
export async function factsOf(host: Host, session: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await ask(host, { type: "facts", session, after: facts.at(-1)?.seq ?? 0 });
    facts.push(...page.facts);
    if (!page.more || page.facts.length === 0) return facts;
  }
}
