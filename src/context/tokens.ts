import type { Message } from "../protocol/facts/message.ts";

const PER_WIDE = 0.75;
const PER_OTHER = 0.27;
/** Tokens that a provider adds around each message. */
const FRAME = 4;
/** Tokens of one picture, whatever its size: providers scale it down to about this. */
const PER_IMAGE = 1_600;

/** Close enough between two replies, whose usage is exact; a tokenizer would cost more than the whole step. */
export function estimateTokens(text: string): number {
  let wide = 0;
  // A loop over all characters would have V8 optimise it: 5 MB of its compiler, for a prompt with one Chinese sentence in it.
  for (const run of text.match(wideRuns) ?? []) wide += run.length;
  return wide * PER_WIDE + (text.length - wide) * PER_OTHER;
}

/** Counted once for each message object: a compaction weighs the whole conversation, several times. */
export function messageTokens(message: Message): number {
  let tokens = counted.get(message);
  if (tokens === undefined) counted.set(message, (tokens = countTokens(message)));
  return tokens;
}

export function countTokens(message: Message): number {
  return Math.ceil(count(message) + FRAME);
}

export function totalTokens(messages: readonly Message[], from = 0): number {
  let total = 0;
  for (let n = from; n < messages.length; n++) total += messageTokens(messages[n] as Message);
  return total;
}

const counted = new WeakMap<Message, number>();

function count(message: Message): number {
  switch (message.role) {
    case "user":
      return estimateTokens(message.text) + PER_IMAGE * (message.images?.length ?? 0);
    case "assistant":
      return sum(message.parts, (part) =>
        estimateTokens(part.type === "call" ? part.tool + JSON.stringify(part.input) : part.text),
      );
    case "tool":
      return sum(
        message.results,
        ({ result }) => estimateTokens(result.text) + PER_IMAGE * (result.images?.length ?? 0) + FRAME,
      );
    default:
      return message satisfies never;
  }
}

function sum<T>(items: readonly T[], tokens: (item: T) => number): number {
  return items.reduce((total, item) => total + tokens(item), 0);
}

/** Chinese, Japanese and Korean, their punctuation and full-width forms. */
const wideRuns = /[\u2e80-\ud7af\uf900-\ufaff\uff00-\uffef]+/g;
