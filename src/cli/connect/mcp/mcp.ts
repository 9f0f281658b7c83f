import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { langOf, usage } from "../../process/flags.ts";

const actions: Record<string, () => Promise<(args: string[]) => Promise<number>>> = {
  list: async () => (await import("./list.ts")).list,
  add: async () => (await import("./change.ts")).add,
  remove: async () => (await import("./change.ts")).remove,
  test: async () => (await import("./list.ts")).test,
  login: async () => (await import("./login.ts")).login,
  import: async () => (await import("./import.ts")).importServers,
};

/** `sage mcp …`: servers that bring tools from outside. */
export async function mcp(args: string[]): Promise<number> {
  const [name = "list", ...rest] = args;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw usage(mcpTexts(langOf(args)).usage);
  return (await action())(rest);
}
