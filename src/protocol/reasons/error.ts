import { plainText, type Reason, said } from "./reason.ts";

/** Codes of `SageError`, for programs that decide by them. */
export type SageErrorCode =
  | "config-invalid"
  | "disk-full"
  | "host-gone"
  | "input-invalid"
  | "journal-damaged"
  | "journal-locked"
  | "key-unknown"
  | "lease-lost"
  | "model-unavailable"
  | "no-surface"
  | "not-permitted"
  | "queue-full"
  | "request-invalid"
  | "request-pending"
  | "request-resolved"
  | "request-unknown"
  | "session-owned"
  | "session-unknown"
  | "timeout"
  | "turn-failed"
  | "usage";

/** The one error class. A tool that fails is a result and a person's no is an answer: neither throws. */
export class SageError extends Error {
  override readonly name = "SageError";
  readonly code: SageErrorCode;
  readonly retryable: boolean;
  /** Why, as data: the sentence is made where somebody reads it. `said(text)` carries your own words. */
  readonly reason: Reason;
  constructor(code: SageErrorCode, reason: Reason, options: { retryable?: boolean; cause?: unknown } = {}) {
    const { retryable = false, cause } = options;
    super(plainText(reason), cause === undefined ? {} : { cause });
    this.code = code;
    this.reason = reason;
    this.retryable = retryable;
  }
}

/** Message of whatever was thrown. Where the SDK is not loaded, that of a `SageError` is a code. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as a reason: the one it carries, or its message in its own words. */
export function reasonOf(error: unknown): Reason {
  return error instanceof SageError ? error.reason : said(messageOf(error));
}
