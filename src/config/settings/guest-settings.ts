import * as z from "../../base/z.ts";

const name = /^[a-z][a-z0-9-]{0,29}$/;

export const guestName = z.string().regex(name, "agent-name");

/** The person's own: which programs run in the place of Sage's loop, and how they are started. */
export const guests = z
  .record(
    guestName,
    z.strictObject({
      command: z.string().min(1).optional().describe("The program; one on the PATH by its name, or a whole path"),
      args: z.array(z.string()).optional().describe("Its arguments"),
      mode: z.string().min(1).optional().describe("The mode of its own that it is put into, where it has modes"),
      env: z.record(z.string(), z.string()).optional().describe("Added to its environment"),
    }),
  )
  .describe("Other agents, by the name that --agent takes; claude and codex are known, others speak ACP");

export type GuestsSettings = z.infer<typeof guests>;
