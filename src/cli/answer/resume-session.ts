import { ask } from "../../protocol/host/refusal.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { readInstallation } from "../../config/home/home.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import type { Lang } from "../../texts/language.ts";
import { sessionFolder } from "../../host/assembly/session-folder.ts";
import { absoluteModelSpec, guestChoice, modelOf, modelOfSession } from "../../host/assembly/model-choice.ts";
import { type Sage, chooseModel, openSage } from "../assemble/open-sage.ts";
import type { Host, Place } from "../../protocol/host/host.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import type { Opened } from "../host/open-host.ts";

/** A Sage that continues a session until a person is needed. The caller closes its host. */
export async function openToResume(
  store: Store,
  { id, cwd }: SessionRow,
  { model, lang }: { model: string | undefined; lang: Lang },
): Promise<Sage> {
  sessionFolder({ id, cwd });
  const installation = readInstallation(process.env);
  const guest = store.opened(id)?.agent;
  const choice =
    guest === undefined
      ? modelOf(installation, absoluteModelSpec(model) ?? modelOfSession(store, id))
      : guestChoice(guest);
  if (!choice) throw new SageError("config-invalid", said(cliTexts(lang).noModel));
  const options = { mode: { type: "batch" } } as const;
  const sage = await openSage({ installation, choice, store, cwd, lang, permissionMode: "default", options });
  await chooseModel(sage, id, model);
  return sage;
}

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
  const place = await sessionPlace(host, session);
  if (!place) return t.takenUp;
  return place.works ? w.goesOnAt(place.name) : w.goesOnOnce(place.name);
}

export async function sessionPlace(host: Host, session: string): Promise<Place | undefined> {
  return (await ask(host, { type: "sessions", session })).sessions[0]?.place;
}
