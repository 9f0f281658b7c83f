import type { Command, InboxEvent, Refused, WatchEvent } from "../protocol/host/host.ts";
import type { Sender } from "../protocol/sender.ts";

/** Versions of the protocol that this Sage speaks. New fields, fact types and commands need no new one; taking one away does. */
export const protocols: readonly number[] = [1];

export const MAX_FRAME_BYTES = 1024 * 1024;
export const FRAME_ROOM = 200;

/** Kinds of clients. `process`: another process on the same journal. */
export const clientSurfaces = ["web", "tui", "plain", "sdk", "process"] as const;
export type ClientSurface = (typeof clientSurfaces)[number];

/** First frame of a client. The person is the key's owner, never a name that the client sends. */
export type Hello = { protocols: readonly number[]; surface: ClientSurface; client: string; lang?: string };

export type HelloFrame = { hello: Hello; key?: string };

/** The host's reply to a hello. */
export type Welcome = {
  hello: number;
  version: string;
  /** Id of the journal. If it differs from before, everything received so far is void. */
  journal: string;
  /** The name and the surface under which everything from this connection is recorded. */
  me: Pick<Sender, "by" | "surface">;
  may: readonly ("talk" | "approve")[];
  now: number;
};

/** Sent by a client after its hello. */
export type Call =
  /** `until`, by the host's clock: an answer that comes later is refused. */
  | { do: "send"; id: number; command: Command; until?: number }
  | { do: "watch"; id: number; session: string; after?: number; last?: number }
  | { do: "inbox"; id: number }
  | { do: "unwatch"; id: number };

/** Sent by a host. `ended`: a watch or an inbox is over, with its error if it failed. */
export type Said =
  | Welcome
  | { id: number; event: WatchEvent | InboxEvent }
  | { id: number; reply: { ok: boolean } }
  | { id: number; ended: Refused | null }
  /** The host lives, though nothing happens. */
  | { beat: number };

/** A frame as a type; undefined for what a later version added. Checked by hand: the page carries no schema library. */
export function readSaid(body: unknown): Said | undefined {
  const frame = objectOf(body);
  if ("event" in frame) return numbered(frame) && isKnown(objectOf(frame["event"])) ? (frame as Said) : undefined;
  if ("reply" in frame)
    return numbered(frame) && fits(objectOf(frame["reply"]), { ok: "boolean" }) ? (frame as Said) : undefined;
  if ("ended" in frame) {
    const { ended } = frame;
    return numbered(frame) && (ended === null || fits(objectOf(ended), { code: "string", message: "string" }))
      ? (frame as Said)
      : undefined;
  }
  if ("beat" in frame) return fits(frame, { beat: "number" }) ? (frame as Said) : undefined;
  if (!("hello" in frame)) return undefined;
  fits(frame, { hello: "number", version: "string", journal: "string", now: "number" });
  fits(objectOf(frame["me"]), { by: "string", surface: "string" });
  if (!Array.isArray(frame["may"])) throw new Error("a hello should say what the person may do");
  return frame as Said;
}

type Fields = Record<string, unknown>;

function objectOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null) throw new Error("a frame should be an object");
  return value as Fields;
}

function numbered(frame: Fields): boolean {
  return fits(frame, { id: "number" });
}

/** Throws where a field is of another type. */
function fits(value: Fields, types: Record<string, "string" | "number" | "boolean">): true {
  for (const [name, type] of Object.entries(types))
    if (typeof value[name] !== type) throw new Error(`"${name}" of a frame should be a ${type}`);
  return true;
}

function isKnown(event: Fields): boolean {
  switch (event["type"] as (WatchEvent | InboxEvent)["type"]) {
    case "fact":
      return fits(objectOf(event["fact"]), {
        session: "string",
        seq: "number",
        key: "string",
        type: "string",
        at: "number",
      });
    case "delta":
      return fits(objectOf(event["delta"]), {
        session: "string",
        key: "string",
        attempt: "number",
        kind: "string",
        text: "string",
      });
    case "ready":
      return Array.isArray(event["requests"]);
    case "inbox":
      return Array.isArray(event["requests"]) && Array.isArray(event["sessions"]);
    case "owner":
    case "link":
      return true;
    default:
      return false;
  }
}
