/** Why something was not found, or cannot be asked of this host. */
export type RemoteReasonArgs = {
  /** A host that an embedder made knows sessions, and nothing about this. */
  "not-here": { command: string };
  /** No session begins like this. */
  "no-session-like": { given: string };
  "no-session-in": { cwd: string };
  /** Several sessions begin like this: their ids and titles. */
  "sessions-alike": { given: string; candidates: readonly string[] };
  /** Neither an address nor the name of a host. */
  "host-not-named": { given: string; known: readonly string[] };
  /** This machine was never paired with it. */
  "host-key-missing": { address: string };
  /** Paired once; the host knows the key no more. */
  "host-key-refused": { address: string };
  "host-not-there": { address: string; problem: string };
  "host-speaks-other": { address: string; why: string };
  "host-shut": { address: string; why: string };
  /** A link or a code was used already, is too old, or wrong. */
  "pairing-refused": { address: string };
  "pairing-too-often": { address: string };
  /** No session, call or file is called this. */
  "receipts-unknown": { given: string };
};
