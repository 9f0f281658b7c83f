import type { Redaction } from "../../config/secrets/redact.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { CommandReply, InboxEvent, PendingRequest, WatchEvent } from "../../protocol/host/host.ts";
import { veilText } from "./veiled-text.ts";

/** Secrets are taken out of whatever leaves for somebody's screen, and the number of places goes along. */
export type Veil = {
  fact(fact: Fact): Fact;
  pending(pending: PendingRequest): PendingRequest;
  reply(reply: CommandReply): CommandReply;
  inbox(event: InboxEvent): InboxEvent;
  /** Veils the events of one watch, in their order. Undefined: nothing of it may be shown yet. */
  watching(): (event: WatchEvent) => WatchEvent | undefined;
  /** Places of a request in which something was taken out. */
  masked(request: InputRequest): number;
  /** The way back: texts of a request that somebody sends as they saw them become those that are meant. */
  lift<T>(request: InputRequest, sent: T): T;
};

/** A fact goes to many watchers, and is the same for all of them. */
const seen = new WeakMap<Redaction, WeakMap<object, unknown>>();

export function createVeil(redaction: Redaction): Veil {
  const known = seen.get(redaction) ?? new WeakMap<object, unknown>();
  seen.set(redaction, known);
  const once = <T extends object>(given: T, make: (given: T) => T): T => {
    const found = known.get(given) as T | undefined;
    if (found) return found;
    const made = make(given);
    known.set(given, made);
    return made;
  };

  const request = (given: InputRequest): InputRequest =>
    once(given, (one) => {
      const shown = redaction.value(one);
      // A mark of ours that was there before must not make one that is new look like none.
      const masked = Math.max(
        countMasks(shown) - countMasks(one),
        JSON.stringify(shown) === JSON.stringify(one) ? 0 : 1,
      );
      return masked > 0 ? { ...shown, masked } : shown;
    });
  const pending = ({ request: asked, ...rest }: PendingRequest): PendingRequest => ({
    request: request(asked),
    ...redaction.value(rest),
  });
  const fact = (given: Fact): Fact =>
    once(given, (one) =>
      one.type === "input.requested"
        ? { ...one, data: request(one.data) }
        : ({ ...one, data: redaction.value(one.data) } as Fact),
    );

  return {
    fact,
    pending,
    reply(reply) {
      if (!reply.ok) return redaction.value(reply);
      if ("requests" in reply) return { ...reply, requests: reply.requests.map(pending) };
      if ("request" in reply) return { ...redaction.value(reply), request: request(reply.request) };
      if ("facts" in reply) return { ...reply, facts: reply.facts.map(fact) };
      return redaction.value(reply);
    },
    inbox(event) {
      if (event.type === "fact") return { ...event, fact: fact(event.fact) };
      return { ...event, requests: event.requests.map(pending), sessions: redaction.value(event.sessions) };
    },
    watching() {
      const text = veilText(redaction);
      return (event) => {
        switch (event.type) {
          case "fact":
            return { ...event, fact: fact(event.fact) };
          case "ready":
            return { ...event, requests: event.requests.map(pending) };
          case "delta": {
            const delta = text(event.delta);
            return delta && { ...event, delta };
          }
          case "owner":
          case "link":
            return event;
          default:
            return event satisfies never;
        }
      };
    },
    masked: (given) => request(given).masked ?? 0,
    lift(given, sent) {
      const meant = new Map<string, string>();
      pairs(request(given), given, meant);
      return meant.size === 0 ? sent : lifted(sent, meant);
    },
  };
}

const countMasks = (value: unknown) => JSON.stringify(value).split("[secret").length - 1;

/** Texts that differ in the two, by how they are shown. */
function pairs(shown: unknown, meant: unknown, found: Map<string, string>): void {
  if (typeof shown === "string") {
    if (typeof meant === "string" && shown !== meant) found.set(shown, meant);
    return;
  }
  if (shown === null || meant === null || typeof shown !== "object" || typeof meant !== "object") return;
  for (const [field, one] of Object.entries(shown)) pairs(one, (meant as Record<string, unknown>)[field], found);
}

function lifted<T>(sent: T, meant: ReadonlyMap<string, string>): T {
  const lift = (one: unknown): unknown => {
    if (typeof one === "string") return meant.get(one) ?? one;
    if (Array.isArray(one)) return one.map(lift);
    if (one === null || typeof one !== "object") return one;
    return Object.fromEntries(Object.entries(one).map(([field, value]) => [meant.get(field) ?? field, lift(value)]));
  };
  return lift(sent) as T;
}
