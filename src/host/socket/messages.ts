import { closest } from "../../base/name.ts";
import { listIssues } from "../../base/issue.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { Command } from "../../protocol/host/host.ts";
import { sessionModes } from "../../protocol/mode.ts";
import { reason, said, SageError } from "../../protocol/reasons/reason.ts";
import { misfits } from "../../protocol/reasons/misfit.ts";
import type { Sender } from "../../protocol/sender.ts";
import { clientSurfaces, type Call, type HelloFrame } from "../../remote/frames.ts";
import * as z from "../../base/z.ts";

/** Frames of clients: whatever comes from another process or machine becomes a type here, once. */

const text = z.string();
/** Nobody says through a socket which person of the settings they are. */
const none = z.undefined().optional();
const sender = { by: text, surface: text, person: none, device: none, signed: none, typed: none };
const requestId = text;
const named = { rule: text, destination: z.enum(["session", "local", "project", "user"]) };
const behavior = z.enum(["allow", "deny", "ask"]);
const rule = z.strictObject({ ...named, behavior });
const answers = z.record(text, z.strictObject({ selected: z.array(text), other: text.optional() }));
const remark = text.optional();

const answered = { requestId, persona: text.optional() };
/** Every field of every response: the compiler asks for those that come later. */
const responses: { [T in InputResponse["type"]]: Shape<Extract<InputResponse, { type: T }>> } = {
  answers: { ...answered, answers, remark, partial: z.boolean().optional() },
  granted: {
    ...answered,
    input: z.record(text, z.unknown()).optional(),
    comment: text.optional(),
    rules: z.array(rule).optional(),
    removeRules: z.array(z.strictObject({ ...named, behavior: behavior.optional() })).optional(),
    outside: z.literal(true).optional(),
    mode: z.enum(["ask", "acceptEdits"]).optional(),
  },
  denied: { ...answered, reason: text.optional() },
  text: { ...answered, text },
  cancelled: { ...answered, reason: text.optional() },
};
const response = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("answers"), ...responses.answers }),
  z.strictObject({ type: z.literal("granted"), ...responses.granted }),
  z.strictObject({ type: z.literal("denied"), ...responses.denied }),
  z.strictObject({ type: z.literal("text"), ...responses.text }),
  z.strictObject({ type: z.literal("cancelled"), ...responses.cancelled }),
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
const silentEnd = z.union([end, z.strictObject({ escalate: z.array(z.string()), end })]);
const limits = z.strictObject({
  promptTimeout: z.number().optional(),
  timeoutPolicy: silentEnd.optional(),
  executionTimeout: z.number().optional(),
});

const what = z.enum(["conversation", "files", "both"]);
const seq = z.int().min(0);

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
    when: z.enum(["now", "next"]).optional(),
    ...sender,
  },
  withdraw: { session: text, message: text, ...sender },
  respond: { response, ...sender },
  respondAll: { requestIds: z.array(requestId), answer: shared, ...sender },
  inquire: { requestId, text, id: text.optional(), ...sender },
  interrupt: {
    session: text,
    cancel: z.boolean().optional(),
    to: z.enum(["pause", "cancel", "now"]).optional(),
    id: text.optional(),
    ...sender,
  },
  resume: { session: text },
  chooseMode: { session: text, mode: z.enum(sessionModes), ...sender },
  compact: { session: text },
  saveDraft: { requestId, draft, ...sender },
  sessions: { session: text.optional(), limit: z.int().min(1).optional(), after: text.optional() },
  past: { requestId, rules: z.array(text).optional() },
  request: { id: requestId },
  pending: { session: text.optional(), limit: z.int().min(1).optional(), after: requestId.optional() },
  choose: { session: text, model: text, checked: z.boolean().optional(), ...sender },
  rename: { session: text, title: text, ...sender },
  fork: { session: text, at: text.optional(), ...sender },
  addRule: { session: text, ...named, behavior, ...sender },
  removeRule: { session: text, ...named, behavior: behavior.optional(), ...sender },
  undo: { session: text, ...sender },
  rewindPoints: { session: text },
  planRewind: { session: text, turn: z.int().min(0), what },
  rewind: { session: text, turn: z.int().min(0), what, overwrite: z.record(text, text).optional(), ...sender },
  about: { session: text.optional(), prompts: z.boolean().optional() },
  models: { provider: text.optional() },
  files: { session: text, query: text },
  output: { session: text, call: text, page: z.int().min(0).optional() },
  facts: { session: text, after: seq.optional(), before: seq.optional(), limit: z.int().min(1).optional() },
  receipts: {
    of: text.optional(),
    cwd: text.optional(),
    before: z.number().optional(),
    limit: z.int().min(1).optional(),
  },
  stats: { session: text.optional(), folder: text.optional(), since: z.number().optional() },
};

const option = z.looseObject({ label: text, description: text });
const question = z.looseObject({ question: text, header: text, options: z.array(option), multiSelect: z.boolean() });
/** Commands that only code in this process may send. */
const outside: { [T in Exclude<Command["type"], Taken["type"]>]: Shape<Extract<Command, { type: T }>> } = {
  ask: {
    agent: z.array(text).min(1),
    id: text,
    cwd: text,
    conversation: text.optional(),
    title: text.optional(),
    why: text.optional(),
    body: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("question"), questions: z.array(question) }),
      z.looseObject({ kind: z.literal("permission"), tool: text, input: z.record(text, z.unknown()) }),
      z.strictObject({ kind: z.literal("text"), prompt: text }),
    ]),
    timeoutMs: z.number().optional(),
    timeoutPolicy: z.union([z.literal("wait"), silentEnd, z.strictObject({ default: z.looseObject({}) })]).optional(),
    remindEvery: z.number().optional(),
  },
  unask: {
    requestId,
    end: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("answered"), allowed: z.boolean().optional() }),
      z.strictObject({ type: z.literal("gone") }),
      z.strictObject({ type: z.literal("withdrawn"), words: text.optional() }),
    ]),
    ...sender,
  },
};

const id = z.int().min(0);
const call = z.discriminatedUnion("do", [
  z.strictObject({
    do: z.literal("send"),
    id,
    command: z.looseObject({ type: text }),
    until: z.number().optional(),
  }),
  z.strictObject({
    do: z.literal("watch"),
    id,
    session: text,
    after: id.optional(),
    last: z.int().min(1).optional(),
  }),
  z.strictObject({ do: z.literal("inbox"), id }),
  z.strictObject({ do: z.literal("unwatch"), id }),
]);

const hello = z.object({
  hello: z.object({
    protocols: z.array(z.int()).max(100),
    surface: z.enum(clientSurfaces),
    client: text.max(200),
    lang: text.max(20).optional(),
  }),
  key: text.max(1_000).optional(),
});

export function parseHello(body: unknown): HelloFrame {
  return hello.parse(body) as HelloFrame;
}

export function parseCall(body: unknown): Call {
  return call.parse(body) as Call;
}

/** `me`: the sender to record, regardless of what the command says. */
export function parseCommand(body: { type: string }, me?: Pick<Sender, "by" | "surface">): Command {
  const type = body.type as Taken["type"];
  if (!Object.hasOwn(shapes, type)) throw new SageError("request-invalid", said(`"${body.type}" is no command`));
  const stamped = me && "by" in shapes[type] ? { ...body, by: me.by, surface: me.surface } : body;
  return checked(z.strictObject({ type: z.literal(type), ...shapes[type] }), stamped, "command") as Command;
}

const own = { by: text.min(1), surface: text.min(1), person: text.optional(), device: text.optional() };
const every = { ...shapes, ...outside };
const ownSchemas = new Map<string, z.Schema>();

/** Refuses what is no command, or an incomplete one, from code without types. A response is checked with its request. */
export function checkCommand(command: unknown): void {
  const type = (command as { type?: unknown } | null)?.type;
  if (typeof type !== "string" || !Object.hasOwn(every, type)) {
    const names = Object.keys(every);
    const expected = names.map((name) => JSON.stringify(name));
    const word = String(type).slice(0, 60);
    const meant = closest(word, names);
    const given = { at: "type", kind: "value", came: JSON.stringify(word) } as const;
    const misfit = { ...given, expected: meant === undefined ? expected : [JSON.stringify(meant)] };
    throw new SageError("request-invalid", reason("misfits", { misfits: [misfit] }));
  }
  let schema = ownSchemas.get(type);
  if (!schema) ownSchemas.set(type, (schema = ownSchema(type as Command["type"])));
  const { success, error } = schema.safeParse(command);
  if (success) return;
  const problem = misfits(error, command, (at) => schema.keysAt(at));
  throw new SageError("request-invalid", problem);
}

function ownSchema(type: Command["type"]): z.Schema {
  const shape = { type: z.literal(type), ...every[type] };
  return z.strictObject({
    ...shape,
    ...("by" in shape && own),
    ...("response" in shape && { response: z.looseObject({}) }),
  });
}

export function parseResponse(body: unknown): InputResponse {
  return checked(response, body, "response") as InputResponse;
}

function checked(schema: z.Schema, body: unknown, what: string): unknown {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new SageError("request-invalid", said(`not a ${what}: ${listIssues(parsed.error)}`));
}
