import { hash } from "node:crypto";
import { storeNow, type Store } from "../journal/store/store.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import type { InputRequest, Question, RequestBody, RequestOrigin, Resolution } from "../protocol/facts/request.ts";
import type { OutsideAsk, OutsideAsker, OutsideBody, OutsideEnd } from "../protocol/host/outside.ts";
import { isAgentName, isOutsideRequest, outsideSession } from "../protocol/host/outside.ts";
import type { ExecutionOptions } from "../protocol/host/options.ts";
import { askedKey, requestId, titleKey } from "../protocol/key.ts";
import { reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import { isOverdue, openingNow } from "./enforce.ts";
import { withDeadline, type Silence } from "./ask.ts";
import { arm } from "./deadlines.ts";
import { expired, settle, type Responded } from "./respond.ts";

const MAX_ASK_LENGTH = 100_000;
const MAX_WORDS_LENGTH = 2_000;
const MAX_TITLE_LENGTH = 200;
const MAX_QUESTIONS = 20;
const MAX_OPEN = 50;

/** Settings of requests from outside: when nobody answers, and whether a yes takes proof. */
export type OutsideSettings = Silence & Pick<ExecutionOptions, "signed">;

type OutsideParts = {
  store: Store;
  version: string;
  silence?: OutsideSettings;
  /** Of the asker. */
  origin?: RequestOrigin;
  /** Aborted when this process leaves: from then on it counts no time. */
  signal: AbortSignal;
  /** `attached`: the asker waits in a process, which is on the list of processes already. */
  asker?: OutsideAsker;
};

type Found = { request: InputRequest; resolution?: Resolution };

/** Opens a request from outside; the same id is the same request, after a kill or from other processes. Its time counts while we live. */
export async function askFromOutside(
  { store, version, silence = {}, signal, origin, asker = "returning" }: OutsideParts,
  ask: OutsideAsk,
): Promise<Found> {
  check(ask);
  const { agent, cwd, id } = ask;
  const session = sessionOutside(ask);
  const key = askedKey(id);
  const body = requestBody(ask.body);
  const digest = hash("sha256", canonicalJson([agent, body]), "base64url");
  const had = store.find(requestId(session, key));
  if (!had) {
    if (store.pending(session, { limit: MAX_OPEN }).length >= MAX_OPEN)
      throw new SageError("queue-full", reason("asks-too-many", { agent: agent[0], limit: MAX_OPEN }));
    await create(store, session, { cwd, version, title: ask.title ?? agent[0], agent: agent[0] });
    const at = storeNow(store);
    const words = ask.why?.trim().slice(0, MAX_WORDS_LENGTH);
    const why = reason("outside-asks", { agent: agent[0], ...(words && { words }) });
    const { timeoutMs, timeoutPolicy, remindEvery } = ask;
    const request = withDeadline(
      {
        ...body,
        // Each permission from outside is a hard one: either word of the settings means it.
        ...(body.kind === "permission" && (silence.signed ?? []).length > 0 && { signed: true as const }),
        source: "outside",
        agent,
        why,
        digest,
        asker,
        ...(origin && { origin }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(timeoutPolicy !== undefined && { timeoutPolicy }),
        ...(remindEvery !== undefined && { remindEvery }),
      },
      silence,
      () => openingNow(store),
    );
    const data = { ...request, id: requestId(session, key), session, at };
    await store.append(session, { key, type: "input.requested", at, data });
  }
  const found = had ?? store.find(requestId(session, key));
  if (!found || found.request.digest !== digest) throw refused(reason("ask-differs", { id }));
  return rejoin({ store, signal }, found);
}

/** Finds a request again that this agent asked from outside, from whichever process. Its time is counted here, too. */
export async function findFromOutside(
  parts: Pick<OutsideParts, "store" | "signal">,
  { id, agent }: { id: string; agent: string },
): Promise<Found> {
  const found = parts.store.find(id);
  // Ids can be guessed: answers given to another agent must not leak to this one.
  if (!found || !isOutsideRequest(found.request) || found.request.agent[0] !== agent)
    throw new SageError("request-unknown", reason("request-missing", { request: id }));
  return rejoin(parts, found);
}

/** Counts the time of every request from outside, also of askers that are gone: for a process that stays. */
export function countOutside(store: Store, signal: AbortSignal): void {
  const seen = (request: InputRequest) => {
    if (isOutsideRequest(request)) countTime(store, request, signal);
  };
  const stop = store.hub.overhear(new Set(["input.requested"]), (fact) => {
    if (fact.type === "input.requested") seen(fact.data);
  });
  signal.addEventListener("abort", stop, { once: true });
  for (const request of store.pending()) seen(request);
}

async function rejoin(
  { store, signal }: Pick<OutsideParts, "store" | "signal">,
  { request, resolution }: { request: InputRequest; resolution: Resolution | undefined },
): Promise<Found> {
  if (resolution) return { request, resolution };
  if (isOverdue(store, request))
    return { request, resolution: (await settle(store, request, expired(request))).resolution };
  countTime(store, request, signal);
  return { request };
}

/** Ends a request on behalf of its asker. An earlier answer wins. */
export async function endFromOutside(
  store: Store,
  { requestId: id, end, by, surface }: { requestId: string; end: OutsideEnd; by: string; surface: string },
): Promise<Responded> {
  const found = store.find(id);
  if (!found) throw new SageError("request-unknown", reason("request-missing", { request: id }));
  const { request, resolution } = found;
  if (!isOutsideRequest(request)) throw refused(reason("not-outside", { request: id }));
  if (resolution) return { won: false, resolution };
  const [agent = ""] = request.agent;
  return settle(store, request, { requestId: id, by, surface, at: Date.now(), ...concluded(end, agent) });
}

function concluded(end: OutsideEnd, agent: string): { outcome: "superseded" | "cancelled"; reason: Reason } {
  switch (end.type) {
    case "answered":
      return {
        outcome: "superseded",
        reason: reason("answered-there", { agent, ...(end.allowed !== undefined && { allowed: end.allowed }) }),
      };
    case "gone":
      return { outcome: "cancelled", reason: reason("outside-gone", { agent }) };
    case "withdrawn": {
      const words = end.words?.trim().slice(0, MAX_WORDS_LENGTH);
      return { outcome: "cancelled", reason: reason("outside-withdrew", { agent, ...(words && { words }) }) };
    }
    default:
      return end satisfies never;
  }
}

/** The session of a conversation is found again by its name: several processes of an agent may ask at once. */
export function sessionOutside({
  agent: [agent],
  conversation,
  cwd,
}: Pick<OutsideAsk, "agent" | "conversation" | "cwd">): string {
  const whole = hash("sha256", canonicalJson([agent, conversation ?? null, conversation === undefined ? cwd : null]));
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  const letters = Array.from({ length: 8 }, (_, n) => alphabet[parseInt(whole.slice(n * 4, n * 4 + 4), 16) % 31]);
  return outsideSession(agent, letters.join(""));
}

async function create(
  store: Store,
  session: string,
  { cwd, version, title, agent }: { cwd: string; version: string; title: string; agent: string },
): Promise<void> {
  if (store.session(session)) return;
  await store.create(session, { cwd, version });
  const data = { title: title.slice(0, MAX_TITLE_LENGTH), by: agent, surface: "outside" };
  await store.append(session, { key: titleKey("outside"), type: "session.titled", at: Date.now(), data });
}

/** Rules, consent, confines and modes are Sage's: whatever else an outsider sends stays outside. */
function requestBody(body: OutsideBody): RequestBody {
  switch (body.kind) {
    case "question":
      return {
        kind: "question",
        questions: body.questions.map(({ question, header, options, multiSelect, field }) => ({
          question,
          header,
          multiSelect,
          options: options.map(({ label, description }) => ({ label, description })),
          ...(field && { field }),
        })),
      };
    case "permission": {
      const { tool, input, description, parts, preview } = body;
      return {
        kind: "permission",
        tool,
        input,
        suggestions: [],
        hard: true,
        ...(description !== undefined && { description }),
        ...(parts && { parts }),
        ...(preview && { preview }),
      };
    }
    case "text":
      return { kind: "text", prompt: body.prompt };
    default:
      return body satisfies never;
  }
}

function check({ agent, id, body, cwd }: OutsideAsk): void {
  const stranger = agent.find((name) => !isAgentName(name));
  if (stranger !== undefined || agent.length === 0 || agent.length > 5)
    throw refused(reason("agent-name-unfit", { given: stranger ?? agent.join("/") }));
  if (!/^[\w-]{1,100}$/.test(id)) throw refused(reason("ask-id-unfit", { given: id }));
  const { length } = JSON.stringify([body, cwd]);
  if (length > MAX_ASK_LENGTH) throw refused(reason("ask-too-long", { limit: MAX_ASK_LENGTH, length }));
  const problem = bodyProblem(body);
  if (problem !== undefined) throw refused(reason("ask-unfit", { problem }));
}

function bodyProblem(body: OutsideBody): string | undefined {
  if (body.kind === "text") return body.prompt.trim() === "" ? "the text is empty" : undefined;
  if (body.kind === "permission") return body.tool.trim() === "" ? "no tool is named" : undefined;
  const { questions } = body;
  if (questions.length === 0) return "there is no question";
  if (questions.length > MAX_QUESTIONS) return `there are more than ${MAX_QUESTIONS} questions`;
  if (new Set(questions.map(({ question }) => question)).size < questions.length) return "a question is there twice";
  for (const question of questions) {
    const found = problemIn(question);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemIn({ question, options }: Question): string | undefined {
  if (question.trim() === "") return "a question is empty";
  if (options.some(({ label }) => label.trim() === "")) return "an option is empty";
  return new Set(options.map(({ label }) => label)).size < options.length ? "an option is there twice" : undefined;
}

/** Reminders and expiry come from the process that runs the timer; any process that later meets an overdue request expires it. */
function countTime(store: Store, request: InputRequest, signal: AbortSignal): void {
  const counted = store.member(createCounted);
  if ((!request.deadline && !request.remind) || signal.aborted || counted.has(request.id)) return;
  counted.add(request.id);
  const disarm = arm(store, request);
  const stop = () => {
    signal.removeEventListener("abort", stop);
    counted.delete(request.id);
    forget();
    disarm();
  };
  const forget = store.hub.wait(request.id, stop);
  signal.addEventListener("abort", stop);
  if (store.resolution(request.id)) stop(); // answered in between
}

/** Requests whose time is counted in this process: once is enough. */
const createCounted = () => new Set<string>();

function refused(why: Reason): SageError {
  return new SageError("request-invalid", why);
}
