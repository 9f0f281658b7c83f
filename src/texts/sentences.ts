import type { Reason } from "../protocol/reasons/reason.ts";

/** A sentence for each code; `say` writes a reason that is part of another one. */
export type Sentences<Args> = { [C in keyof Args]: (args: Args[C], say: (inner: Reason) => string) => string };
