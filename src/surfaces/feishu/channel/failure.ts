/** Meaning of a refusal by the platform, for the sender. */
type FailureKind =
  /** Too many requests; waiting helps. */
  | "rate"
  /** A click on this card is being answered. */
  | "busy"
  /** Network, timeout, a fault over there; trying again helps. */
  | "transient"
  | "token"
  /** A number below the last one. */
  | "sequence"
  /** The card no longer streams. */
  | "streaming"
  /** Recalled, deleted, too old, dissolved: this message is out of reach for good. */
  | "gone"
  /** The message to reply to cannot be replied to. */
  | "reply-target"
  /** The content was refused: smaller or plainer may pass. */
  | "content"
  /** The content was refused by an audit. */
  | "audit"
  /** The app lacks a permission: the operator has to act. */
  | "permission"
  /** The bot cannot reach this chat or person. */
  | "reach"
  | "unknown";

/** A call that did not work. It never carries a request, a header or a secret. */
export class FeishuFailure extends Error {
  override readonly name = "FeishuFailure";
  readonly kind: FailureKind;
  readonly code: number;
  /** The more exact code some refusals carry in their text; 0 without one. */
  readonly subcode: number;
  readonly waitMs: number | undefined;
  /** The platform was there and answered; without it, nobody was. */
  readonly answered: boolean;
  constructor(
    kind: FailureKind,
    message: string,
    more: { code?: number; subcode?: number; waitMs?: number; answered?: boolean } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = more.code ?? 0;
    this.subcode = more.subcode ?? 0;
    this.waitMs = more.waitMs;
    this.answered = more.answered ?? false;
  }
}

export function passes(error: unknown): boolean {
  return error instanceof FeishuFailure && ["rate", "busy", "transient", "token"].includes(error.kind);
}

/** The content was refused, or fails time after time: try plainer words. They help against no lost connection and no limit. */
export function wantsPlainer(error: unknown): boolean {
  return !passes(error) || (error instanceof FeishuFailure && error.kind === "transient" && error.answered);
}

const codes: [FailureKind, number[]][] = [
  ["rate", [99991400, 230020, 11232, 11233, 11247, 2200]],
  ["busy", [200810]],
  ["transient", [230049, 1500, 300120]],
  ["token", [99991661, 99991663, 99991664, 99991665, 99991668, 99991671]],
  ["sequence", [300317]],
  ["streaming", [300309, 200850]],
  ["gone", [230011, 230110, 230031, 200740, 200750, 230019, 232009]],
  ["reply-target", [230050, 230071, 230072, 230111]],
  ["content", [230001, 230025, 230099, 200860, 200861, 200621, 200570, 300301, 300302, 300303, 300305, 200220]],
  ["audit", [230022, 230028]],
  ["permission", [10003, 10014, 99991672, 230027, 230006, 99991401, 99991403]],
  ["reach", [230002, 230013, 230018, 230035, 230053]],
];
const kinds = new Map(codes.flatMap(([kind, list]) => list.map((code) => [code, kind] as const)));

/** Reads a refusal: HTTP status, the platform's code and words, and how long it wants us to wait. */
export function toFailure(answer: { status: number; code: number; msg: string; waitMs?: number }): FeishuFailure {
  const { status, code, msg } = answer;
  const subcode = Number(/ErrCode:\s*(\d+)/.exec(msg)?.[1] ?? 0);
  const more = { code, subcode, answered: true, ...(answer.waitMs !== undefined && { waitMs: answer.waitMs }) };
  return new FeishuFailure(
    failureKind(status, code, msg),
    `Feishu refused (${code || `HTTP ${status}`}): ${msg}`,
    more,
  );
}

function failureKind(status: number, code: number, msg: string): FailureKind {
  // The same code covers a card with too many elements, which no waiting helps.
  if (code === 230099 && /is lock/i.test(msg)) return "busy";
  const known = kinds.get(code);
  if (known) return known;
  if (status === 429) return "rate";
  return status >= 500 ? "transient" : "unknown";
}
