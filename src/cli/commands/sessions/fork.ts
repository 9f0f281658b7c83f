import { forkSession } from "../../../archive/sessions.ts";
import { sessionTexts } from "../../../texts/sessions.ts";
import { exitCodes } from "../../exit-codes.ts";
import { sessionBy } from "../../find-session.ts";
import { readFlags, usage } from "../../flags.ts";
import { person } from "../../account.ts";
import { openJournal } from "../../journal.ts";

export async function fork(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, { at: { type: "string" } });
  const w = sessionTexts(lang);
  const [target, stray] = positionals;
  if (target === undefined || stray !== undefined) throw usage(w.which("fork"));
  const { host, store, home } = openJournal(process.env);
  const source = sessionBy(store, target, t);
  const id = await forkSession(store, source.id, values.at, { by: person(), surface: "cli", output: home.output });
  await host.close();
  console.log(w.forked(id, source.id));
  console.log(w.goOn(id));
  return exitCodes.success;
}
