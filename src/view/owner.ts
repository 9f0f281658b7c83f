import type { Lang } from "../texts/language.ts";
import { ownerTexts } from "../texts/surfaces/owner.ts";
import { texts } from "../texts/shared/texts.ts";
import type { Note } from "./note.ts";

/** Notice for the person when the connection to a host that is elsewhere is lost, and when it is back. */
export function linkNote({ lost }: { lost: boolean }, lang: Lang): Note {
  const t = ownerTexts(lang);
  return lost ? { tone: "warn", line: t.lost } : { tone: "dim", line: t.back };
}

export type Owner = { live: boolean; stopped: boolean };

/**
 * Notice for the person when the process that runs the session changes. `live` is how it was before; `busy` says whether
 * anything was under way. A paused turn has said so itself.
 */
export function ownerNote(
  owner: Owner,
  { live, busy, lang }: { live: boolean; busy: boolean; lang: Lang },
): Note | undefined {
  const t = ownerTexts(lang);
  if (owner.stopped) return busy ? { tone: "warn", line: t.stopped } : undefined;
  if (owner.live === live) return undefined;
  return { tone: "dim", line: owner.live ? t.live : texts(lang).facts };
}
