import type { Installation } from "../../config/home/home.ts";
import { guestProgram } from "../../host/guests/guest-programs.ts";
import type { Store } from "../../journal/store/store.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

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
