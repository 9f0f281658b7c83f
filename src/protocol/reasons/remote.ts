/** Why a host that is elsewhere was not asked, or did not reply. */
export type LinkReasonArgs = {
  /** Nothing was sent. */
  "host-unreachable": {};
  /** It would have let something run, and the connection is being dialled. */
  "link-lost": {};
  /** Sent, and the connection broke before the reply came. */
  "reply-lost": {};
  /** It would have let something run, and the person pressed too long ago. */
  "sent-too-late": { limitMs: number };
  /** The address serves another journal now: everything received before is void. */
  "journal-changed": {};
  "device-key-unknown": {};
  /** The host cannot see at the moment whether the device was removed. */
  "devices-unsure": {};
  /** `code`: of the closed connection. */
  "host-refused": { code: number; why: string };
  "frame-too-long": { limit: number; length: number };
  "too-many-at-once": { limit: number };
  "too-many-a-second": { limit: number };
};

/** Why something was not found, or cannot be asked of this host. */
export type RemoteReasonArgs = {
  /** A host that an embedder made knows sessions, and nothing about this. */
  "not-here": { command: string };
  /** No session begins like this. */
  "no-session-like": { given: string };
  "no-session-in": { cwd: string };
  /** Several sessions begin like this: their ids and titles. */
  "sessions-alike": { given: string; candidates: readonly string[] };
  /** No session, call or file is called this. */
  "receipts-unknown": { given: string };
};

/** Why somebody who is elsewhere was refused. */
export type WebReasonArgs = {
  /** They are known, and the settings give them no role. */
  "may-not-look": { by: string };
  /** An ordinary question of a session that somebody else began. */
  "may-not-answer": { by: string };
  /** Sessions are begun from afar in folders that the settings name. */
  "folder-unknown": { name: string; known: readonly string[] };
  /** A model by which a file of this machine would be read. */
  "model-not-from-afar": { model: string };
  /** Part of the input was taken out for this reader: an edit of it would run the mask. */
  "masked-not-edited": {};
  /** A yes to this request counts only from another machine, or with a passkey. */
  "takes-signature": {};
  /** The passkey's signature, or the passkey that was made, does not fit: nothing was answered or kept. */
  "passkey-unfit": {};
  /** The page was opened under an address for which browsers make no passkeys. */
  "passkey-not-here": {};
  /** A person has a passkey: a further one is added from another machine. */
  "passkey-elsewhere": {};
};
