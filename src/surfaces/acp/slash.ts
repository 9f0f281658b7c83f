import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { SessionAbout } from "../../protocol/host/about.ts";
import type { SlashTexts } from "../../texts/surfaces/slash.ts";
import { slashLines, type Offer, type TypedSlash } from "../../view/slash/read.ts";
import { runSlash, type SlashWords, type Typist } from "../../view/slash/run.ts";

/** Everything that can be typed in an editor: built-in commands, then own commands, skills and prompts of servers. */
export function offerTo(about: SessionAbout | undefined): Offer<"acp"> {
  const { commands = [], skills = [], prompts = [] } = about ?? {};
  const own = [...commands, ...skills.filter(({ invocable }) => invocable), ...prompts];
  return { place: "acp", own: () => own };
}

/** The same as the editor lists it. */
export function commandsOf(offer: Offer<"acp">, w: SlashTexts): AvailableCommand[] {
  const lines = slashLines(offer, w);
  return lines.map(({ name, takes, does, own }) => {
    const hint = own ? "…" : takes;
    return { name, description: does, ...(hint !== undefined && { input: { hint } }) };
  });
}

/** Does a command; the message that follows it, if one does. */
export async function runTyped(
  typed: TypedSlash,
  typist: Typist<"acp">,
  { words, say }: { words: SlashWords; say(text: string): void },
): Promise<string | undefined> {
  const outcome = await runSlash(typed, typist);
  switch (outcome.type) {
    case "own":
      return outcome.name satisfies never;
    case "go":
      say(words.slash.elsewhere(outcome.session));
      return undefined;
    case "told":
    case "done":
    case "back":
      say(outcome.told(words).join("\n"));
      return undefined;
    case "say":
      say(outcome.told(words).join("\n"));
      return outcome.text;
    default:
      return outcome satisfies never;
  }
}
