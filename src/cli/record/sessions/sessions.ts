import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { langOf, usage } from "../../process/flags.ts";

const actions: Record<string, () => Promise<(args: string[]) => Promise<number>>> = {
  list: async () => (await import("./list.ts")).list,
  rename: async () => (await import("./rename.ts")).rename,
  fork: async () => (await import("./fork.ts")).fork,
  delete: async () => (await import("./delete.ts")).deleteSessions,
  gc: async () => (await import("./gc.ts")).gc,
};

/** `sage sessions …`: what there is, and keeping it in order. */
export async function sessions(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (name === "" || name.startsWith("-")) return (await import("./list.ts")).list(args);
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw usage(sessionTexts(langOf(args)).usage);
  return (await action())(rest);
}
