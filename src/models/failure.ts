import { SageError } from "../protocol/index.ts";

/** A server that asks for more patience than this gets none: a person should know and decide. */
export const longestWaitMs = 2 * 60_000;

/** A request that failed. */
export type Failure = {
  status: number | undefined;
  code: string | undefined;
  said: string;
  retryable: boolean;
  retryAfterMs: number | undefined;
  /** No request was sent at all. */
  unasked: boolean;
};

/** Reads a failure off the errors of the AI SDK, of Node's network and our own. */
type Thrown = {
  message?: string;
  code?: unknown;
  cause?: unknown;
  statusCode?: number;
  isRetryable?: boolean;
  retryable?: boolean;
  responseHeaders?: Record<string, string>;
  retryAfterMs?: number;
};

export function classify(error: unknown, secret?: string): Failure {
  const thrown = Object(error) as Thrown;
  const { statusCode: status, responseHeaders: headers = {} } = thrown;
  const network = networkError(thrown);
  const mayWork =
    thrown.isRetryable === true || thrown.retryable === true || network !== undefined || isRetryableStatus(status);
  return {
    // A stream that breaks has a status too: the 200 it began with.
    status: network ? undefined : status,
    code: network?.code,
    said: redact(network ? network.message || network.code : (thrown.message ?? String(error)), secret),
    retryable: mayWork && headers["x-should-retry"] !== "false",
    retryAfterMs: thrown.retryAfterMs ?? parseRetryAfter(headers),
    unasked: thrown.retryAfterMs !== undefined,
  };
}

/** The server, or the way to it, is in trouble: any other answer shows that it is there. */
export function isServersFault({ status = 0, code }: Failure): boolean {
  return code !== undefined || status >= 500;
}

function networkError(error: Thrown): { code: string; message?: string } | undefined {
  for (let at: Thrown | undefined = error; at; at = at.cause as Thrown | undefined) {
    const { code, message } = at;
    if (typeof code === "string" && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_AGAIN|ENOTFOUND)/.test(code))
      return { code, ...(message && { message }) };
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

/** Servers like to quote the key that they refuse. */
function redact(text: string, secret: string | undefined): string {
  const known = secret ? text.replaceAll(secret, "[key]") : text;
  return known.replace(/\b(sk|pk|rk)-[\w*.-]{6,}|\bBearer\s+\S{8,}/gi, "[key]").slice(0, 500);
}

export function giveUp(id: string, failure: Failure, error: unknown): SageError {
  const { status, code, retryable } = failure;
  // The errors of the SDK carry the whole prompt, which has no place in a log.
  const cause = status === undefined && code === undefined ? error : undefined;
  return new SageError("model-unavailable", `${id}: ${sentence(failure)} ${advice(failure, id)}`, { retryable, cause });
}

export function sentence(failure: Failure): string {
  const { status, said } = failure;
  if (failure.unasked) return said;
  const detail = [status, said].filter((part) => part !== undefined && part !== "").join(": ");
  return `${headline(failure)}${detail && ` (${detail})`}.`;
}

function headline({ status, code, retryable }: Failure): string {
  if (code === "ETIMEDOUT") return "The server went silent";
  if (code === "ECONNRESET" || code === "EPIPE") return "The connection broke off";
  if (code !== undefined) return "The server could not be reached";
  if (status === undefined) return retryable ? "The reply broke off" : "The request could not be made";
  if (status === 401) return "The server refused the key";
  if (status === 407) return "The proxy wants a name and a password";
  if (status === 403) return "The server refused access";
  if (status === 404) return "The server does not know this model or address";
  if (status === 413) return "The conversation is too large for the server";
  if (status === 429) return "The server allows no more for now";
  if (status === 503 || status === 529) return "The server is overloaded";
  return status >= 500 ? "The server failed" : "The server refused the request";
}

function advice({ status, code, retryable, retryAfterMs = 0 }: Failure, id: string): string {
  if (retryAfterMs > longestWaitMs)
    return `Try again in ${inWords(retryAfterMs)}, after ${new Date(Date.now() + retryAfterMs).toLocaleString()}.`;
  if (status === 407) return "Check the address in HTTPS_PROXY: http://name:password@host:port.";
  if (status === 401 || status === 403) return "Check the API key, and that it may use this model.";
  if (status === 404 || (status !== undefined && status < 400))
    return `Check the name of the model (--model ${id.split("/")[0]}/<name>) and the base URL.`;
  if (status === 429) return "Go on later, or raise the limits of the account.";
  if (code !== undefined) return "Check the network, the base URL and that the server is running, then go on.";
  return retryable
    ? "Go on in a while."
    : "The same request will fail again: change what it names, or use another model.";
}

export function inWords(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 90 * 60_000) return `${Math.ceil(ms / 60_000)} minutes`;
  return `${Math.ceil(ms / 3_600_000)} hours`;
}
