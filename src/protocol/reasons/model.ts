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
  "server-answers-again": { model: string };
  "waits-for-limit": { model: string; requestsPerMinute?: number; tokensPerMinute?: number };

  // Room in the conversation.
  "makes-room": { tokens: number };
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
