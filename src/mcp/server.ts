import { type Reason, reasonOf } from "../protocol/reasons/reason.ts";

/** A program that Sage starts and talks to over its standard input and output. */
export type StdioServer = {
  type: "stdio";
  command: string;
  args: readonly string[];
  /** Variables that the settings give it, beside the ordinary ones without secrets. */
  env: Readonly<Record<string, string>>;
};

export type HttpServer = {
  type: "http";
  url: string;
  headers: Readonly<Record<string, string>>;
  oauth?: { clientId?: string; scope?: string; callbackPort?: number };
};

export type ServerDefinition = {
  name: string;
  /** The person's own settings, or `.mcp.json` of a trusted folder. */
  source: "user" | "project";
  file: string;
  transport: StdioServer | HttpServer;
  /** How long a call may go without a sign of life; waiting for a person is not counted. */
  timeoutMs: number;
  startupTimeoutMs: number;
  /** Tools that the person says only read: patterns with `*`. A server's own word for it is never taken. */
  reads: readonly string[];
  /** A file of the folder that it runs and that is not what the person trusted. */
  changed?(): string | undefined;
};

/** A server name is part of rules, so that it must be read in one way only: no `__`, no `_` at its ends. */
export const serverNamePattern = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;
export const MAX_SERVER_NAME_LENGTH = 32;

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
