import { homedir } from "node:os";
import type { Store } from "../journal/store/store.ts";
import { projectRoot } from "../config/trust/trust.ts";
import { openDisk } from "../permission/paths/canonical.ts";
import { createTrials, type Trials } from "../permission/suggest/trial.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import type { PastCall } from "../protocol/host/past.ts";
import { loadDecision } from "./decision.ts";
import { pastCalls } from "./past.ts";

export type Past = { calls: PastCall[]; trials: Trials; offers(call: PastCall): string[][] };

/** The calls of this project, ready to hold rules against; the latest of them where there is a limit. */
export async function readPast(
  store: Store,
  cwd: string,
  { rules, limit }: { rules: readonly Rule[]; limit?: number },
): Promise<Past> {
  const calls = await pastCalls(store, { folder: projectRoot(cwd), ...(limit !== undefined && { limit }) });
  const { judge, suggest } = await loadDecision();
  const disk = openDisk();
  const questionOf = ({ tool, input, cwd }: PastCall, given: readonly Rule[]) => ({
    rules: given,
    mode: "default" as const,
    cwd,
    home: homedir(),
    roots: [cwd],
    tool,
    input,
    disk,
  });
  return {
    calls,
    trials: createTrials(calls, rules, (call, given, reading) => judge(questionOf(call, given), reading)),
    offers(call) {
      const found = suggest(questionOf(call, rules));
      const together = found.filter((each) => each.together).map(({ rule }) => rule);
      const alone = found.filter((each) => !each.together).map(({ rule }) => [rule]);
      return together.length > 0 ? [...alone, together] : alone;
    },
  };
}
