import type { Store } from "../../../journal/store/store.ts";
import type { Installation } from "../../../config/home/home.ts";
import { retain } from "../../../archive/sessions.ts";
import { ageMs } from "../../../config/settings/settings.ts";
import type { Lang } from "../../../texts/language.ts";
import { sessionTexts } from "../../../texts/commands/sessions.ts";

/** Removes old sessions as the person's settings say, when they start Sage; never behind their back. */
export async function applyRetention(
  store: Store,
  { home, settings: { retention } }: Installation,
  lang: Lang,
): Promise<void> {
  if (!retention) return;
  const w = sessionTexts(lang);
  const { removed, open, forgotten } = await retain(store, home, {
    sessions: ageMs(retention.sessions),
    receipts: ageMs(retention.receipts),
  });
  if (removed.length > 0) console.error(`sage: ${w.retained(removed.length)}`);
  if (removed.length > 0 && open.length > 0) console.error(`sage: ${w.keptOpen(open.map(({ id }) => id))}`);
  if (forgotten > 0) console.error(`sage: ${w.forgotten(forgotten)}`);
}
