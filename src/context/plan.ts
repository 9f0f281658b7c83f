import type { Message } from "../protocol/facts/message.ts";

/** Ends every prompt in plan mode and is kept nowhere, so the provider's cache of all before it holds. `agent`: path from the root. */
export function planReminder(agent: readonly string[]): Message {
  const end =
    agent.length === 0
      ? "Once you know enough, put the plan before the person with ExitPlanMode; nothing else ends plan mode."
      : "Report what you found; the agent above you plans.";
  return { role: "user", text: `(From Sage, not from the person: plan mode is on. ${rule} ${end})` };
}

const rule =
  "The person wants to see a plan before anything is changed. Only calls that read run; every other call is refused, and nobody is asked about it. Look around, ask what you need to know, and change nothing.";
