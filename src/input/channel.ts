import { sentence } from "../texts/shared/sentence.ts";
import type { InputResponse, LooseResponse } from "../protocol/facts/answer.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import type { AutoResponse } from "../protocol/host/options.ts";
import { reason, said, type Reason, reasonOf, SageError } from "../protocol/reasons/reason.ts";
import { autoResolve } from "./auto.ts";
import { checkResponse, resolve, toResponse, spellOut } from "./validate.ts";

type Settle = (response: InputResponse) => Resolution | Promise<Resolution>;

/** The loop's side of asking. It shows requests; the journal holds them. */
export interface InputChannel {
  /** Set on a channel where nobody is: it answers by this instead. */
  readonly autoResponse: AutoResponse | undefined;
  readonly policy: "queue" | "reject";
  /** How long requests wait where nobody says otherwise, in ms: those of the loop too. */
  readonly defaultTimeout: number | undefined;
  /** Asks and blocks until somebody answers. Rejects when the signal aborts, the channel closes, or nobody may be asked. */
  requestInput(request: InputRequest, signal?: AbortSignal): Promise<InputResponse>;
  requestInputWithTimeout(request: InputRequest, timeoutMs: number, signal?: AbortSignal): Promise<InputResponse>;
  /** Shows a request that lives elsewhere; `settle` gets its answer. Call the result once it has ended. Undefined: channel closed. */
  show(
    request: InputRequest,
    settle: (response: InputResponse) => Resolution | Promise<Resolution>,
  ): ((ended: Resolution) => void) | undefined;
  /** Called once, when nobody will look at the channel any more. */
  onClose(listener: () => void): () => void;
  /** Ends every waiting request as cancelled, those of the loop too, whose turns stop: an interrupt leaves nothing hanging. */
  cancelPending(reason: string): void;
  close(): void;
}

/** A surface's side of asking. */
export interface InputChannelHandle {
  /** The next request to show: one at a time per session, in the order they were opened. Undefined once the channel is closed. */
  nextRequest(): Promise<InputRequest | undefined>;
  /** Answers by id. A response that is unknown, late or does not fit is refused to whoever sent it, and touches nothing else. */
  respond(response: LooseResponse): Promise<Resolution>;
  pending(): InputRequest[];
  close(): void;
}

type Offer = { request: InputRequest; settle: Settle; taken: boolean };

const REMEMBERED = 1_000;

export const InputChannel = {
  /** `bufferSize` requests are held for the handle; more wait their turn behind them. */
  create(
    bufferSize: number,
    options: { policy?: "queue" | "reject"; defaultTimeout?: number } = {},
  ): [InputChannel, InputChannelHandle] {
    const { policy = "queue", defaultTimeout = 1 } = options;
    if (!Number.isInteger(bufferSize) || bufferSize < 1)
      throw new SageError(
        "config-invalid",
        said(`the buffer size of a channel should be a whole number from 1; got ${bufferSize}`),
      );
    if (policy !== "queue" && policy !== "reject")
      throw new SageError(
        "config-invalid",
        said(`the policy of a channel should be queue or reject; got ${String(policy)}`),
      );
    if (typeof defaultTimeout !== "number" || !(defaultTimeout > 0))
      throw new SageError(
        "config-invalid",
        said(`the defaultTimeout of a channel should be above 0; got ${defaultTimeout}`),
      );
    return createChannel(bufferSize, options);
  },

  nonInteractive(autoResponse: AutoResponse): InputChannel {
    const answer = async (request: InputRequest): Promise<InputResponse> => {
      if (typeof autoResponse === "function") {
        const response = toResponse(request, await autoResponse(request));
        resolve(request, response, { by: "auto", surface: "custom" });
        return response;
      }
      const resolution = autoResolve(autoResponse, request);
      if (resolution.outcome === "answered") return resolution.response;
      if (resolution.outcome === "declined")
        return {
          type: "denied",
          requestId: request.id,
          ...(resolution.reason && { reason: sentence(resolution.reason, "en") }),
        };
      throw new SageError("no-surface", said("nobody can be asked here: this channel is not interactive"));
    };
    return {
      autoResponse,
      policy: "queue",
      defaultTimeout: undefined,
      requestInput: (request, signal) => within(answer(request), undefined, signal),
      requestInputWithTimeout: (request, timeoutMs, signal) => within(answer(request), timeoutMs, signal),
      show: () => () => {},
      onClose: () => () => {},
      cancelPending() {},
      close() {},
    };
  },
};

/** Gives up on a responder that takes too long: what it says after that is heard by nobody. */
function within<T>(work: Promise<T>, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((done, fail) => {
    const aborted = () => fail(signal?.reason as Error);
    const timer = startTimer(timeoutMs, () => fail(timedOut(timeoutMs)));
    signal?.addEventListener("abort", aborted, { once: true });
    if (signal?.aborted) aborted();
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
    work.then(done, fail).then(over, over);
  });
}

/** Node fires at once what it cannot count. */
function startTimer(timeoutMs: number | undefined, expire: () => void): NodeJS.Timeout | undefined {
  return timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1));
}

function timedOut(timeoutMs: number | undefined): SageError {
  return new SageError("timeout", reason("no-answer-within", { timeoutMs: timeoutMs ?? 0 }));
}

function createChannel(
  bufferSize: number,
  { policy = "queue", defaultTimeout }: { policy?: "queue" | "reject"; defaultTimeout?: number },
): [InputChannel, InputChannelHandle] {
  const shown = createOffers(bufferSize);
  const { offers } = shown;
  const waiting = new Map<string, (reason: SageError | undefined) => void>();
  const onClosed = new Set<() => void>();

  /** While all of them end, none is shown any more. */
  const endAll = (reason?: SageError) =>
    shown.whileNothingIsShown(() => {
      for (const stop of [...waiting.values()]) stop(reason);
    });
  const close = () => {
    if (shown.isClosed()) return;
    shown.close();
    for (const listener of onClosed) listener();
    endAll();
    shown.leave();
  };

  /** Why a request is not shown at all. */
  const refused = ({ id, session }: InputRequest, signal: AbortSignal | undefined): Error | undefined => {
    if (policy === "reject" && [...offers.values()].some(({ request }) => request.session === session))
      return new SageError(
        "request-pending",
        said(`session ${session} already waits for an answer; this channel takes one request at a time`),
      );
    if (offers.has(id)) return new SageError("request-pending", said(`request ${id} waits for an answer already`));
    if (signal?.aborted) return signal.reason as Error;
    return shown.isClosed() ? new SageError("no-surface", said("the channel is closed")) : undefined;
  };

  const requestInput = async (
    request: InputRequest,
    signal?: AbortSignal,
    timeoutMs = defaultTimeout,
  ): Promise<InputResponse> => {
    const problem = refused(request, signal);
    if (problem) throw problem;
    return new Promise((done, fail) => {
      const finish = (resolution: Resolution) => {
        waiting.delete(request.id);
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        hide?.(resolution);
      };
      const gone = (outcome: "cancelled" | "timed_out", why: Reason) =>
        finish({ requestId: request.id, by: "channel", surface: "channel", at: Date.now(), outcome, reason: why });
      const aborted = () => {
        gone("cancelled", reason("interrupted", {}));
        fail(signal?.reason as Error);
      };
      const hide = shown.show(request, (response) => {
        const resolution = resolve(request, response, { by: "handle", surface: "channel" });
        finish(resolution);
        done(response);
        return resolution;
      });
      waiting.set(request.id, (cancelled) => {
        gone("cancelled", cancelled ? said(cancelled.message) : reason("channel-closed", {}));
        if (cancelled) done({ type: "cancelled", requestId: request.id, reason: cancelled.message });
        else fail(new SageError("no-surface", said("the channel was closed while this request waited")));
      });
      const timer = startTimer(timeoutMs, () => {
        const late = timedOut(timeoutMs);
        gone("timed_out", reasonOf(late));
        fail(late);
      });
      signal?.addEventListener("abort", aborted, { once: true });
    });
  };

  const channel: InputChannel = {
    autoResponse: undefined,
    policy,
    defaultTimeout,
    requestInput: (request, signal) => requestInput(request, signal),
    requestInputWithTimeout: (request, timeoutMs, signal) => requestInput(request, signal, timeoutMs),
    show: shown.show,
    onClose(listener) {
      onClosed.add(listener);
      return () => onClosed.delete(listener);
    },
    cancelPending(reason) {
      const elsewhere = [...offers.values()].filter(({ request }) => !waiting.has(request.id));
      endAll(new SageError("turn-failed", said(reason)));
      for (const { request, settle } of elsewhere) void cancel(request, settle, reason);
    },
    close,
  };
  return [channel, { ...createHandle(shown), close }];
}

async function cancel({ id }: InputRequest, settle: Settle, reason: string): Promise<void> {
  try {
    await settle({ type: "cancelled", requestId: id, reason });
  } catch {
    // answered in the same moment: that answer stands
  }
}

/** Requests that are shown or wait to be, and surfaces that wait for the next one. */
type Offers = {
  offers: ReadonlyMap<string, Offer>;
  show: InputChannel["show"];
  take(taker: (request: InputRequest | undefined) => void): void;
  /** How a request ended that is shown no more. */
  endOf(requestId: string): Resolution | undefined;
  whileNothingIsShown(act: () => void): void;
  isClosed(): boolean;
  close(): void;
  /** Tells those who wait that nothing comes any more. */
  leave(): void;
};

function createOffers(bufferSize: number): Offers {
  const offers = new Map<string, Offer>();
  const ended: Resolution[] = []; // each in the place of the one that is forgotten for it
  let ends = 0;
  const takers: ((request: InputRequest | undefined) => void)[] = [];
  let ending = false;
  let closed = false;

  /** The oldest of a session that shows none, among as many as the buffer holds. */
  const next = (): Offer | undefined => {
    if (ending) return undefined;
    const busy = new Set<string>();
    let seen = 0;
    for (const offer of offers.values()) {
      if (offer.taken) busy.add(offer.request.session);
      else if (++seen > bufferSize) return undefined;
      else if (!busy.has(offer.request.session)) return offer;
    }
    return undefined;
  };
  const deliver = () => {
    while (takers.length > 0) {
      const offer = next();
      if (!offer) return;
      offer.taken = true;
      takers.shift()?.(offer.request);
    }
  };
  return {
    offers,
    show(request, settle) {
      if (closed) return undefined;
      offers.set(request.id, { request, settle, taken: false });
      deliver();
      return (resolution) => {
        if (!offers.delete(request.id)) return;
        ended[ends++ % REMEMBERED] = resolution;
        deliver();
      };
    },
    take(taker) {
      takers.push(taker);
      deliver();
    },
    endOf: (id) => ended.findLast(({ requestId }) => requestId === id),
    whileNothingIsShown(act) {
      ending = true;
      act();
      ending = closed;
      deliver();
    },
    isClosed: () => closed,
    close() {
      closed = true;
    },
    leave() {
      for (const taker of takers.splice(0)) taker(undefined);
    },
  };
}

function createHandle(shown: Offers): Omit<InputChannelHandle, "close"> {
  return {
    nextRequest: () => new Promise((done) => (shown.isClosed() ? done(undefined) : shown.take(done))),
    async respond(response) {
      checkResponse(response);
      const { requestId } = response;
      const offer = shown.offers.get(requestId);
      if (offer) return await offer.settle(spellOut(offer.request, response));
      const winner = shown.endOf(requestId);
      if (!winner) throw new SageError("request-unknown", said(`this channel never showed a request ${requestId}`));
      const { outcome, by, surface } = winner;
      throw new SageError("request-resolved", reason("request-ended", { outcome, by, surface }), { cause: winner });
    },
    pending: () => [...shown.offers.values()].map(({ request }) => request),
  };
}
