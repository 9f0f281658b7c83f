import { randomUUID } from "node:crypto";
import { existingSession } from "../../../journal/session/existing-session.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import { ruleAddedKey, ruleRemovedKey } from "../../../protocol/key.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import { type CommandParts, type Handlers, given } from "../parts.ts";
import type { Past } from "../../../archive/trials.ts";
import { neededOf } from "../../../view/request/describe.ts";
import { rulesFor } from "../../../view/request/answering.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import { existingRequest } from "./request.ts";

/** Enough to tell a rule by, and read in the blink of an eye: everybody else waits while the past is judged. */
const MAX_CALLS = 2_000;
const FRESH_MS = 60_000;

/** Rules that a person adds and removes by hand. A turn that runs hears of them before its next call. */
export function ruleCommands({ store, rulesKept }: CommandParts): Handlers<"addRule" | "removeRule"> {
  return {
    async addRule({ session, rule, behavior, destination, by }) {
      const row = existingSession(store, session);
      const reading = readRule(rule, behavior);
      if (!reading.ok)
        throw new SageError("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
      const grant = { rule, behavior, destination };
      const saved = destination === "session" ? undefined : given(rulesKept, "addRule").saveRule(row, grant);
      const data = { ...grant, by, ...(saved !== undefined && { saved }) };
      await store.append(session, { key: ruleAddedKey(randomUUID()), type: "rule.added", at: Date.now(), data });
      return { ok: true, ...(saved !== undefined && { file: saved }) };
    },
    async removeRule({ session, rule, behavior, destination, by, surface }) {
      const row = existingSession(store, session);
      const removal = { rule, destination, ...(behavior && { behavior }) };
      const saved = destination === "session" ? undefined : given(rulesKept, "removeRule").dropRule(row, removal);
      if (destination !== "session" && saved === undefined)
        throw new SageError("input-invalid", reason("rule-not-there", { rule }));
      const data = { ...removal, by, surface, ...(saved !== undefined && { saved }) };
      await store.append(session, { key: ruleRemovedKey(randomUUID()), type: "rule.removed", at: Date.now(), data });
      return { ok: true };
    },
  };
}

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
      const [first, ...more] = asked.map((text) => ({ text, behavior: "allow" as const }));
      if (!first) return { ok: true, trials: [], opens: [] };
      const { trials } = await pastOf(request.session);
      const { cwd } = existingSession(store, request.session);
      // A rule is for a session, or for what runs later: open requests of other sessions stay as they are.
      const opens = store.pending(request.session).flatMap((other) => {
        if (other.id === request.id || other.kind !== "permission" || other.hard || other.consent) return [];
        const { id, session, at, tool, input } = other;
        return trials.allows({ id, session, cwd, at, tool, input, decision: "asked" }, asked) ? [id] : [];
      });
      return { ok: true, trials: [trials.of(first, ...more)], opens };
    },
  };
}

function offeredWith(request: InputRequest): string[] {
  if (request.kind !== "permission") return [];
  const offered = neededOf(rulesFor(request)).filter(({ behavior }) => behavior === "allow");
  return [...new Set(offered.map(({ rule }) => rule))];
}
