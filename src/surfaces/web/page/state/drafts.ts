import { attempt } from "../../../../base/attempt.ts";
import type { Draft } from "../../../../protocol/facts/request.ts";

/** Rest after the last letter before a draft is saved, and the least time between two: each one is written to disk. */
const REST_MS = 2_000;
const LEAST_MS = 3_000;

/** Timers, and a place of this browser for what cannot be sent now. Tests bring their own. */
export type Timing = { now(): number; later(ms: number, act: () => void): () => void };
export type Shelf = {
  get(name: string): string | undefined;
  put(name: string, value: string | undefined): void;
  names(): string[];
};

const PREFIX = "sage.draft.";

/** Saves half-written answers so that every surface has them: after a rest, when the person leaves the field, and on return from a gap. */
export function createDrafts({
  save,
  away,
  shelf,
  timing,
}: {
  save(requestId: string, draft: Draft): void;
  away(): boolean;
  shelf: Shelf;
  timing: Timing;
}) {
  const waiting = new Map<string, { draft: Draft; stop?: () => void }>();
  const sentAt = new Map<string, number>();
  const told = new Map<string, string>();

  const flush = (id: string): void => {
    const entry = waiting.get(id);
    if (!entry) return;
    entry.stop?.();
    const wait = (sentAt.get(id) ?? -Infinity) + LEAST_MS - timing.now();
    if (wait > 0) return void (entry.stop = timing.later(wait, () => flush(id)));
    waiting.delete(id);
    const text = JSON.stringify(entry.draft);
    if (text === told.get(id)) return;
    if (away()) return shelf.put(PREFIX + id, text);
    shelf.put(PREFIX + id, undefined);
    told.set(id, text);
    sentAt.set(id, timing.now());
    save(id, entry.draft);
  };

  return {
    changed(id: string, draft: Draft): void {
      waiting.get(id)?.stop?.();
      waiting.set(id, { draft, stop: timing.later(REST_MS, () => flush(id)) });
      if (away()) shelf.put(PREFIX + id, JSON.stringify(draft));
    },
    left: flush,
    /** It was answered, or ended otherwise. */
    forget(id: string): void {
      waiting.get(id)?.stop?.();
      waiting.delete(id);
      shelf.put(PREFIX + id, undefined);
    },
    /** The connection is back: save drafts written in the meantime, and drop those of ended requests. */
    back(open: ReadonlySet<string>): void {
      for (const name of shelf.names().filter((name) => name.startsWith(PREFIX))) {
        const id = name.slice(PREFIX.length);
        const draft = open.has(id) ? parsed(shelf.get(name)) : undefined;
        shelf.put(name, undefined);
        if (!draft || waiting.has(id)) continue;
        waiting.set(id, { draft });
        flush(id);
      }
      for (const id of [...waiting.keys()]) flush(id);
    },
    /** A draft that was written here while nothing could be sent. */
    kept: (id: string): Draft | undefined => parsed(shelf.get(PREFIX + id)),
    /** Is this draft the one that was sent from here? */
    isOwn: (id: string, draft: Draft): boolean => told.get(id) === JSON.stringify(draft),
    /** Something is written that nobody else has yet. */
    unsaved: (): boolean => waiting.size > 0,
  };
}

export type Drafts = ReturnType<typeof createDrafts>;

function parsed(text: string | undefined): Draft | undefined {
  return attempt(() => (text === undefined ? undefined : (JSON.parse(text) as Draft)));
}
