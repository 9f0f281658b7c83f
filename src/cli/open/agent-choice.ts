import type { Installation } from "../../config/home/installation.ts";
import { guestTrust, trustGuests } from "../../config/trust/guest-trust.ts";
import { guestProgram } from "../../host/guests/guest-programs.ts";
import type { Store } from "../../journal/store/store.ts";
import { oneLine } from "../../base/visible.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import type { Lang } from "../../texts/language.ts";
import { accountMay } from "../host/account.ts";
import { styleOf } from "../process/style.ts";
import { typed } from "../process/prompt.ts";
import { guestTrustLines } from "../govern/trust-prompt.ts";

/** Names Sage itself, where the settings name another agent. */
const OURSELVES = "sage";

/** The agent that runs a session: that of the session, or the one that is named for a new one. Undefined: Sage itself. */
export function agentFor(
  { settings }: Installation,
  { named, session, store }: { named: string | undefined; session: string | undefined; store: Store | undefined },
): string | undefined {
  if (session !== undefined && store) {
    const agent = store.opened(session)?.agent;
    if (named !== undefined && named !== (agent ?? OURSELVES))
      throw new SageError("usage", reason("guest-fixed", { session, agent: agent ?? OURSELVES }));
    return agent;
  }
  const agent = named ?? settings.agent;
  return agent === undefined || agent === OURSELVES ? undefined : guestProgram(agent, settings.agents).name;
}

/** Asks a person at a terminal about settings of the folder that another agent would follow. Nothing but a clear yes trusts them. */
export async function asksGuestTrust(
  { home, settings }: Installation,
  cwd: string,
  lang: Lang,
): Promise<"go on" | "leave"> {
  const found = guestTrust(home.trust, cwd);
  if (found.state === "trusted" || found.state === "nothing-to-trust") return "go on";
  const t = cliTexts(lang);
  const style = styleOf(process.stdout, lang);
  const mayTrust = accountMay(settings, "approve");
  const offered = mayTrust ? (["t", "q"] as const) : (["q"] as const);
  const words = { t: t.trustTrust, q: t.trustLeave };
  const choices = offered.map((key) => `  ${style.paint.bold(key)}  ${words[key]}`);
  console.log([...guestTrustLines(found, style, t), ...choices].join("\n"));
  for (;;) {
    const said = (await typed(`${offered.join("/")} > `))?.toLowerCase();
    if (said === undefined || said === "q") return "leave";
    if (said !== "t" || !mayTrust) continue;
    trustGuests(home.trust, found);
    console.log(t.trusted(oneLine(found.root)));
    return "go on";
  }
}
