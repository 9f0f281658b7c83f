import { sageHome, readInstallation } from "../../config/home/home.ts";
import { serversIn, stopCodex } from "../../guest/codex/server.ts";
import { guestPrograms, guestsDir } from "../../host/guests/guest-programs.ts";
import { installedAgents, leastClaude, type InstalledAgent } from "../../host/guests/installed-agents.ts";
import { agentsTexts, type AgentsTexts } from "../../texts/setup/agents.ts";
import { tableLines } from "../../view/lines/table.ts";
import { succeed, printJson, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";

/** Lists the agents that can run turns in Sage's place: which are installed, and what Sage can keep and refuse for each. */
export async function agents(args: string[]): Promise<number> {
  const { positionals, values, lang } = readFlags(args, { json: { type: "boolean", default: false } });
  const t = agentsTexts(lang);
  const [word, ...rest] = positionals;
  const dir = guestsDir(sageHome(process.env));
  if (rest.length > 0 || (word !== undefined && word !== "stop")) throw usage(t.usage);
  if (word === "stop") return succeed(t.stopped(await stopCodex(dir)));
  const { settings } = readInstallation(process.env);
  const found = await installedAgents(guestPrograms(settings.agents), process.env);
  if (values.json) return printJson(found);
  console.log([...rows(found, t), "", ...t.legend, t.use()].join("\n"));
  for (const { since, parked, lives } of serversIn(dir))
    if (lives) console.log(t.server(new Date(since).toLocaleString(lang), parked));
  return exitCodes.success;
}

function rows(found: readonly InstalledAgent[], t: AgentsTexts): string[] {
  const cells = found.map(({ name, protocol, path, version, keeps }) => {
    if (path === undefined) return [name, t.missing, "", ""];
    const isOld = protocol === "claude" && version !== undefined && keeps === "carried";
    const shown = isOld ? t.tooOld(version, leastClaude) : (version ?? t.unknownVersion);
    return [name, shown, keeps === "exact" ? t.exact : t.carried, t.sees[protocol]];
  });
  const { agent, version, kept, sees } = t.columns;
  return tableLines([[agent, version, kept, sees], ...cells]);
}
