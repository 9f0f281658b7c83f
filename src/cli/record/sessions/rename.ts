import { oneLine } from "../../../base/visible.ts";
import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { exitCodes } from "../../process/exit-codes.ts";
import { sessionBy } from "../../../view/find-session.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { person } from "../../host/account.ts";
import { engineFlag, openJournal } from "../../host/journal.ts";
import { ask } from "../../../protocol/host/refusal.ts";

export async function rename(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, engineFlag);
  const w = sessionTexts(lang);
  const [target, ...words] = positionals;
  if (target === undefined) throw usage(w.which("rename"));
  if (words.length === 0) throw usage(w.noTitle);
  await using journal = await openJournal(values, { lang });
  const { host, store } = journal;
  const { id } = sessionBy(store.sessions(), target);
  await ask(host, { type: "rename", session: id, title: words.join(" "), by: person(), surface: "cli" });
  console.log(w.renamed(id, oneLine(store.session(id)?.title ?? "")));
  await host.close();
  return exitCodes.success;
}
