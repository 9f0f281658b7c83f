import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import type { Fact } from "../protocol/facts/fact.ts";
import type { Redaction } from "../config/secrets/redact.ts";

/** A session as one JSON object per line, in the order in which things happened; what leaves is redacted. */
export function* trajectory(facts: Iterable<Fact>, redaction: Redaction): Generator<string> {
  for (const { seq, session, key, type, at, data } of facts)
    yield `${JSON.stringify({ seq, session, key, type, at, data: redaction.value(data) })}\n`;
}

/** Whole or not at all, and for its owner alone: a reader never meets half a file. */
export function writeLines(path: string, lines: Iterable<string>): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(draft, "w", 0o600);
    try {
      for (const line of lines) writeSync(file, line);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
