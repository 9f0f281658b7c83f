import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import type { Tool } from "../definition/tool.ts";

type Loadable = { name: string; folder: string; body: string; allowedTools: "all" | readonly string[] };

/** Hands a skill's text to the model when it is needed, and not before: most never are. */
export function createSkill(skills: readonly Loadable[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return {
    name: "Skill",
    description: describe("session/skill"),
    inputSchema: z.strictObject({
      skill: z.enum([...byName.keys()] as [string, ...string[]]).describe("Its name"),
      args: z.string().default("").describe("What the person gave with it, if anything"),
    }),
    effect: "reads",
    checkPermissions: () => ({ behavior: "allow", reason: reason("reads-skill", {}) }),
    async execute({ skill: name, args }: { skill: string; args: string }) {
      const { folder, body, allowedTools } = byName.get(name) as Loadable;
      const given = body.includes("$ARGUMENTS") || args === "" ? "" : `\n\nArguments: ${args}`;
      // A function, because a replacement text has a meaning of its own for "$&".
      const text = body.replaceAll("$ARGUMENTS", () => args);
      const limit =
        allowedTools === "all" ? "" : `\n\nUntil the end of the turn: ${allowedTools.join(", ") || "no tools"} only.`;
      const whole = `Skill "${name}" (its folder: ${folder})\n\n${text}${given}${limit}`;
      return { ok: true, text: whole, shown: { characters: 0 }, allowedTools };
    },
  };
}
