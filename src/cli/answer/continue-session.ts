import { ask } from "../../protocol/host/refusal.ts";
import type { Host, Place } from "../../protocol/host/host.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Lang } from "../../texts/language.ts";
import type { Opened } from "../host/open-host.ts";

/** Continues a session that was answered, where its host can do that, and says who continues it or what the person has to do. */
export async function continueAfterAnswer(
  { host, local, store }: Pick<Opened, "host" | "local" | "store">,
  { session, running }: { session: string; running: boolean },
  lang: Lang,
): Promise<string> {
  const t = cliTexts(lang);
  if (local) return running ? t.takenUp : t.nothingRuns(session);
  if (!running) await ask(host, { type: "resume", session });
  if (!store) return running ? t.takenUp : t.resumedThere;
  const w = clusterTexts(lang);
  const place = await placeOf(host, session);
  if (!place) return t.takenUp;
  return place.works ? w.goesOnAt(place.name) : w.goesOnOnce(place.name);
}

/** Place of a shared journal's session. */
export async function placeOf(host: Host, session: string): Promise<Place | undefined> {
  return (await ask(host, { type: "sessions", session })).sessions[0]?.place;
}
