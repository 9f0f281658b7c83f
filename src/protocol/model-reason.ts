import type { Reason } from "./reason.ts";

/** Why a model did not reply, and what is done about it. */
export type ModelReasonArgs = {
  /** `detail` is the server's or the system's own text. */
  "request-failed": {
    kind: RequestFailure;
    status?: number;
    detail: string;
    /** Of a server that went silent. */
    silence?: { host: string; ms: number };
  };
  /** The server is asked no more for a while, after so many failures in a row. */
  "server-rests": { failures: number; problem?: Reason };
  "server-answers-again": { model: string };
  "tries-again": { problem: Reason; waitMs: number; attempt: number; of: number };
  /** Given up. `again`: the same request may work later, after `waitMs` where the server has said so. */
  "model-failed": { model: string; problem: Reason; again: boolean; waitMs?: number; at?: number };
  /** Code of an embedder returned something else than a reply. */
  "reply-unfit": { model: string; problem: Reason };
  "fallback-goes-on": { problem: Reason; model: string };
  "fallback-failed": { problem: Reason; fallback: Reason };
  "waits-for-limit": { model: string; requestsPerMinute?: number; tokensPerMinute?: number };

  // Room in the conversation.
  "makes-room": { tokens: number };
  "not-summarised": { problem: Reason };
  "empty-summary": {};
};

/** Ways for a request to fail, by which programs decide and people are advised. */
export type RequestFailure =
  | "silent"
  | "disconnected"
  | "unreachable"
  /** No secure connection could be made. */
  | "insecure"
  | "cut-off"
  | "not-sent"
  | "key-refused"
  | "proxy-refused"
  | "access-refused"
  | "unknown-model"
  | "too-large"
  | "unpaid"
  | "rate-limited"
  | "overloaded"
  | "server-failed"
  | "refused";
