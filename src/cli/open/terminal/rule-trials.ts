import type { Store } from "../../../journal/store/store.ts";
import type { Rule } from "../../../protocol/facts/permission.ts";
import type { RuleTrial } from "../../../protocol/host/past.ts";

/** Old enough that calls since then might matter. */
const FRESH_MS = 60_000;

/** Trials of rules that are offered, each made once and kept for a minute. Without a past, or where it cannot be read, there is none. */
export function createRuleTrials(store: Store, cwd: string, rules: () => readonly Rule[]) {
  const made = new Map<string, { at: number; trial: RuleTrial | undefined }>();
  const make = async (rule: string) => {
    const { readPast } = await import("../../../archive/trials.ts");
    return (await readPast(store, cwd, { rules: rules() })).trials.of({ text: rule, behavior: "allow" });
  };
  return (rule: string, ready: () => void): RuleTrial | undefined => {
    const found = made.get(rule);
    if (found && Date.now() - found.at < FRESH_MS) return found.trial;
    made.set(rule, { at: Date.now(), trial: found?.trial });
    void make(rule).then(
      (trial) => {
        made.set(rule, { at: Date.now(), trial });
        ready();
      },
      () => {}, // a hint that cannot be given is no reason to disturb anybody
    );
    return found?.trial;
  };
}
