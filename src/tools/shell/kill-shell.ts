import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import { failed } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";

const inputSchema = z.strictObject({ id: z.string().min(1).describe("Of the command, from the result of its call") });

/** Ends only what this session started itself, so it needs no permission; doing it twice does no harm. */
export const killShell: Tool<z.infer<typeof inputSchema>> = {
  name: "KillShell",
  description: describe("shell/kill-shell"),
  inputSchema,
  effect: "reads",
  specifier: ({ id }) => id,
  checkPermissions: () => ({ behavior: "allow", reason: "stops a command that this session started" }),
  async execute({ id }, scope) {
    const how = await scope.tasks?.stop(id);
    if (how === undefined) return failed(`There is no command ${id} in the background.`);
    return { ok: true, text: how === "ended" ? `${id} had ended already.` : `${id} was stopped.` };
  },
};
