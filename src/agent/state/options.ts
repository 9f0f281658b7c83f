import type { Asking } from "../../input/ask.ts";
import type { Store } from "../../journal/store/store.ts";
import { withoutUndefined, type ExecutionOptions } from "../../protocol/host/options.ts";

/** Fills in the defaults of a run. */
export function executionOptions(
  given: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">,
): ExecutionOptions {
  return {
    mode: { type: "interactive" },
    maxSteps: 100,
    autoCompactThreshold: 0.8,
    llmOptions: {},
    ...withoutUndefined(given),
  };
}

/** How a run asks: as its options say; `usualTimeout` counts where they name none. */
export function askingWith(
  store: Store,
  { mode, promptTimeout, timeoutPolicy, remindEvery, quiet }: ReturnType<typeof executionOptions>,
  usualTimeout?: number,
): Asking {
  const timeout = promptTimeout ?? usualTimeout;
  return {
    store,
    mode,
    ...(timeout !== undefined && { promptTimeout: timeout }),
    ...(timeoutPolicy !== undefined && { timeoutPolicy }),
    ...(remindEvery !== undefined && { remindEvery }),
    ...(quiet && { quiet }),
  };
}
