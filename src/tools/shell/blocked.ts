import type { Blocked } from "../../protocol/confine.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { Note, ToolProblem } from "../definition/result.ts";

const MAX_WRITES = 5;

/** Remarks of a result on what a confined command was kept from. */
export function blockedNotes(blocked: readonly Blocked[]): Note[] {
  const missed = blocked.filter((one) => one.kind !== "aside");
  const moved = blocked.filter((one) => one.kind === "aside");
  const names = missed.map((one) => (one.kind === "host" ? `${one.host}:${one.port} (host)` : `${one.path} (write)`));
  const asides = moved.map(({ path, to }) => `${path} to ${to}`);
  const notes: Note[] = [];
  if (missed.length > 0)
    notes.push([
      `Blocked by confinement: ${names.join(", ")}. To ask the person for it, run the same command again.`,
      reason("was-blocked", { blocked: missed }),
    ]);
  if (moved.length > 0)
    notes.push([
      `Other programs obey files of these names, so they were moved aside: ${asides.join(", ")}. To make one, use Write, which asks.`,
      reason("moved-aside", { moved }),
    ]);
  return notes;
}

export function notConfined(problem: string): ToolProblem {
  return { text: `Not run: it could not be confined: ${problem}`, why: reason("not-confined", { problem }) };
}

/** Linux tells nobody about refused writes, so they are read from the output: a hint for words, never a reason to allow anything. */
export function withWrites(blocked: readonly Blocked[], output: string): Blocked[] {
  const found = new Set<string>();
  for (const line of output.split("\n").slice(-200)) {
    if (!/read-only file system|EROFS|Errno 30/i.test(line)) continue;
    for (const [, single, double, bare] of line.matchAll(/'(\/[^']+)'|"(\/[^"]+)"|(?:^|[\s:=(])(\/[^\s:'"),]+)/g)) {
      const path = single ?? double ?? bare ?? "";
      if (found.size < MAX_WRITES && path.length < 1_000) found.add(path.replace(/[.,:]+$/, ""));
    }
  }
  return [...blocked, ...[...found].map((path) => ({ kind: "write" as const, path }))];
}
