import { canonicalJson } from "./canonical-json.ts";

/**
 * Why something was decided, refused or ended, as data: sentences are made from it where they are read, in the reader's
 * language, by `texts/reasons.ts`. A room adds its codes to `ReasonArgs`; the tables in `texts/` do not compile without them.
 */
export type ReasonArgs = {
  /** Free text of embedders, hooks, models and people, in their own words. Also how facts of version 0.1.0 are read. */
  said: { text: string };
};

export type ReasonCode = keyof ReasonArgs;

export type Reason<C extends ReasonCode = ReasonCode> = { [K in C]: { code: K; args: ReasonArgs[K] } }[C];

export function reason<C extends ReasonCode>(code: C, args: ReasonArgs[C]): Reason<C> {
  return { code, args };
}

/** Free text as a reason. */
export function said(text: string): Reason {
  return reason("said", { text });
}

export function isSameReason(left: Reason | string, right: Reason | string): boolean {
  return canonicalJson(reasonFrom(left)) === canonicalJson(reasonFrom(right));
}

/** Facts of version 0.1.0 hold English sentences where there is a reason today. */
export function reasonFrom(stored: Reason | string): Reason {
  return typeof stored === "string" ? reason("said", { text: stored }) : stored;
}
