import type { Store } from "../journal/store/store.ts";
import type { InputResponse } from "../protocol/facts/answer.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";

const SURFACE = "persona";
const PREFIX = "persona ";

/** Marks an answer as a persona's. The mark survives copying, wrapping and JSON. */
export function asPersona(response: InputResponse, name: string): InputResponse {
  return { ...response, persona: name };
}

/** The answer to record, without the mark, and its sender: a persona's answer is always recorded as a persona's. */
export function senderOf(given: InputResponse, otherwise: Sender): { response: InputResponse; sender: Sender } {
  if (!("persona" in given)) return { response: { ...given }, sender: otherwise };
  const { persona: name, ...response } = given;
  if (name === undefined) return { response, sender: otherwise };
  return { response, sender: { by: `${PREFIX}${name}`, surface: SURFACE } };
}

/** The persona in whose name a recorded answer was given. */
export function recordedPersona(by: string): string | undefined {
  return by.startsWith(PREFIX) ? by.slice(PREFIX.length) : undefined;
}

/** A persona stands in for a person in tests. Outside of a test journal it answers nothing, and so grants nothing. */
export function checkPersona(store: Store, sender: Sender): void {
  if (!isPersona(sender) || store.test === true) return;
  throw new SageError("not-permitted", reason("persona-outside-test", { by: sender.by }));
}

export function isPersona({ surface }: Sender): boolean {
  return surface === SURFACE;
}
