/** A connection that carries frames: a WebSocket, or a socket between processes with a line for each. */
export type Wire = {
  /** Frames wait until the connection is open. A promise when the other side is slow: wait for it before sending more. */
  send(frame: object): Promise<void> | undefined;
  /** Aborted when the connection is over, from whichever side; its reason is a `Closed`. */
  readonly over: AbortSignal;
  close(code?: CloseCode, why?: string): void;
};

/** Opens a wire. A frame that `hear` throws on ends the connection: the other side speaks something else. */
export type OpenWire = (hear: (frame: unknown) => void) => Wire;

/** Why a connection ended. 1006: no reason was given. */
export type Closed = { code: number; why: string };

export const closeCodes = {
  /** The host leaves: come back. */
  leaving: 1001,
  /** The reader was too slow: come back. */
  tooSlow: 1013,
  notUnderstood: 4400,
  keyUnknown: 4401,
  /** This person may not even look. */
  notPermitted: 4403,
  noCommonProtocol: 4406,
  noHello: 4408,
  tooMany: 4429,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

const forGood: readonly number[] = [
  closeCodes.notUnderstood,
  closeCodes.keyUnknown,
  closeCodes.notPermitted,
  closeCodes.noCommonProtocol,
];

/** Is it of use to dial again? */
export function isForGood({ code }: Closed): boolean {
  return forGood.includes(code);
}

export function closedBy(over: AbortSignal): Closed {
  const given = over.reason as Partial<Closed> | undefined;
  return { code: given?.code ?? 1006, why: given?.why ?? "" };
}
