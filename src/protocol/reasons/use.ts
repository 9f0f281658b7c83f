import type { Outcome } from "../decision.ts";

/** Why Sage cannot do what a person or their settings ask for. */
export type UseReasonArgs = {
  // Sessions.
  "session-missing": { session: string };
  "session-exists": { session: string };
  "session-id-unfit": { given: string };
  /** `by`: the process that runs it, where it is known. */
  "session-runs": { session: string; by?: string };
  "session-folder-gone": { session: string; path: string };
  "session-moved": { from: string; to: string };
  "session-waits": { session: string };
  "session-changed": { session: string };
  "nothing-said": { session: string };
  "turn-is-open": {};
  "too-short-to-summarise": {};
  "title-empty": {};
  "fork-place-unfit": { given: string };
  "process-unreachable": {};

  // Messages and requests.
  "message-empty": {};
  /** `came`: a name of a type. */
  "message-not-text": { came: string };
  "inquiry-empty": {};
  "inquiry-too-long": { limit: number; length: number };
  "message-too-long": { limit: number; length: number };
  /** `bytes`, `limit`: of the file. */
  "image-too-large": { name: string; bytes: number; limit: number };
  "image-kind-unknown": { name: string };
  "image-not-kept": { name: string; problem: string };
  "images-too-many": { limit: number; count: number };
  "command-unknown": { command: string };
  "messages-wait": { limit: number };
  "message-missing": {};
  "message-read": {};
  "message-withdrawn": { by: string };
  "messages-withdrawn": {};
  "request-missing": { request: string };
  "request-ended": { outcome: Outcome; by: string; surface: string; at?: number };
  "subagent-refused": { times: number };

  // A turn that another version began, or a mistake of ours ended.
  "begun-by-other-version": { loop: number; now: number };
  "carried-request-missing": { request: string };
  "goes-on-after-mistake": { problem: string; waitMs: number; attempt: number; of: number };

  // Rules, settings and other files.
  "rule-not-saved": { rule: string; path: string };
  "rule-not-there": { rule: string };
  "nothing-to-undo": {};
  "undo-by-hand": { rule: string };
  "rule-place-missing": { destination: string };
  "file-unreadable": { path: string; problem: string };
  "file-not-json": { path: string; problem: string; effect?: "rule-not-saved" | "set-up-again" };
  "file-leads-out": { path: string };
  "file-not-regular": { path: string };
  /** `path`: the file of the policy, or its folder. */
  "policy-unsafe": { path: string; policy: string };
  "file-too-large": { path: string; limitMb: number };
  "file-unusable": { path: string; problem: string };
  "file-busy": { path: string; problem: string };
  "link-leaves": { folder: string };
  "link-to": { name: string };
  "rule-against-reading": {};
  "not-regular": {};
  "folder-too-wide": { folder: string };
  "subagent-name-unfit": { given: string };

  // Models.
  "fallback-is-first": { model: string };
  "provider-missing": { model: string; expected: readonly string[]; variables: readonly string[] };
  "provider-unknown": { provider: string; expected: readonly string[] };
  "model-unknown": { model: string; provider: string };
  "model-nameless": { provider: string; expected: readonly string[] };
  "address-unfit": { provider: string; address: string };
  "key-missing": { model: string; variable: string };
  "provider-package-missing": { package: string; folder: string };
  "provider-package-broken": { package: string; problem: string };
  "provider-package-unfit": {
    package: string;
    /** Version of the interface that it speaks, if it is a provider at all. */ version?: string;
  };
  /** `scheme`: what the address starts with, where it is one. */
  "proxy-unfit": { variable: string; scheme?: string };
  "proxy-needs-node": { version: string };
};
