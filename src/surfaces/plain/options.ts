import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { OutcomeStatus, TurnError } from "../../protocol/facts/outcome.ts";
import type { Named } from "../../protocol/host/about.ts";
import type { Lang } from "../../texts/language.ts";
import type { OwnSlash } from "../../view/slash/table.ts";
import type { Input, Output } from "./typed/lines.ts";
import type { Leaving } from "./typed/state.ts";

/** Commands that need more than a surface knows; undefined where one cannot be done. Each returns text to show. */
export type PlainActs = {
  [K in Exclude<OwnSlash<"lines">, "quit">]: ((args: string) => Promise<string>) | undefined;
};

export type PlainOptions = {
  session: string;
  input: Input;
  output: Output;
  lang: Lang;
  color: boolean;
  /** The person's name. */
  by: string;
  /** The surface that the host records for them, where it is the host that says so. */
  surface?: string;
  acts?: PlainActs;
  /** Own commands, skills and prompts of servers. */
  own?(): readonly Named[];
  /** The first message. Without one, a turn that was left open continues. */
  task?: string | undefined;
  /** Ends with the turn instead of asking what is next. */
  once?: boolean;
  /** Nothing of it is kept: no request waits for another time. */
  fleeting?: boolean;
  /** How a piped line is shown as the answer it became. */
  echo?: (line: string) => string;
  /** Why this answer cannot be given here. */
  refuses?: (request: InputRequest, response: InputResponse) => string | undefined;
  signal: AbortSignal;
};

export type PlainEnd = {
  why: Leaving;
  waiting: number;
  last: OutcomeStatus | undefined;
};

export type Plain = {
  done: Promise<PlainEnd>;
  /** Ctrl-C: interrupts; the second one within two seconds, or one with nothing to interrupt, leaves. */
  interrupt(): void;
  /** No turn can begin: report that and end. */
  failed(error: TurnError): void;
};
