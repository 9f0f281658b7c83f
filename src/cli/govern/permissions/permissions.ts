import { permissionTexts } from "../../../texts/setup/permissions.ts";
import { langOf, runAction, type Actions } from "../../process/flags.ts";

const actions: Actions = {
  list: async () => (await import("./list.ts")).list,
  add: async () => (await import("./change.ts")).add,
  remove: async () => (await import("./change.ts")).remove,
  explain: async () => (await import("./explain.ts")).explain,
  backtest: async () => (await import("./backtest.ts")).backtest,
  suggest: async () => (await import("./backtest.ts")).suggestRules,
  check: async () => (await import("./check.ts")).check,
  import: async () => (await import("./import.ts")).importRules,
};

export async function permissions(args: string[]): Promise<number> {
  return runAction(actions, args, () => permissionTexts(langOf(args)).usage);
}
