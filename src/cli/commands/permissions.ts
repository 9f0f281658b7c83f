import { permissionTexts } from "../../texts/permissions.ts";
import { langOf, usage } from "../flags.ts";

const actions: Record<string, () => Promise<(args: string[]) => Promise<number>>> = {
  list: async () => (await import("./permissions/list.ts")).list,
  add: async () => (await import("./permissions/change.ts")).add,
  remove: async () => (await import("./permissions/change.ts")).remove,
  explain: async () => (await import("./permissions/explain.ts")).explain,
  backtest: async () => (await import("./permissions/backtest.ts")).backtest,
  suggest: async () => (await import("./permissions/backtest.ts")).suggestRules,
  check: async () => (await import("./permissions/check.ts")).check,
  import: async () => (await import("./permissions/import.ts")).importRules,
};

/** `sage permissions …`: what is allowed here, and why. */
export async function permissions(args: string[]): Promise<number> {
  const [name = "", ...rest] = args;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw usage(permissionTexts(langOf(args)).usage);
  return (await action())(rest);
}
