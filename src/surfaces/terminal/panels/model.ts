import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { Draft } from "../../../protocol/facts/request.ts";
import type { SharedAnswer } from "../../../protocol/host/host.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Draw } from "../widgets/draw.ts";
import type { Key } from "../widgets/key.ts";

export type AnswerAll = { requestIds: string[]; answer: SharedAnswer };

/** Result of a key. */
export type Step<S> = {
  state: S;
  respond?: InputResponse;
  /** The person asks about the request first. */
  inquire?: string;
  /** The same answer to several requests. */
  respondAll?: AnswerAll;
  /** The mode that the session goes into once the response is recorded. */
  mode?: SessionMode;
  /** The request stays open; the panel goes out of the way. */
  collapse?: true;
  /** The person seems to be typing to somebody else: wait for quiet. */
  rearm?: true;
};

/** `must`: so many rows of it have to be on the screen before anything is allowed; all of them where it says nothing. */
export type Body = { lines: string[]; must?: number };

/** A kind of panel: state, effect of keys, and drawing. All pure. `seenEnd`: everything that must be read was shown. */
export type Model<S> = {
  start: S;
  /** It could do harm, and looks so. */
  dangerous?: boolean;
  /** Size of a long one, for the title. */
  size?: { characters: number; lines: number };
  press(state: S, key: Key, context: { seenEnd: boolean }): Step<S>;
  /** The name of what the body shows; another one starts at its top. */
  page(state: S): string;
  /** The name of the text that has to be read before anything is allowed: another page may be more of the same, or something else. */
  reads(state: S): string;
  /** Depends on the page and the width alone. */
  body(state: S, draw: Draw): Body;
  /** Below the title. */
  tabs?(state: S, draw: Draw): string[];
  choices(
    state: S,
    draw: Draw,
    context: { seenEnd: boolean },
  ): { choices: string[]; focus: { from: number; to: number } };
  /** Note about a mistake or a missing answer. */
  note(state: S, context: { seenEnd: boolean }): string;
  keys(state: S, draw: Draw): string[];
  /** The person is in a text: Home and End are its keys. */
  writes(state: S): boolean;
  draft(state: S): Draft;
};
