import type { Installation } from "../../../config/home/installation.ts";
import { guestPrograms } from "../../../host/guests/guest-programs.ts";
import { installedAgents, isOlder, leastClaude } from "../../../host/guests/installed-agents.ts";
import { agentsTexts } from "../../../texts/setup/agents.ts";
import type { Lang } from "../../../texts/language.ts";

type Report = { ok(text: string): void; bad(text: string): void };

/** Other agents that are installed. One that is not there is no problem. */
export async function checkAgents({ settings }: Installation, { ok, bad }: Report, lang: Lang): Promise<void> {
  const t = agentsTexts(lang);
  for (const { name, protocol, version } of await installedAgents(guestPrograms(settings.agents), process.env)) {
    if (version === undefined) continue;
    if (protocol === "claude" && isOlder(version, leastClaude)) bad(t.old(version, leastClaude));
    else ok(t.ready(name, version));
  }
}
