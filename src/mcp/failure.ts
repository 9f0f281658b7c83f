import { reasonOf } from "../protocol/reasons/error.ts";
import type { Reason } from "../protocol/reasons/reason.ts";

/** A server that cannot be had. `sent`: a call had reached it by then, and how that ended is not known. */
export class ServerFailure extends Error {
  override readonly name = "ServerFailure";
  readonly reason: Reason;
  readonly sent: boolean;
  constructor(why: Reason, { sent = false }: { sent?: boolean } = {}) {
    super(why.code);
    this.reason = why;
    this.sent = sent;
  }
}

export function failureReason(error: unknown): Reason {
  return error instanceof ServerFailure ? error.reason : reasonOf(error);
}
