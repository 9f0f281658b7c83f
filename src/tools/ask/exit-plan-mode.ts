import { PLAN_TOOL } from "../../protocol/mode.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import type { Tool } from "../definition/tool.ts";

const inputSchema = z.strictObject({
  plan: z
    .string()
    .refine((text) => text.trim() !== "", "must not be empty")
    .describe("The whole plan, in Markdown"),
});

/** Asks for permission like any other call; the loop writes down the mode that a yes leads to. */
export const exitPlanMode: Tool<z.infer<typeof inputSchema>> = {
  name: PLAN_TOOL,
  description: describe("ask/exit-plan-mode"),
  inputSchema,
  effect: "waits",
  requiresUserInteraction: true,
  checkPermissions: (_, { sessionMode }) =>
    sessionMode === "plan"
      ? { behavior: "ask", reason: reason("plan-waits", {}) }
      : { behavior: "deny", reason: reason("not-in-plan-mode", {}) },
  execute: async () => ({
    ok: true,
    text: "The person approved the plan. Plan mode is over: carry it out now.",
  }),
};
