import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";

/** Connection lost, server ending, starting or out of connections: the same write may succeed later. */
const passing = /^(08|25P03|57P|53[1-4]|40001|40P01|ECONN|EPIPE|ENOENT|ETIMEDOUT|EAI_AGAIN)/;

/** Trying again changes nothing: somebody has to correct the address, or give another login. */
const lasting = {
  "28P01": "login-refused",
  "28000": "login-refused",
  "3D000": "database-missing",
  "42501": "login-may-not",
} as const;

/** The error to throw for one that work on the database met: what passes can be tried again. */
export function explained(where: string, error: unknown): unknown {
  if (error instanceof SageError) return error;
  const { code = "" } = (error ?? {}) as { code?: string };
  const problem = messageOf(error);
  if (code === "53100")
    return new SageError("disk-full", reason("disk-full", { path: where, problem }), { retryable: true, cause: error });
  if (Object.hasOwn(lasting, code)) {
    const why = lasting[code as keyof typeof lasting];
    const kind = why === "login-may-not" ? "not-permitted" : "config-invalid";
    return new SageError(kind, reason(why, { path: where, problem }), { cause: error });
  }
  const lost =
    passing.test(code) ||
    /Connection terminated|Client has encountered a connection error|timeout exceeded|Query read timeout/.test(problem);
  if (!lost) return error;
  return new SageError("journal-locked", reason("database-away", { path: where, problem }), {
    retryable: true,
    cause: error,
  });
}

/** Rethrows an error of the database's own functions as the error about this session that callers know. */
export async function explainedFor<T>(session: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === "SG001")
      throw new SageError("session-unknown", reason("session-missing", { session }), { cause: error });
    if (code === "SG002") throw new SageError("lease-lost", reason("taken-over", { session }), { cause: error });
    const { detail: place = "" } = error as { detail?: string };
    if (code === "SG005") throw new SageError("not-permitted", reason("place-not-served", { place }), { cause: error });
    if (code === "SG004") throw new SageError("not-permitted", reason("worker-may-not-write", {}), { cause: error });
    throw error;
  }
}
