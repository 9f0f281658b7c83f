import type { Agent } from "node:http";

/** An app on a platform: address and credentials. */
export type FeishuApp = {
  /** `cli_` and 16 hex digits. */
  appId: string;
  appSecret: string;
  /** An origin without a slash at its end, such as `https://open.feishu.cn`. */
  domain: string;
  /** Events come over a connection that we open (socket) or to an address of ours (webhook). */
  mode: "socket" | "webhook";
  /** Both keys are required for the webhook. */
  encryptKey?: string;
  verificationToken?: string;
  /** Agent for a proxy, where one leads to the platform. */
  agent?: Agent;
};

/** Timeouts and intervals; tests shorten them. */
export type Timings = {
  callMs: number;
  transferMs: number;
  /** The first wait before another try; it doubles. */
  retryMs: number;
  /** The platform shows an error after three seconds. */
  answerMs: number;
  /** Messages are remembered this long: the last redelivery comes after 7 hours. */
  rememberMs: number;
  /** Without a pong for this long, the connection counts as dead. */
  pongMs: number;
  /** Without a connection for this long, we start a new client instead of waiting for the library. */
  stuckMs: number;
  /** Without an event for this long, the connection is replaced: a new one costs little, a deaf one loses everything. */
  quietMs: number;
  lookMs: number;
  /** Closing waits this long for work in progress. */
  leaveMs: number;
};

export const usual: Timings = {
  callMs: 10_000,
  transferMs: 60_000,
  retryMs: 500,
  answerMs: 2_500,
  rememberMs: 24 * 60 * 60_000,
  pongMs: 10_000,
  stuckMs: 60_000,
  quietMs: 15 * 60_000,
  lookMs: 5_000,
  leaveMs: 5_000,
};

export type Log = (level: "error" | "warn" | "info" | "debug", text: string) => void;
