import { alreadyResolved } from "../host/commands/requests/request.ts";
import { spellOut } from "../input/validate.ts";
import type { Store } from "../journal/store/store.ts";
import type { InputResponse, LooseAnswers, LooseResponse, WholeAnswer } from "../protocol/facts/answer.ts";
import { needsConsent } from "../protocol/facts/consent.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import type { AgentOutcome } from "../protocol/facts/outcome.ts";
import type {
  Approved,
  InputRequest,
  InquiryReplied,
  PermissionRequest,
  Resolution,
} from "../protocol/facts/request.ts";
import type { Host, RespondedEach, SharedAnswer } from "../protocol/host/host.ts";
import { errorOf } from "../protocol/host/refusal.ts";
import { reason, said, SageError } from "../protocol/reasons/reason.ts";
import { checkOptions } from "./check-options.ts";
import { replyTo } from "./inquire.ts";
import { alikeTo } from "../view/request/alike.ts";
import { newestSeq } from "./next-message.ts";
import { createRun, type Run, type RunEvent } from "./run.ts";

/** `runTurn` returns with a question for a person, or with the outcome of the turn. */
export type TurnResult =
  /** The very same turn waits; answer, and attach to it again with `runTurn("")`. */
  | { needsInput: true; session: string; question: InputRequest }
  | { needsInput: false; session: string; outcome: AgentOutcome };

/** Events of a turn while it runs. */
export type TurnEvent =
  | RunEvent
  /** Told once for each request that `runTurn` returns with. */
  | { type: "question_pending"; question: InputRequest };

/** A decision about a permission: yes, no, or a whole response. */
export type Confirmation = boolean | WholeAnswer;

/** Options of `runTurn`. */
export type TurnOptions = {
  /** Decides on permissions. Without it they are returned like questions. What it throws, `runTurn` throws, and nothing is decided. */
  confirm?: (request: PermissionRequest, signal: AbortSignal) => Confirmation | Promise<Confirmation>;
  /** Told of everything that happens. If it throws, `runTurn` rejects with that error and tells it no more; the turn continues. */
  onEvent?: (event: TurnEvent) => void;
  /** Stops looking; the turn itself goes on. */
  signal?: AbortSignal;
};

/** An answer in short form (a label, several, a text, yes or no), answers by question, or a whole response. */
export type TurnAnswer = string | readonly string[] | boolean | LooseAnswers | WholeAnswer;

/** A conversation that returns when a person is needed instead of waiting for them. The turn itself never stops: this is a view of it. */
export interface TurnAgent {
  readonly session: string;
  /** Says something and follows the turn until it ends or a person is needed. "" attaches again, in this process or a later one. */
  runTurn(input: string, options?: TurnOptions): Run<TurnResult, TurnEvent>;
  isWaitingInput(): boolean;
  /** The request to answer first, also when this process has not run the session yet. */
  getPendingQuestion(): InputRequest | undefined;
  /** Answers the question that was shown last, or the one that a whole response names, and nothing else: refused when it has ended. */
  /**
   * Of a permission that takes several people, a yes that does not complete it comes back as `approved`. Each is in the name of a
   * person: `by` must be given, and the same name counts once.
   */
  answerQuestion(answer: TurnAnswer, options?: { by?: string }): Promise<Resolution | Approved>;
  /**
   * Asks about the request that was shown last, or the one that is named, before it is answered. The agent replies with the rights of a
   * free read, and the request stays open. Rejects with `request-resolved` when it ends before there is a reply.
   */
  inquire(text: string, options?: { by?: string; requestId?: string; signal?: AbortSignal }): Promise<InquiryReplied>;
  /** Open permissions that may be answered together with the one that was shown last, itself included; empty where there is no other. */
  getAlike(): PermissionRequest[];
  /** Answers these permissions of `getAlike` at once. Each has a result of its own; a list that is not alike is refused whole. */
  answerAll(
    requests: readonly Pick<InputRequest, "id">[],
    answer: AnswerToAll,
    options?: { by?: string },
  ): Promise<RespondedEach[]>;
}

/** The same answer to several permissions. */
export type AnswerToAll = boolean | SharedAnswer;

type Parts = {
  store: Store;
  host: Host;
  session: string;
  run(): Promise<AgentOutcome>;
  /** Throws when the journal cannot be read any more. */
  checkOpen(): void;
};

const ELSEWHERE_MS = 100;

const sender = { by: "caller", surface: "sdk" };

export function createTurns(parts: Parts): TurnAgent {
  const seen: Seen = { running: undefined, shown: undefined };
  return { session: parts.session, ...createRunning(parts, seen), ...createAnswering(parts, seen) };
}

/** State that running and answering share. */
type Seen = {
  running: Promise<AgentOutcome> | undefined;
  /** The request that the caller was given last. */
  shown: string | undefined;
};

async function send(host: Host, response: InputResponse, by: string): Promise<Resolution | Approved> {
  const reply = await host.send({ type: "respond", response, ...sender, by });
  if (!reply.ok) throw errorOf(reply);
  if (reply.resolution && reply.again) throw alreadyResolved(reply.resolution);
  return reply.resolution ?? reply.approved;
}

function createRunning({ store, host, session, run, checkOpen }: Parts, seen: Seen): Pick<TurnAgent, "runTurn"> {
  const announced = new Set<string>();
  let told = newestSeq(store, session);

  const decide = async (request: PermissionRequest, confirm: NonNullable<TurnOptions["confirm"]>): Promise<void> => {
    const answered = new AbortController();
    const forget = store.hub.wait(request.id, () => answered.abort());
    try {
      const elsewhere = new Promise<"elsewhere">((done) =>
        answered.signal.addEventListener("abort", () => done("elsewhere"), { once: true }),
      );
      const said = await Promise.race([confirm(request, answered.signal), elsewhere]);
      if (said !== "elsewhere") await send(host, spellOut(request, responseTo(request, said)), sender.by);
    } catch (error) {
      // Somebody on another surface was faster: their answer stands, and the turn goes on with it.
      if (!(error instanceof SageError && error.code === "request-resolved")) throw error;
    } finally {
      forget();
    }
  };

  /** Tells what happened since somebody last looked, then whatever comes. */
  const listen = (onEvent: (event: TurnEvent) => void): (() => void) => {
    const fact = (fact: Fact) => {
      if (fact.seq <= told) return;
      told = fact.seq;
      onEvent({ type: "fact", fact: fact });
    };
    const stop = store.hub.subscribe(session, { fact, delta: (delta) => onEvent({ type: "delta", delta }) });
    for (const past of store.since(session, told)) fact(past);
    return stop;
  };

  /** Follows the turn until it ends, or a request is open that `confirm` does not decide. */
  const endOfTurn = async ({ confirm, signal }: TurnOptions, begun: () => void): Promise<TurnResult> => {
    for (;;) {
      const outcome = (seen.running ??= run());
      begun();
      const next = await endOrRequest(store, session, outcome, signal);
      // Another process runs the session: its turn is followed from here, and its end is found in the journal.
      if ("outcome" in next && next.outcome.status === "error" && next.outcome.error.code === "session-owned") {
        seen.running = undefined;
        await changedElsewhere(store, session, signal);
      } else if ("outcome" in next) {
        if (seen.running === outcome) seen.running = undefined;
        return { needsInput: false, session, outcome: next.outcome };
      } else {
        const { request } = next;
        seen.shown = request.id;
        // Code that decides has no name that stands for one person.
        if (!confirm || request.kind !== "permission" || needsConsent(request))
          return { needsInput: true, session, question: request };
        await decide(request, confirm);
      }
    }
  };

  return {
    runTurn(input, given = {}) {
      const after = told;
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      let pending: TurnEvent[] = [];
      const turn = async (): Promise<TurnResult> => {
        checkOpen();
        const options = checkOptions("runTurn", given);
        const heard = hearing(options);
        const stop = listen(heard.tell);
        try {
          if (input !== "") {
            const said = await host.send({ type: "say", session, text: input, ...sender });
            if (!said.ok) throw errorOf(said);
            seen.running = undefined;
          }
          const result = await Promise.race([endOfTurn({ ...options, signal: heard.signal }, begin), heard.failed]);
          if (result.needsInput && !announced.has(result.question.id)) {
            announced.add(result.question.id);
            pending = [{ type: "question_pending", question: result.question }];
            pending.forEach(heard.tell);
          }
          heard.check();
          return result;
        } finally {
          begin();
          stop();
        }
      };
      const parts = { store, host: () => host, session, after, begun, checkOpen };
      return createRun<TurnResult, TurnEvent>({ ...parts, result: turn(), last: () => pending });
    },
  };
}

function createAnswering(
  { store, host, session, run, checkOpen }: Parts,
  seen: Seen,
): Omit<TurnAgent, "session" | "runTurn"> {
  const shownRequest = (named: string | undefined): InputRequest => {
    const id = named || seen.shown;
    const request = id === undefined ? undefined : store.find(id)?.request;
    if (request?.session === session) return request;
    if (named) throw new SageError("request-unknown", reason("request-missing", { request: named }));
    const why =
      store.pending(session).length > 0
        ? "look at getPendingQuestion() first, or name it by requestId"
        : "it waits for no answer";
    throw new SageError("request-unknown", said(`no question of session ${session} was shown here; ${why}`));
  };

  return {
    isWaitingInput() {
      checkOpen();
      return store.pending(session).length > 0;
    },
    getPendingQuestion() {
      checkOpen();
      const [first] = store.pending(session);
      seen.shown = first?.id ?? seen.shown;
      return first;
    },
    getAlike() {
      checkOpen();
      const open = store.pending(session);
      const request = open.find(({ id }) => id === seen.shown);
      return request ? alikeTo(request, open) : [];
    },
    async answerAll(requests, answer, options = {}) {
      checkOpen();
      const { by = sender.by } = checkOptions("answerAll", options);
      if (requests.length === 0) return []; // `getAlike` found no other
      const shared = typeof answer === "boolean" ? ({ type: answer ? "granted" : "denied" } as const) : answer;
      const requestIds = requests.map(({ id }) => id);
      const reply = await host.send({ type: "respondAll", requestIds, answer: shared, ...sender, by });
      if (reply.ok) return reply.results;
      throw errorOf(reply);
    },
    async answerQuestion(answer, options = {}) {
      checkOpen();
      const { by } = checkOptions("answerQuestion", options);
      // Never to whatever is open now: a second click must not allow what nobody has seen.
      const request = shownRequest(isResponse(answer) ? answer.requestId : undefined);
      const response = spellOut(request, responseTo(request, answer));
      if (by === undefined && response.type === "granted" && needsConsent(request))
        throw refused("this takes the approval of people by name: pass { by } with the person's name");
      return send(host, response, by ?? sender.by);
    },
    async inquire(text, options = {}) {
      checkOpen();
      const { by = sender.by, requestId, signal } = checkOptions("inquire", options);
      const { id } = shownRequest(requestId);
      const sent = await host.send({ type: "inquire", requestId: id, text, ...sender, by });
      if (!sent.ok) throw errorOf(sent);
      if (!sent.running) seen.running ??= run(); // nobody else is there to reply
      return replyTo(store, { requestId: id, inquiry: sent.inquiry }, signal);
    },
  };
}

/** Hands events to the embedder's code. What it throws breaks nothing in Sage: it only ends the look at the turn. */
function hearing({ onEvent = () => {}, signal }: TurnOptions) {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {}); // it may fail when nobody waits any more
  const stopped = new AbortController();
  const fail = (error: unknown) => {
    reject(error);
    stopped.abort(error);
  };
  return {
    failed,
    /** Aborted by the caller, or by what `onEvent` threw: otherwise `confirm` would be asked for a `runTurn` that is over. */
    signal: signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal,
    tell(event: TurnEvent): void {
      if (stopped.signal.aborted) return;
      try {
        const heard = onEvent(event) as unknown;
        if (heard instanceof Promise) heard.catch(fail);
      } catch (error) {
        fail(error);
      }
    },
    check(): void {
      stopped.signal.throwIfAborted();
    },
  };
}

/** The end of the turn, or a request that only a person can answer: the one that comes first. */
function endOrRequest(
  store: Store,
  session: string,
  outcome: Promise<AgentOutcome>,
  signal: AbortSignal | undefined,
): Promise<{ outcome: AgentOutcome } | { request: InputRequest }> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const [request] = store.pending(session);
      if (request) finish(() => resolve({ request }));
    };
    const abort = () => finish(() => reject(signal?.reason as Error));
    const stop = store.hub.subscribe(session, { fact: look });
    const finish = (end: () => void) => {
      stop();
      signal?.removeEventListener("abort", abort);
      end();
    };
    signal?.addEventListener("abort", abort, { once: true });
    outcome.then(
      (ended) => finish(() => resolve({ outcome: ended })),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal?.aborted) abort();
    else look();
  });
}

function changedElsewhere(store: Store, session: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      stop();
      clearInterval(look);
      signal?.removeEventListener("abort", abort);
      end();
    };
    const abort = () => finish(() => reject(signal?.reason as Error));
    // A process that dies tells nobody: what it held is free then, and its turn goes on here.
    const look = setInterval(() => store.session(session)?.owned || finish(resolve), ELSEWHERE_MS);
    const stop = store.hub.subscribe(session, {
      fact: ({ type }) => type === "input.requested" && finish(resolve),
    });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}

function responseTo(request: InputRequest, answer: TurnAnswer): LooseResponse {
  const requestId = request.id;
  if (isResponse(answer, request)) return { ...answer, requestId };
  switch (request.kind) {
    case "permission": {
      const yes = answer === true || (typeof answer === "string" && /^yes$/i.test(answer.trim()));
      const no = answer === false || (typeof answer === "string" && /^no$/i.test(answer.trim()));
      if (yes) return { type: "granted", requestId };
      if (no) return { type: "denied", requestId };
      throw refused(
        'a permission takes true, false, "yes", "no" or a whole response; a reason goes with { type: "denied", reason }',
      );
    }
    case "text":
      if (typeof answer === "string") return { type: "text", requestId, text: answer };
      throw refused(`this asks for a text and takes a string; got ${typeof answer}`);
    case "question": {
      if (typeof answer !== "string" && (typeof answer !== "object" || answer === null))
        throw refused(`a question takes a label, your own words, or answers by question; got ${String(answer)}`);
      if (!Array.isArray(answer) && typeof answer === "object")
        return { type: "answers", requestId, answers: answer as LooseAnswers };
      const [only, second] = request.questions;
      const given = answer as string | readonly string[];
      if (only && !second) return { type: "answers", requestId, answers: { [only.question]: given } };
      const names = request.questions.map(({ question }) => `"${question}"`).join(", ");
      throw refused(`there are ${request.questions.length} questions; answer them by name: ${names}`);
    }
    default:
      return request satisfies never;
  }
}

const responses = ["answers", "granted", "denied", "text", "cancelled"];

/** Answers by question have the same form; a question that reads "type" is answered by a response that names its request. */
function isResponse(answer: TurnAnswer, request?: InputRequest): answer is WholeAnswer {
  if (typeof answer !== "object" || answer === null || !("type" in answer)) return false;
  if ("requestId" in answer) return true;
  const isAsked = request?.kind === "question" && request.questions.some(({ question }) => question === "type");
  return !isAsked && responses.includes(answer.type as string);
}

function refused(message: string): SageError {
  return new SageError("request-invalid", said(message));
}
