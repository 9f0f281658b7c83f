import type { Store } from "../journal/store.ts";
import { reason, type InputResponse, type Sender } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

const SURFACE = "persona";
const PREFIX = "persona ";

/** Goes along when an answer is copied, and into no journal and no file: symbols are no part of JSON. */
const mark = Symbol("persona");

type Marked = { [mark]?: string };

/** Marks an answer as a persona's, whoever hands it on. */
export function asPersona(response: InputResponse, name: string): InputResponse {
  return Object.assign({ ...response }, { [mark]: name });
}

/** The answer as it is recorded, and in whose name: a persona's is never anybody else's. */
export function senderOf(given: InputResponse, otherwise: Sender): { response: InputResponse; sender: Sender } {
  const { [mark]: name, ...response } = given as InputResponse & Marked;
  if (name === undefined) return { response, sender: otherwise };
  return { response, sender: { by: `${PREFIX}${name}`, surface: SURFACE } };
}

/** The persona in whose name a recorded answer was given. */
export function recordedPersona(by: string): string | undefined {
  return by.startsWith(PREFIX) ? by.slice(PREFIX.length) : undefined;
}

/** A persona stands in for a person in tests. Outside of a test journal it answers nothing, and so grants nothing. */
export function checkPersona(store: Store, { by, surface }: Sender): void {
  if (surface !== SURFACE || store.test === true) return;
  throw errorBecause("not-permitted", reason("persona-outside-test", { by }));
}
