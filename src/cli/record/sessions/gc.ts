import type { Store } from "../../../journal/store/store.ts";
import { workspacesOf, type Home, readInstallation } from "../../../config/home/home.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import type { Lang } from "../../../texts/language.ts";
import { SageError } from "../../../protocol/reasons/reason.ts";
import { collectOutput } from "../../../archive/output.ts";
import { deleteSession } from "../../../archive/sessions.ts";
import { sessionTexts, type SessionTexts } from "../../../texts/commands/sessions.ts";
import { exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly } from "../../process/flags.ts";
import { engineFlag, openJournal } from "../../host/journal.ts";
import { applyRetention } from "./retention.ts";

const DAY_MS = 86_400_000;

/** Removes what nobody can miss, and tells what. */
export async function gc(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("sessions gc", args, { "dry-run": { type: "boolean" }, ...engineFlag });
  const w = sessionTexts(lang);
  const dryRun = values["dry-run"] === true;
  const installation = readInstallation(process.env);
  const { home } = installation;
  await using journal = await openJournal(values, { lang });
  const { host, store } = journal;
  if (!dryRun) await applyRetention(store, installation, lang);
  const unused = store
    .sessions()
    .filter(({ title, owned, open, lastAt }) => title === "" && !owned && !open && Date.now() - lastAt > DAY_MS);
  if (!dryRun) for (const { id } of unused) await deleteSession(store, home, id, { by: "gc", surface: "cli" });
  if (unused.length > 0) console.log(w.empty(unused.length));
  // Files of a shared journal's sessions lie at their places.
  const { files, bytes } = store.shared ? { files: 0, bytes: 0 } : await collectOutput(store, home.output, { dryRun });
  if (files > 0) console.log(w.output(files, bytes));
  const clones = store.shared ? await removeClones(store, home, { dryRun, lang }) : 0;
  if (unused.length === 0 && files === 0 && clones === 0) console.log(w.nothingToRemove);
  if (dryRun) console.log(w.dryRun);
  else for (const line of await shrunk(store, w)) console.log(line);
  await host.close();
  return exitCodes.success;
}

/** Clones that were made on this machine; each place has its own. */
async function removeClones(store: Store, home: Home, { dryRun, lang }: { dryRun: boolean; lang: Lang }) {
  const { collectClones } = await import("../../../host/clone-remains.ts");
  const signal = new AbortController().signal;
  const { removed, kept } = await collectClones(store, {
    folder: workspacesOf(home),
    env: process.env,
    signal,
    dryRun,
  });
  const t = clusterTexts(lang);
  if (removed.length > 0) console.log(t.clonesRemoved(removed.length));
  for (const path of kept) console.log(t.cloneKept(path));
  return removed.length + kept.length;
}

async function shrunk(store: Store, w: SessionTexts): Promise<string[]> {
  // Nobody can write in the meantime, possibly for longer than a turn elsewhere would wait.
  if (!store.shared && store.sessions().some(({ owned }) => owned)) return [w.busy];
  try {
    const sizes = await store.housekeeping.shrink();
    return sizes ? [w.journal(sizes.before, sizes.after)] : [];
  } catch (error) {
    if (error instanceof SageError && error.code === "journal-locked") return [w.busy];
    throw error;
  }
}
