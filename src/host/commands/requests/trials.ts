import type { Past } from "../../../archive/trials.ts";
import { existingSession } from "../../../journal/session/existing-session.ts";
import { neededOf } from "../../../view/request/describe.ts";
import { rulesFor } from "../../../view/request/answering.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { existingRequest } from "./request.ts";
import type { CommandParts, Handlers } from "../parts.ts";

/** Enough to tell a rule by, and read in the blink of an eye: everybody else waits while the past is judged. */
const MAX_CALLS = 2_000;
const FRESH_MS = 60_000;

/** Rules that are offered with a request, held against the past. Requests that come together are told of one look at it. */
export function trialCommands({ store, rulesIn }: CommandParts): Handlers<"past"> {
  const pasts = new Map<string, { past: Promise<Past>; asOf: number }>();
  const pastOf = (session: string): Promise<Past> => {
    const row = existingSession(store, session);
    const known = pasts.get(session);
    if (known?.asOf === row.lastAt) return known.past;
    const past = import("../../../archive/trials.ts").then(({ readPast }) =>
      readPast(store, row.cwd, { rules: rulesIn(row), limit: MAX_CALLS }),
    );
    const made = { past, asOf: row.lastAt };
    pasts.set(session, made);
    const forget = () => void (pasts.get(session) === made && pasts.delete(session));
    setTimeout(forget, FRESH_MS).unref();
    past.catch(forget);
    return past;
  };
  return {
    async past({ requestId, rules }) {
      const { request } = existingRequest(store, requestId);
      const asked = rules ?? offeredWith(request);
      if (asked.length === 0) return { ok: true, trials: [] };
      const { trials } = await pastOf(request.session);
      return { ok: true, trials: asked.map((text) => trials.of({ text, behavior: "allow" })) };
    },
  };
}

function offeredWith(request: InputRequest): string[] {
  if (request.kind !== "permission") return [];
  const offered = neededOf(rulesFor(request)).filter(({ behavior }) => behavior === "allow");
  return [...new Set(offered.map(({ rule }) => rule))];
}
