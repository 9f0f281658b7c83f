import type { Agent } from "node:http";

/** What is needed to talk to one app on one platform. */
export type FeishuApp = {
  /** `cli_` and 16 hex digits. */
  appId: string;
  appSecret: string;
  /** An origin without a slash at its end, such as `https://open.feishu.cn`. */
  domain: string;
  /** How events come: over a connection that we open, or to an address of ours. */
  mode: "socket" | "webhook";
  /** The webhook is served only with both. */
  encryptKey?: string;
  verificationToken?: string;
  /** The way to the platform, where a proxy stands in it. */
  agent?: Agent;
};

/** How long things may take; what a test shortens. */
export type Timings = {
  /** One call of the API. */
  callMs: number;
  /** Uploads and downloads. */
  transferMs: number;
  /** The first wait before another try; it doubles. */
  retryMs: number;
  /** The platform shows an error after three seconds. */
  answerMs: number;
  /** Messages are remembered this long: the last redelivery comes after 7 hours. */
  rememberMs: number;
  /** No pong for this long: the connection is dead. */
  pongMs: number;
  /** Not connected for this long: begin anew rather than trust what the library does. */
  stuckMs: number;
  /** Connected and nothing heard for this long: a fresh connection costs little, a deaf one everything. */
  quietMs: number;
  /** How often the connection is looked at. */
  lookMs: number;
  /** How long closing waits for what is under way. */
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
