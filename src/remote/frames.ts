import type { Command, InboxEvent, Refused, Sender, WatchEvent } from "../protocol/index.ts";
import * as z from "../protocol/z.ts";

/** Versions of the protocol that this Sage speaks. New fields, fact types and commands need no new one; taking one away does. */
export const protocols: readonly number[] = [1];

/** Kinds of clients. `process`: another process on the same journal. */
export const clientSurfaces = ["web", "tui", "plain", "sdk", "process"] as const;
export type ClientSurface = (typeof clientSurfaces)[number];

/** The client's first words. The person is whoever owns the key, never what a client says. */
export type Hello = { protocols: readonly number[]; surface: ClientSurface; client: string; lang?: string };

export type HelloFrame = { hello: Hello; key?: string };

/** The host's reply to a hello. */
export type Welcome = {
  /** The protocol that both speak from now on. */
  hello: number;
  version: string;
  /** Made with the journal. Another one than before: nothing that was told holds any more. */
  journal: string;
  /** The name and the surface under which everything from this connection is recorded. */
  me: Pick<Sender, "by" | "surface">;
  may: readonly ("talk" | "approve")[];
  /** The host's clock. */
  now: number;
};

/** Sent by a client after its hello. */
export type Call =
  /** `until`, by the host's clock: an answer that comes later is refused. */
  | { do: "send"; id: number; command: Command; until?: number }
  | { do: "watch"; id: number; session: string; after?: number; last?: number }
  | { do: "inbox"; id: number }
  /** Ends a watch or an inbox. */
  | { do: "unwatch"; id: number };

/** Sent by a host. `ended`: a watch or an inbox is over, with its error if it failed. */
export type Said =
  | Welcome
  | { id: number; event: WatchEvent | InboxEvent }
  | { id: number; reply: { ok: boolean } }
  | { id: number; ended: Refused | null }
  /** The host lives, though nothing happens. */
  | { beat: number };

const text = z.string();
const id = z.int().min(0);
const welcome = z.object({
  hello: z.int(),
  version: text,
  journal: text,
  me: z.object({ by: text, surface: text }),
  may: z.array(z.enum(["talk", "approve"])),
  now: z.number(),
});
const event = z.object({ id, event: z.looseObject({ type: text }) });
const reply = z.object({ id, reply: z.looseObject({ ok: z.boolean() }) });
const refusal = z.looseObject({ ok: z.literal(false), code: text, message: text });
const ended = z.object({ id, ended: refusal.nullable() });
const beat = z.object({ beat: z.number() });
const fact = z.looseObject({ session: text, seq: z.int(), key: text, type: text, at: z.number() });
const delta = z.looseObject({ session: text, key: text, attempt: z.number(), kind: text, text });

/** A frame of the host as a type. Undefined for a frame or an event that a later version may have added. */
export function readSaid(body: unknown): Said | undefined {
  if (typeof body !== "object" || body === null) throw new Error("a frame should be an object");
  if ("event" in body) {
    const { id: to, event: found } = event.parse(body);
    return isKnown(found) ? ({ id: to, event: found } as unknown as Said) : undefined;
  }
  if ("reply" in body) return reply.parse(body);
  if ("ended" in body) return ended.parse(body) as unknown as Said;
  if ("beat" in body) return beat.parse(body);
  return "hello" in body ? welcome.parse(body) : undefined;
}

function isKnown(given: { type: string }): boolean {
  const found = given as Record<string, unknown>;
  switch (given.type as (WatchEvent | InboxEvent)["type"]) {
    case "fact":
      return fact.parse(found["fact"]) !== undefined;
    case "delta":
      return delta.parse(found["delta"]) !== undefined;
    case "ready":
      return Array.isArray(found["requests"]);
    case "inbox":
      return Array.isArray(found["requests"]) && Array.isArray(found["sessions"]);
    case "owner":
    case "link":
      return true;
    default:
      return false;
  }
}
