import type { Durable, Opened } from "../journal/session/durable.ts";
import type { Store } from "../journal/store/store.ts";
import type { InputResponse } from "../protocol/facts/answer.ts";
import type { InputRequest, NewRequest, RequestOrigin, Resolution } from "../protocol/facts/request.ts";
import type {
  AskerPolicy,
  Deadline,
  DeadlinePolicy,
  DefaultAnswer,
  RequestTimeout,
  TimeoutPolicy,
} from "../protocol/facts/silence.ts";
import type { AutoResponder, ExecutionMode, Quiet, QuietHours } from "../protocol/host/options.ts";
import { reason, said, reasonOf, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { autoResolve } from "./auto.ts";
import { arm } from "./deadlines.ts";
import { beatNow, isOverdue, openingNow } from "./enforce.ts";
import { senderOf } from "./persona.ts";
import { expired, respond, settle } from "./respond.ts";
import { resolve, toResponse, spellOut } from "./validate.ts";

const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** Reminders before it gives up: somebody who has not looked by then will not look after one more. */
const MAX_REMINDERS = 10;
/** A shorter wait needs no reminder: people have just been called. */
const SHORTEST_MS = 2 * MINUTE_MS;
const LATEST_MS = 15 * MINUTE_MS;

export type Asking = Silence & {
  store: Store;
  mode: ExecutionMode;
  /** Set where a second request is refused while one is open, instead of queued: holds the open one. */
  reject?: Set<string>;
  /** Where a request is opened and for which task, read when one is. */
  origin?(): RequestOrigin;
};

/** Default for requests whose asker says nothing about silence. */
export type Silence = { promptTimeout?: number; timeoutPolicy?: AskerPolicy; remindEvery?: number; quiet?: Quiet };

/** Batch: a person is needed. Everything else of the step runs to its end first; the turn stays open in the journal. */
export class NeedsInput extends Error {
  override readonly name = "NeedsInput";
}

type Asked = NewRequest & RequestTimeout;

/** Opens a request now, in order; waiting for its end is separate. A function makes it, where it was not opened before. */
export function ask(durable: Durable, key: string, request: Asked | (() => Asked), asking: Asking): Opened {
  const made = () => {
    const asked = typeof request === "function" ? request() : request;
    const origin = asking.origin?.();
    return withDeadline(origin ? { ...asked, origin } : asked, asking, () => openingNow(asking.store));
  };
  const opened = durable.open(key, made, (open) => settleAtOnce(open, asking));
  // The ordinary case waits for nothing but the answer; ten thousand of them may wait at once.
  const { deadline, remind } = opened.request;
  const plain = asking.mode.type === "interactive" && !deadline && !remind && !asking.reject;
  if (opened.resolution || plain) return opened;
  return { request: opened.request, resolution: undefined, wait: () => waitFor(opened, asking) };
}

/** Waits, in the way this run asks, for a request that was opened before. */
export async function rejoin(opened: Opened, asking: Asking): Promise<Resolution> {
  const { reject: _reject, ...others } = asking;
  const settled = settleAtOnce(opened.request, others);
  return settled ? (await settle(asking.store, opened.request, settled)).resolution : waitFor(opened, others);
}

async function waitFor(opened: Opened, { mode, store, reject }: Asking): Promise<Resolution> {
  const { request } = opened;
  if (mode.type === "batch") {
    const answeredElsewhere = store.resolution(request.id);
    if (answeredElsewhere) return answeredElsewhere;
    const { request: now = request } = store.find(request.id) ?? {};
    if (isOverdue(store, now)) return (await settle(store, request, expired(request))).resolution;
    if (request.deadline) void beatNow(store); // nobody enforces it from now on
    throw new NeedsInput(request.id);
  }
  const waiting = opened.wait();
  const disarm = request.deadline || request.remind ? arm(store, request) : undefined;
  const auto = isCustom(mode) ? mode : undefined;
  try {
    return await (auto ? Promise.race([waiting, consult(auto, request, store).then(() => waiting)]) : waiting);
  } finally {
    disarm?.();
    reject?.delete(request.id);
  }
}

/** When nobody answers: who is called, and what happens in the end, are decided as the request is opened. */
export function withDeadline(asked: Asked, asking: Silence, clock: () => number): NewRequest {
  if (waitsForever(asked, asking)) return asked;
  const now = clock();
  const { remindEvery = asking.remindEvery, ...other } = asked;
  const request = withEnd(other, asking, now);
  const remind = reminders(request.deadline, remindEvery, asking.quiet, now);
  return remind.length > 0 ? { ...request, remind } : request;
}

/** Nobody says a word about silence: the request is opened as it is. */
function waitsForever(asked: Asked, asking: Silence): boolean {
  const saysNothing = asked.timeoutMs === undefined && asked.timeoutPolicy === undefined && !asked.deadline;
  return (
    saysNothing &&
    asked.remindEvery === undefined &&
    asking.promptTimeout === undefined &&
    asking.remindEvery === undefined
  );
}

/** The asker's word goes before the run's. */
function withEnd(asked: Asked, asking: Silence, now: number): NewRequest {
  const { timeoutMs = asking.promptTimeout, timeoutPolicy, ...request } = asked;
  const policy = timeoutPolicy ?? asking.timeoutPolicy ?? "fail";
  if (request.deadline) {
    if (typeof request.deadline.policy === "object") defaultFor(request, request.deadline.policy.default);
    return request;
  }
  if (timeoutMs === undefined || policy === "wait") return request;
  if (!(timeoutMs > 0)) throw new SageError("config-invalid", said(`timeoutMs should be above 0; got ${timeoutMs}`));
  if (typeof policy === "string" || "escalate" in policy)
    return { ...request, deadline: deadlineOf(now, timeoutMs, policy, asking.quiet) };
  const answer = timeoutPolicy === undefined ? usualFor(request, policy.default) : defaultFor(request, policy.default);
  return { ...request, deadline: deadlineOf(now, timeoutMs, answer ? { default: answer } : "deny") };
}

/** Escalation is planned at opening, so that a restart decides nothing: one who has quiet hours is called after them, the rest later. */
function deadlineOf(now: number, timeoutMs: number, policy: DeadlinePolicy | TimeoutPolicy, quiet?: Quiet): Deadline {
  if (typeof policy === "string" || !("escalate" in policy)) return { at: now + timeoutMs, timeoutMs, policy };
  let at = now;
  const escalation = policy.escalate.map((to) => ({ to, at: (at = awakeAt(to, at + timeoutMs, quiet)) }));
  at += timeoutMs;
  return { at, timeoutMs: at - now, policy: policy.end, escalation };
}

type Given = InputResponse | DefaultAnswer;

/** Spells out a default answer. Silence is never consent: what grants, or does not fit the request, is refused to whoever set it. */
function defaultFor(request: NewRequest, given: Given): InputResponse {
  const { type } = given;
  if (!isHarmless(type) || (request.kind === "permission" && type !== "denied"))
    throw new SageError(
      "config-invalid",
      said(`a deadline's default for a permission may only be "denied"; got "${type}"`),
    );
  const open = { ...request, id: "", session: "", at: 0 };
  const response = spellOut(open, { requestId: "", ...given });
  resolve(open, response, { by: "deadline", surface: "deadline" });
  return response;
}

/** A run's default is not meant for every request, and is passed over where it does not fit; one that could grant is not. */
function usualFor(request: NewRequest, given: Given): InputResponse | undefined {
  try {
    return defaultFor(request, given);
  } catch (error) {
    if (isHarmless(given.type)) return undefined;
    throw error;
  }
}

function isHarmless(type: Given["type"]): boolean {
  return type === "answers" || type === "denied" || type === "text";
}

function settleAtOnce(request: InputRequest, { mode, reject }: Asking): Resolution | undefined {
  if (mode.type === "nonInteractive" && typeof mode.autoResponse !== "function")
    return autoResolve(mode.autoResponse, request);
  if (!reject || reject.size === 0) return void reject?.add(request.id);
  const frame = { requestId: request.id, by: "policy", surface: "reject", at: Date.now() };
  return {
    ...frame,
    outcome: "no_surface",
    reason: reason("one-request-at-a-time", {}),
  };
}

type Custom = ExecutionMode & { type: "nonInteractive"; autoResponse: AutoResponder };

function isCustom(mode: ExecutionMode): mode is Custom {
  return mode.type === "nonInteractive" && typeof mode.autoResponse === "function";
}

const custom: Sender = { by: "auto", surface: "custom" };

/** A custom responder is code: whatever it does wrong ends as a refusal, never as consent. */
async function consult({ autoResponse: auto, sender = custom }: Custom, request: InputRequest, store: Store) {
  let from = sender;
  try {
    const response = toResponse(request, await auto(request));
    from = senderOf(response, sender).sender;
    await respond(store, response, from);
  } catch (error) {
    if (error instanceof NeedsInput) throw error; // it leaves this one to a person: the turn stays open for them
    const why = reason("responder-failed", { problem: reasonOf(error) });
    const frame = { requestId: request.id, ...from, at: Date.now() };
    await settle(store, request, { ...frame, outcome: "no_surface", reason: why });
  }
}

/** The first moment from `at` on at which this person may be called. */
export function awakeAt(person: string, at: number, quiet: Quiet | undefined): number {
  const hours = quiet?.hours[person];
  return hours ? endOfQuiet(hours, at) : at;
}

/** Reminders as asked for, or once in the last quarter, at most fifteen minutes before the end; not in all approvers' quiet hours. */
export function reminders(
  deadline: Deadline | undefined,
  every: number | undefined,
  quiet: Quiet | undefined,
  now = Date.now(),
): number[] {
  if (every === undefined && !deadline) return [];
  const { at: end = Infinity, timeoutMs = 0 } = deadline ?? {};
  const late = timeoutMs < SHORTEST_MS ? [] : [end - Math.min(timeoutMs / 4, LATEST_MS)];
  const often = Array.from({ length: MAX_REMINDERS }, (_, n) => now + (every ?? 0) * (n + 1));
  const wanted = every === undefined ? late : often;
  const shifted = wanted.map((at) => firstAwake(at, quiet)).filter((at) => at < end);
  return [...new Set(shifted)].map((at) => Math.round(at));
}

function firstAwake(at: number, quiet: Quiet | undefined): number {
  const { hours = {}, approvers = [] } = quiet ?? {};
  if (approvers.length === 0) return at;
  return Math.min(...approvers.map((name) => (hours[name] ? endOfQuiet(hours[name], at) : at)));
}

/** The same moment, or the end of the quiet hours that it lies in. */
function endOfQuiet({ from, to }: QuietHours, at: number): number {
  const date = new Date(at);
  const minute = date.getHours() * 60 + date.getMinutes();
  const inside = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!inside) return at;
  const left = (to - minute + DAY_MINUTES) % DAY_MINUTES;
  return at - (at % MINUTE_MS) + left * MINUTE_MS;
}
