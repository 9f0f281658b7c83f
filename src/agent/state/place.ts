import type { ToolPlace } from "../../tools/definition/tool.ts";
import type { Place } from "./context.ts";

/** A subagent may work elsewhere, and rules still mean the folder that the session began in. */
export function anchorOf({ agent, config, options }: Place): string {
  return agent.length > 0 ? (config.roots[0] ?? options.workingDirectory) : options.workingDirectory;
}

export function toolPlace({ config, options }: Place): ToolPlace {
  return { cwd: options.workingDirectory, home: config.home };
}
