import { sageHome } from "../../../config/home/home.ts";
import { deleteSession } from "../../../archive/sessions.ts";
import { clipped } from "../../../view/lines/safe.ts";
import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { exitCodes } from "../../process/exit-codes.ts";
import { sessionBy } from "../../../view/find-session.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { person } from "../../host/account.ts";
import { agrees, engineFlag, openJournal } from "../../host/journal.ts";
import { titleOf } from "../../../view/items/summary.ts";

export async function deleteSessions(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { yes: { type: "boolean" }, ...engineFlag });
  const w = sessionTexts(lang);
  if (positionals.length === 0) throw usage(w.which("delete"));
  const home = sageHome(process.env);
  const { host, store } = await openJournal(values, { lang });
  try {
    const chosen = [
      ...new Map(positionals.map((one) => sessionBy(store.sessions(), one)).map((one) => [one.id, one])).values(),
    ];
    console.log(w.deleteWhat(chosen.map((one) => `  ${one.id}  ${clipped(titleOf(one), 80)}`)));
    if (!values.yes && !(await agrees(w.deleteAsk))) throw usage(w.deleteHow);
    const waiting = chosen.reduce((n, { pending }) => n + pending, 0);
    for (const { id } of chosen) await deleteSession(store, home, id, { by: person(), surface: "cli" });
    if (waiting > 0) console.log(w.cancelled(waiting));
    console.log(w.deleted(chosen.length));
    return exitCodes.success;
  } finally {
    await host.close();
  }
}
