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
  /** Another journal is behind the same address: nothing that was told before holds. */
  "journal-changed": {};
  "device-key-unknown": {};
  /** The host cannot see at the moment whether the device was removed. */
  "devices-unsure": {};
  /** `code`: of the closed connection. */
  "host-refused": { code: number; why: string };
  "frame-too-long": { limit: number; length: number };
  "too-many-at-once": { limit: number };
  "too-many-a-second": { limit: number };
  "host-insecure": { address: string };
};
