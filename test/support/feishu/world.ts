import { randomBytes } from "node:crypto";
import type { FakeClock } from "./clock.ts";

export type Json = Record<string, unknown>;

export type Message = {
  id: string;
  chat: string;
  thread?: string;
  root?: string;
  parent?: string;
  /** `bot`, or a person's open id. */
  sender: string;
  type: string;
  /** As it was sent, read. */
  content: Json;
  /** The card as people see it now: sent whole, or by its entity. */
  card?: Json;
  entity?: string;
  at: number;
  edits: number;
  /** How often the card was changed by a patch. */
  patches: number;
  recalled: boolean;
  /** Until when nothing may touch the card, because a click on it is being answered. */
  locked: boolean;
  reactions: string[];
  /** Of a merged forward: the messages in it. */
  forwards?: string[];
};

export type Entity = {
  id: string;
  card: Json;
  sequence: number;
  streaming: boolean;
  streamingSince: number;
  at: number;
  message?: string;
  uuids: Set<string>;
};

export type Chat = { id: string; type: "p2p" | "group"; name: string; members: string[]; dissolved: boolean };
/** The language of a client. */
export type Locale = "zh_cn" | "en_us";
export type Person = { openId: string; name: string; tenantKey: string; locale?: Locale };

/** Toast and card that the client showed to a person who clicked. */
export type Shown = {
  by: string;
  message: string;
  toast?: { type: string; content: string };
  /** Question that the client asked before it sent the click. */
  confirm?: { title: string; text: string };
  /** The code the client shows when something went wrong. */
  error?: number;
  why?: string;
  ms: number;
};

export type Failure = {
  /** Matched against `METHOD /path`. */
  route: RegExp;
  times: number;
  status: number;
  code: number;
  msg: string;
  headers: Record<string, string>;
  /** Cuts the connection instead of answering. */
  cut: boolean;
  /** The work is done, and only its answer is lost. */
  afterwards: boolean;
};

/** All the fake platform knows. */
export type World = {
  clock: FakeClock;
  app: { id: string; secret: string; encryptKey: string; verificationToken: string; tenantKey: string };
  bot: { openId: string; name: string };
  messages: Map<string, Message>;
  entities: Map<string, Entity>;
  chats: Map<string, Chat>;
  people: Map<string, Person>;
  files: Map<string, { name: string; content: Buffer; by: "bot" | "person"; message?: string }>;
  /** Message ids by uuid, with when. */
  uuids: Map<string, { id: string; at: number }>;
  tokens: Map<string, number>;
  tokenLifeMs: number;
  updateTokens: Map<string, { message: string; at: number; used: number; armed: boolean }>;
  granted: Set<string>;
  published: boolean;
  events: Set<string>;
  callbacks: Set<string>;
  shown: Shown[];
  /** Every call of the API, in order: `METHOD /path`, with the code it was answered with. */
  calls: { route: string; code: number; status: number; at: number; body: unknown }[];
  failures: Failure[];
  delays: { route: RegExp; ms: number }[];
  limits: { perChat: number; perMessage: number; perEntity: number };
};

let counter = 0;

/** Ids look as they do on the platform, and never repeat. */
export function newId(prefix: string): string {
  counter++;
  return `${prefix}_${randomBytes(12).toString("hex")}${counter.toString(36)}`;
}

export const scopes = [
  "im:message.p2p_msg:readonly",
  "im:message.group_at_msg:readonly",
  "im:message:send_as_bot",
  "im:message:update",
  "im:message:readonly",
  "im:resource",
  "cardkit:card:write",
  "contact:user.base:readonly",
  "im:chat.members:read",
];

/** How often something happened within the last second. */
export function createMeter(now: () => number): (key: string, limit: number) => boolean {
  const seen = new Map<string, number[]>();
  return (key, limit) => {
    const recent = (seen.get(key) ?? []).filter((at) => now() - at < 1_000);
    if (recent.length >= limit) {
      seen.set(key, recent);
      return false;
    }
    seen.set(key, [...recent, now()]);
    return true;
  };
}

/** The platform keeps what it sent elsewhere; kept here for ever, it would look like memory of Sage's. */
export function forgetOldest(kept: Map<string, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
