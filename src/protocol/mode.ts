/** Freedom without asking. `ask`: what rules allow. `acceptEdits`: edits of the workspace, too. `plan`: reads, until a plan is approved. */
export type SessionMode = "ask" | "acceptEdits" | "plan";

/** In the order in which a key goes through them. */
export const sessionModes: readonly SessionMode[] = ["ask", "acceptEdits", "plan"];

/** The modes as they are typed. */
export const modeWords: Readonly<Record<string, SessionMode>> = {
  ask: "ask",
  "accept-edits": "acceptEdits",
  plan: "plan",
};

/** The tool by which an agent presents its plan. */
export const PLAN_TOOL = "ExitPlanMode";

/** The mode that follows on this one. */
export function nextMode(mode: SessionMode): SessionMode {
  return sessionModes[(sessionModes.indexOf(mode) + 1) % sessionModes.length] ?? "ask";
}
