import { sentence } from "../texts/shared/sentence.ts";
import type { InputResponse, LooseResponse } from "../protocol/facts/answer.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import type { AutoResponse } from "../protocol/host/options.ts";
import { reasonOf, SageError } from "../protocol/reasons/error.ts";
import { reason, said, type Reason } from "../protocol/reasons/reason.ts";
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
  /**
   * Shows a request that lives elsewhere; an answer goes to `settle`. Call the returned function once it has ended.
   * Undefined when the channel is closed: nobody is there to see it.
   */
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

  /** A channel without a person. */
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
  const offers = new Map<string, Offer>();
  const ended: Resolution[] = []; // each in the place of the one that is forgotten for it
  let ends = 0;
  const takers: ((request: InputRequest | undefined) => void)[] = [];
  const waiting = new Map<string, (reason: SageError | undefined) => void>();
  let closed = false;
  let ending = false; // while all of them end, none is shown any more

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
  const end = (id: string, resolution: Resolution) => {
    if (!offers.delete(id)) return;
    ended[ends++ % REMEMBERED] = resolution;
    deliver();
  };
  const show = (request: InputRequest, settle: Settle) => {
    if (closed) return undefined;
    offers.set(request.id, { request, settle, taken: false });
    deliver();
    return (resolution: Resolution) => end(request.id, resolution);
  };
  const endAll = (reason?: SageError) => {
    ending = true;
    for (const stop of [...waiting.values()]) stop(reason);
    ending = closed;
    deliver();
  };
  const onClosed = new Set<() => void>();
  const close = () => {
    if (closed) return;
    closed = true;
    for (const listener of onClosed) listener();
    endAll();
    for (const taker of takers.splice(0)) taker(undefined);
  };

  const requestInput = (
    request: InputRequest,
    signal?: AbortSignal,
    timeoutMs = defaultTimeout,
  ): Promise<InputResponse> => {
    if (policy === "reject" && [...offers.values()].some((offer) => offer.request.session === request.session))
      return Promise.reject(
        new SageError(
          "request-pending",
          said(`session ${request.session} already waits for an answer; this channel takes one request at a time`),
        ),
      );
    if (offers.has(request.id))
      return Promise.reject(
        new SageError("request-pending", said(`request ${request.id} waits for an answer already`)),
      );
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (closed) return Promise.reject(new SageError("no-surface", said("the channel is closed")));
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
      const hide = show(request, (response) => {
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

  const cancel = async ({ id }: InputRequest, settle: Settle, reason: string) => {
    try {
      await settle({ type: "cancelled", requestId: id, reason });
    } catch {
      // answered in the same moment: that answer stands
    }
  };

  const channel: InputChannel = {
    autoResponse: undefined,
    policy,
    defaultTimeout,
    requestInput: (request, signal) => requestInput(request, signal),
    requestInputWithTimeout: (request, timeoutMs, signal) => requestInput(request, signal, timeoutMs),
    show,
    onClose(listener) {
      onClosed.add(listener);
      return () => onClosed.delete(listener);
    },
    cancelPending(reason) {
      const shown = [...offers.values()].filter(({ request }) => !waiting.has(request.id));
      endAll(new SageError("turn-failed", said(reason)));
      for (const { request, settle } of shown) void cancel(request, settle, reason);
    },
    close,
  };
  const handle: InputChannelHandle = {
    nextRequest: () =>
      new Promise((done) => {
        if (closed) return done(undefined);
        takers.push(done);
        deliver();
      }),
    async respond(response) {
      checkResponse(response);
      const offer = offers.get(response.requestId);
      if (offer) return await offer.settle(spellOut(offer.request, response));
      const winner = ended.findLast(({ requestId }) => requestId === response.requestId);
      if (!winner)
        throw new SageError("request-unknown", said(`this channel never showed a request ${response.requestId}`));
      throw new SageError(
        "request-resolved",
        reason("request-ended", { outcome: winner.outcome, by: winner.by, surface: winner.surface }),
        {
          cause: winner,
        },
      );
    },
    pending: () => [...offers.values()].map((offer) => offer.request),
    close,
  };
  return [channel, handle];
}
