import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { slashLines, type Offer, type TypedSlash } from "../../view/slash/read.ts";
import { runSlash, type SlashWords, type Reply, type Typist } from "../../view/slash/run.ts";

/** Commands as the editor lists them. */
export function commandsOf(offer: Offer<"acp">, w: SlashTexts): AvailableCommand[] {
  return slashLines(offer, w).map(({ name, takes, does, own }) => {
    const hint = own ? "…" : takes;
    return { name, description: does, ...(hint !== undefined && { input: { hint } }) };
  });
}

/** Does a command; the message that follows it, if one does. */
export function runTyped(
  typed: TypedSlash,
  typist: Typist<"acp">,
  { words, tell }: { words: SlashWords; tell(text: string): void },
): Promise<string | undefined> {
  const say = (reply: Reply, text?: string) => {
    tell(reply(words).join("\n"));
    return text;
  };
  return runSlash(typed, typist, {
    own: (name: never) => name,
    say: (reply) => say(reply),
    speak: (text, reply) => say(reply, text),
  });
}
