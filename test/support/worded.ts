import assert from "node:assert/strict";
import type { Refused } from "../../src/protocol/host/host.ts";
import { errorText, thrownText } from "../../src/texts/shared/error.ts";
import { texts } from "../../src/texts/shared/texts.ts";

/** For `assert.throws` and `assert.rejects`: compares the sentence that people read in the place of the message, which is a code. */
export function worded(expected: RegExp | Record<string, unknown>): (error: unknown) => true {
  return (error) => {
    if (error instanceof Error) error.message = thrownText(error);
    assert.throws(() => {
      throw error;
    }, expected);
    return true;
  };
}

/** The English sentence of a refusal, of a failed outcome or of whatever was thrown. */
export function wordsOf(failure: unknown): string {
  return failure instanceof Error ? thrownText(failure) : errorText(failure as Refused, texts("en"));
}
