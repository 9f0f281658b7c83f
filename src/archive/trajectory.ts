import { randomUUID } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Fact } from "../protocol/facts/fact.ts";
import type { Redaction } from "../config/secrets/redact.ts";

/** A session as one JSON object per line, in the order in which things happened; what leaves is redacted. */
export function* trajectory(facts: Iterable<Fact>, redaction: Redaction): Generator<string> {
  for (const { seq, session, key, type, at, data } of facts)
    yield `${JSON.stringify({ seq, session, key, type, at, data: redaction.value(data) })}\n`;
}

/** Replaces a regular file whole, for its owner alone. A device, pipe or link is written through: others use it, too. */
export function writeLines(path: string, lines: Iterable<string>): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) return writeEach(openThrough(path), lines);
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    writeEach(openSync(draft, "wx", 0o600), lines);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeEach(file: number, lines: Iterable<string>): void {
  try {
    for (const line of lines) writeFileSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** Opening a pipe without a reader would block forever; non-blocking, it fails. */
function openThrough(path: string): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
  const first = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0o600);
  try {
    return openSync(path, O_WRONLY);
  } finally {
    closeSync(first);
  }
}
