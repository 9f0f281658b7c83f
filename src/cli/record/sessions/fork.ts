import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { exitCodes } from "../../process/exit-codes.ts";
import { sessionBy } from "../../../view/find-session.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { person } from "../../host/account.ts";
import { engineFlag, openJournal } from "../../host/journal.ts";
import { ask } from "../../../protocol/host/refusal.ts";

export async function fork(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { at: { type: "string" }, ...engineFlag });
  const w = sessionTexts(lang);
  const [target, stray] = positionals;
  if (target === undefined || stray !== undefined) throw usage(w.which("fork"));
  await using journal = await openJournal(values, { lang });
  const { host, store } = journal;
  const source = sessionBy(store.sessions(), target);
  const sender = { by: person(), surface: "cli" };
  const at = values.at === undefined ? {} : { at: values.at };
  const { session: id } = await ask(host, { type: "fork", session: source.id, ...at, ...sender });
  await host.close();
  console.log(w.forked(id, source.id));
  console.log(w.goOn(id));
  return exitCodes.success;
}
