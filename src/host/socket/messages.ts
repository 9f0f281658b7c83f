import {
  SageError,
  said,
  sessionModes,
  type Command,
  type InputResponse,
  type Refused,
  type WatchEvent,
} from "../../protocol/index.ts";
import { listIssues } from "../../protocol/issue.ts";
import * as z from "../../protocol/z.ts";

/** Messages between processes: whatever comes from another process becomes a type here, once. */

const text = z.string();
/** Nobody says through a socket which person of the settings they are. */
const sender = { by: text, surface: text, person: z.undefined().optional(), device: z.undefined().optional() };
const requestId = text;
const named = { rule: text, destination: z.enum(["session", "local", "project", "user"]) };
const rule = z.strictObject({ ...named, behavior: z.enum(["allow", "deny", "ask"]) });
const answers = z.record(text, z.strictObject({ selected: z.array(text), other: text.optional() }));
const remark = text.optional();

const response = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("answers"), requestId, answers, remark, partial: z.boolean().optional() }),
  z.strictObject({
    type: z.literal("granted"),
    requestId,
    input: z.record(text, z.unknown()).optional(),
    comment: text.optional(),
    rules: z.array(rule).optional(),
    removeRules: z.array(z.strictObject(named)).optional(),
    mode: z.enum(["ask", "acceptEdits"]).optional(),
  }),
  z.strictObject({ type: z.literal("denied"), requestId, reason: text.optional() }),
  z.strictObject({ type: z.literal("text"), requestId, text }),
  z.strictObject({ type: z.literal("cancelled"), requestId, reason: text.optional() }),
]);

const shared = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("granted"), comment: text.optional() }),
  z.strictObject({ type: z.literal("denied"), reason: text.optional() }),
]);

const written = text.optional();
const draft = z.strictObject({
  answers: answers.optional(),
  remark,
  text: written,
  reason: written,
  comment: written,
  edit: written,
});

const image = z.strictObject({ name: text, data: z.base64() });
const end = z.enum(["fail", "cancel", "deny"]);
const limits = z.strictObject({
  promptTimeout: z.number().optional(),
  timeoutPolicy: z.union([end, z.strictObject({ escalate: z.array(z.string()), end })]).optional(),
  executionTimeout: z.number().optional(),
});

/** A program outside of Sage asks on the journal itself: nobody asks in another agent's name through a socket. */
type Taken = Exclude<Command, { type: "ask" | "unask" }>;
type Shape<C> = { [K in keyof Required<Omit<C, "type">>]: z.Schema };
/** Every field of every command: the compiler asks for those that come later. */
const shapes: { [T in Taken["type"]]: Shape<Extract<Command, { type: T }>> } = {
  open: { session: text.optional(), cwd: text, model: text.optional(), agent: text.optional() },
  say: {
    session: text,
    text,
    images: z.array(image).optional(),
    id: text.optional(),
    limits: limits.optional(),
    ...sender,
  },
  withdraw: { session: text, message: text, ...sender },
  respond: { response, ...sender },
  respondAll: { requestIds: z.array(requestId), answer: shared, ...sender },
  inquire: { requestId, text, id: text.optional(), ...sender },
  interrupt: { session: text, cancel: z.boolean().optional(), ...sender },
  resume: { session: text },
  chooseMode: { session: text, mode: z.enum(sessionModes), ...sender },
  compact: { session: text },
  saveDraft: { requestId, draft, ...sender },
  sessions: { session: text.optional() },
  request: { id: requestId },
  pending: { session: text.optional(), limit: z.int().min(1).optional(), after: requestId.optional() },
};

const id = z.int().min(0);
const call = z.discriminatedUnion("do", [
  z.strictObject({
    do: z.literal("send"),
    id,
    command: z.looseObject({ type: z.enum(Object.keys(shapes) as Taken["type"][]) }),
  }),
  z.strictObject({ do: z.literal("watch"), id, session: text, after: id.optional() }),
  z.strictObject({ do: z.literal("unwatch"), id }),
]);

const reason = z.object({ code: text, args: z.looseObject({}) });
const refusal = z.looseObject({ ok: z.literal(false), code: text, message: text, reason: reason.optional() });
const delta = z.object({
  session: text,
  key: text,
  attempt: z.number(),
  n: z.number(),
  kind: z.enum(["text", "reasoning", "output", "notice", "state"]),
  text,
  reason: reason.optional(),
  state: z.looseObject({ state: text }).optional(),
  agent: z.array(text).optional(),
});
const fact = z.object({ session: text, seq: z.int(), key: text, type: text, at: z.number(), data: z.unknown() });
const event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("fact"), fact }),
  z.object({ type: z.literal("delta"), delta }),
  z.object({ type: z.literal("ready"), requests: z.array(z.looseObject({})), live: z.boolean() }),
  z.object({ type: z.literal("owner"), live: z.boolean(), stopped: z.boolean() }),
]);
const message = z.union([
  z.object({ hello: z.literal(1), process: text, version: text }),
  z.object({ id, event }),
  z.object({ id, reply: z.looseObject({ ok: z.boolean() }) }),
  z.object({ id, ended: z.union([refusal, text]).nullable() }),
]);

/** Sent to the process that owns a session. */
export type Call =
  | { do: "send"; id: number; command: Command }
  | { do: "watch"; id: number; session: string; after?: number }
  | { do: "unwatch"; id: number };

/** Sent by it. `ended`: a watch is over, with its error if it failed; version 0.1.0 sends the message alone. */
export type Said =
  | { hello: 1; process: string; version: string }
  | { id: number; event: WatchEvent }
  | { id: number; reply: { ok: boolean } }
  | { id: number; ended: Refused | string | null };

export function parseCall(body: unknown): Call {
  return call.parse(body) as Call;
}

export function parseSaid(body: unknown): Said {
  return message.parse(body) as Said;
}

export function parseCommand(body: { type: Command["type"] }): Command {
  const { type } = body;
  return checked(
    z.strictObject({ type: z.literal(type), ...shapes[type as Taken["type"]] }),
    body,
    "command",
  ) as Command;
}

export function parseResponse(body: unknown): InputResponse {
  return checked(response, body, "response") as InputResponse;
}

function checked(schema: z.Schema, body: unknown, what: string): unknown {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new SageError("request-invalid", said(`not a ${what}: ${listIssues(parsed.error)}`));
}
