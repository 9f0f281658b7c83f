import { agentOf } from "../../protocol/facts/call.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import type { Tool } from "../definition/tool.ts";

const MAX_TITLE_LENGTH = 80;

/** Gives a task to a subagent. Which ones there are is part of what the model reads. */
export function createTask(agents: readonly { name: string; description: string }[]): Tool {
  const names = agents.map(({ name }) => name);
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return {
    name: "Task",
    description: `${describe("session/task")}\n${list}`,
    inputSchema: z.strictObject({
      agent: z.enum(names as [string, ...string[]]),
      description: z.string().min(1).max(MAX_TITLE_LENGTH).describe("Three to five words for the person"),
      prompt: z.string().min(1),
    }),
    adapt({ agent, subagent_type: type, description, ...rest }) {
      const { prompt } = rest;
      const name = agentOf({ agent, subagent_type: type });
      const plain = (text: unknown) => String(text).toLowerCase().replace(/[-_ ]/g, "");
      const meant = names.find((known) => plain(known) === plain(name)) ?? name;
      const told = description ?? (typeof prompt === "string" ? prompt.trim().split("\n")[0] : undefined);
      const short = typeof told === "string" ? [...told].slice(0, MAX_TITLE_LENGTH).join("") : told;
      return { ...rest, agent: meant, description: short };
    },
    effect: "waits",
    checkPermissions: () => ({
      behavior: "allow",
      reason: reason("hands-on-task", {}),
    }),
    execute: ({ agent, prompt }: { agent: string; prompt: string }, scope) => scope.delegate({ agent, prompt }),
  };
}
