import type { ExecutionOptions } from "../../protocol/index.ts";

/** Fills in the defaults of a run. */
export function executionOptions(
  given: Partial<ExecutionOptions> & Pick<ExecutionOptions, "workingDirectory">,
): ExecutionOptions {
  return { mode: { type: "interactive" }, maxSteps: 100, autoCompactThreshold: 0.8, llmOptions: {}, ...given };
}
