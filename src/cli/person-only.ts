import { SageError } from "../protocol/error.ts";

/** An agent's commands must not approve, trust or change rules in the person's name, however they were started. */
export function forPeopleOnly(env: NodeJS.ProcessEnv): void {
  if (env["SAGE_INSIDE"] === undefined) return;
  throw new SageError(
    "usage",
    "this is for a person: a command that an agent runs may not answer, trust, change rules or touch other sessions",
  );
}
