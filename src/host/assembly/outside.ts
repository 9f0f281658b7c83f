import type { OwnCommand } from "../../context/commands.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/**
 * The MCP servers of a folder, as an agent uses them. Nothing is loaded or started before a turn begins or a message names one. A type in a
 * file of its own: the types of the published package must not lead to those of the client library, which is in the bundle.
 */
export type Outside = {
  /** Adds their tools to an agent's own. */
  tools(base: ToolRegistry): Promise<ToolRegistry>;
  /** Undefined where the message names no server; `message` is what the model would read without them. */
  expand(text: string, message: string, place: { session: string; keepDir: string }): Promise<string> | undefined;
  /** Their prompts, as far as they are known. */
  commands(): Promise<OwnCommand[]>;
};
