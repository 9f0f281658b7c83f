import { plainText, reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import type { RequestFailure } from "../protocol/reasons/model.ts";

/** A server that asks for more patience than this gets none: a person should know and decide. */
export const longestWaitMs = 2 * 60_000;

type Failure = {
  problem: Reason;
  retryable: boolean;
  retryAfterMs: number | undefined;
  /** The server, or the way to it, is in trouble: any other answer shows that it is there. */
  serversFault: boolean;
  /** Left out where it is an error of the SDK: those carry the whole prompt, which has no place in a log. */
  cause: unknown;
};

/** Fields by which the errors of the AI SDK, of Node's network and our own tell what happened. */
type Thrown = {
  message?: string;
  code?: unknown;
  cause?: unknown;
  statusCode?: number;
  isRetryable?: boolean;
  retryable?: boolean;
  responseHeaders?: Record<string, string>;
  silence?: { host: string; ms: number };
};

export function classify(error: unknown, secret?: string): Failure {
  if (error instanceof CircuitOpen)
    return {
      problem: error.reason,
      retryable: true,
      retryAfterMs: error.retryAfterMs,
      serversFault: false,
      cause: error,
    };
  const thrown = Object(error) as Thrown;
  const { statusCode, responseHeaders: headers = {} } = thrown;
  const network = networkError(thrown);
  // A stream that breaks has a status too: the 200 it began with.
  const status = network ? undefined : statusCode;
  const mayWork =
    thrown.isRetryable === true || thrown.retryable === true || network !== undefined || isRetryableStatus(status);
  const insecure = network || status !== undefined ? undefined : insecureError(thrown);
  const told = network ? network.message || network.code : (insecure ?? thrown.message ?? String(error));
  const detail = redact(told, secret);
  const kind = insecure === undefined ? failureKind({ status, code: network?.code, detail, mayWork }) : "insecure";
  const known = error instanceof SageError && error.reason.code !== "said" ? error.reason : undefined;
  return {
    problem:
      known ??
      reason("request-failed", {
        kind,
        ...(status !== undefined && { status }),
        detail,
        ...(network?.silence && { silence: network.silence }),
      }),
    retryable: mayWork && headers["x-should-retry"] !== "false",
    retryAfterMs: parseRetryAfter(headers),
    serversFault: network !== undefined || (status ?? 0) >= 500,
    cause: network === undefined && status === undefined ? error : undefined,
  };
}

/** The server failed too often in a row, and its breaker is open for a while. */
export class CircuitOpen extends Error {
  override readonly name = "CircuitOpen";
  readonly retryable = true;
  readonly reason: Reason;
  readonly retryAfterMs: number;
  constructor(reason: Reason, retryAfterMs: number) {
    super(plainText(reason));
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

type Signs = { status: number | undefined; code: string | undefined; detail: string; mayWork: boolean };

function failureKind({ status, code, detail, mayWork }: Signs): RequestFailure {
  if (code === "ETIMEDOUT") return "silent";
  if (code === "ECONNRESET" || code === "EPIPE") return "disconnected";
  if (code !== undefined) return "unreachable";
  if (status === undefined) return mayWork ? "cut-off" : "not-sent";
  const named = kinds[status];
  if (named) return named;
  if (status >= 500) return "server-failed";
  if (status < 400) return "unknown-model"; // another server answers there
  return isTooLong.test(detail) ? "too-large" : "refused";
}

const kinds: Record<number, RequestFailure> = {
  401: "key-refused",
  402: "unpaid",
  403: "access-refused",
  404: "unknown-model",
  407: "proxy-refused",
  413: "too-large",
  // "Too large" is also what a rate limit says of a single request; waiting helps there, not a shorter prompt.
  429: "rate-limited",
  503: "overloaded",
  529: "overloaded",
};

/** Providers refuse a prompt that is too long in words of their own, and few with a status. */
const isTooLong =
  /prompt is too long|(context|input).{0,24}(length|window|too long)|maximum context|too many (input )?tokens|exceed_context|token count.{0,40}exceeds/i;

function networkError(error: Thrown): ({ code: string } & Pick<Thrown, "message" | "silence">) | undefined {
  for (let at: Thrown | undefined = error; at; at = at.cause as Thrown | undefined) {
    const { code, message, silence } = at;
    if (typeof code === "string" && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_AGAIN|ENOTFOUND)/.test(code))
      return { code, ...(message && { message }), ...(silence && { silence }) };
  }
  return undefined;
}

/** Node's words about a certificate, or OpenSSL's, which stand between numbers and source lines: `error:0A00010B:SSL routines:f:words:f.c`. */
function insecureError(error: Thrown): string | undefined {
  for (let at: Thrown | undefined = error; at; at = at.cause as Thrown | undefined) {
    const { code, message = "" } = at;
    if (typeof code === "string" && /^(EPROTO|ERR_(TLS|SSL)_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code))
      return /error:\w+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
  }
  return undefined;
}

export function isRetryableStatus(status = 0): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function parseRetryAfter(headers: Record<string, string>): number | undefined {
  const ms = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (ms >= 0) return ms;
  const after = headers["retry-after"] ?? "";
  const seconds = Number.parseFloat(after);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

export function backOff(retry: number): number {
  return Math.min(1000 * 2 ** retry, 30_000) * (0.5 + Math.random() / 2);
}

/** Self-hosted servers accept any key, such as "x": no secret, and part of other words. */
const SHORTEST_KEY = 4;

/** Servers like to quote the key that they refuse. */
function redact(text: string, secret: string | undefined): string {
  const known = secret !== undefined && secret.length >= SHORTEST_KEY ? text.replaceAll(secret, "[key]") : text;
  return known.replace(/\b(sk|pk|rk)-[\w*.-]{6,}|\bBearer\s+\S{8,}/gi, "[key]").slice(0, 500);
}

export function giveUp(model: string, { problem, retryable, retryAfterMs = 0, cause }: Failure): SageError {
  const late = retryAfterMs > longestWaitMs;
  const why = reason("model-failed", {
    model,
    problem,
    again: retryable,
    ...(late && { waitMs: retryAfterMs, at: Date.now() + retryAfterMs }),
  });
  return new SageError("model-unavailable", why, { retryable, cause });
}
