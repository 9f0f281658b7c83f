import type { Resolution } from "../facts/request.ts";
import type { Refused } from "./host.ts";
import { SageError, messageOf } from "../reasons/error.ts";
import { said } from "../reasons/reason.ts";

/** An error as the reply to a command. Its reason goes along, so that each reader is told in their own language. */
export function refusalOf(error: unknown): Refused {
  if (!(error instanceof SageError)) return { ok: false, code: "turn-failed", message: messageOf(error) };
  const { code, message, cause, reason } = error;
  return {
    ok: false,
    code,
    message,
    reason,
    ...(code === "request-resolved" && { resolution: cause as Resolution }),
  };
}

/** A refusal as an error, the way back: nothing of it is lost. */
export function errorOf({ code, message, reason, resolution }: Refused): SageError {
  return new SageError(code, reason ?? said(message), { message, cause: resolution });
}
