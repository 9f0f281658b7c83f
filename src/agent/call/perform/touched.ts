import { dirname, relative, sep } from "node:path";
import { repositoryRoot } from "../../../context/environment.ts";
import { canonicalPath } from "../../../permission/paths/canonical.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import type { People, Place, Tools } from "../../state/context.ts";
import { toolPlace } from "../judge/decision-input.ts";
import { advised } from "../judge/results.ts";

const tools = ["Read", "Edit", "Write"];

/**
 * Adds instruction files that lie between the working directory and a file that a call has touched, each once as long as it stands in
 * the conversation. Only for a folder that a person trusts; those of the working directory and above are in the prompt.
 */
export function withInstructions(
  result: ToolResult,
  context: Tools & Place & Pick<People, "conversation">,
  { tool, input, mayRead }: { tool: string; input: ToolInput; mayRead(path: string): boolean },
): ToolResult {
  const { instructionsAt } = context.config;
  const { file_path: path } = input;
  if (!instructionsAt || !result.ok || !tools.includes(tool) || typeof path !== "string") return result;
  const place = toolPlace(context);
  const { real } = canonicalPath(path, place);
  const cwd = canonicalPath(place.cwd, place).real;
  const isBelow = (file: string) => !/^$|^\.\./.test(relative(cwd, dirname(file)));
  if (!isBelow(real) || isForeign(cwd, dirname(real))) return result;
  const isNew = (file: string) => file !== real && !context.memory.instructed.has(file) && !isInSight(context, file);
  const fresh = instructionsAt(real, mayRead).filter((found) => isBelow(found.path) && isNew(found.path));
  for (const { path: told } of fresh) context.memory.instructed.add(told);
  return fresh.length === 0 ? result : advised(result, fresh.map(({ text }) => text).join("\n\n"));
}

/** A repository within this one, and a library that was installed, are not what the person trusted. */
function isForeign(cwd: string, folder: string): boolean {
  return relative(cwd, folder).split(sep).includes("node_modules") || repositoryRoot(folder) !== repositoryRoot(cwd);
}

function isInSight({ conversation }: Pick<People, "conversation">, path: string): boolean {
  const head = `<instructions path=${JSON.stringify(path)}>`;
  return conversation().some(
    (message) => message.role === "tool" && message.results.some(({ result }) => result.text.includes(head)),
  );
}
