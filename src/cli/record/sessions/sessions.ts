import { succeed, exitCodes } from "../../process/stdout.ts";
import { ask } from "../../../protocol/host/refusal.ts";
import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { langOf, readFlags, runAction, type Actions, usage } from "../../process/flags.ts";
import { oneLine } from "../../../base/visible.ts";
import { sessionBy } from "../../../view/find-session.ts";
import { agrees, engineFlag, openJournal, person } from "../../host/journal.ts";
import { sageHome } from "../../../config/home/home.ts";
import { deleteSession } from "../../../archive/sessions.ts";
import { clipped } from "../../../view/lines/safe.ts";
import { titleOf } from "../../../view/items/summary.ts";

const actions: Actions = {
  list: async () => (await import("./list.ts")).list,
  rename: async () => rename,
  fork: async () => fork,
  delete: async () => deleteSessions,
  gc: async () => (await import("./gc.ts")).gc,
};

/** `sage sessions …`: what there is, and keeping it in order. */
export async function sessions(args: string[]): Promise<number> {
  const lists = args[0] === undefined || args[0].startsWith("-");
  return runAction(actions, lists ? ["list", ...args] : args, () => sessionTexts(langOf(args)).usage);
}

async function rename(args: string[]): Promise<number> {
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

async function fork(args: string[]): Promise<number> {
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
  return succeed(w.goOn(id));
}

async function deleteSessions(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { yes: { type: "boolean" }, ...engineFlag });
  const w = sessionTexts(lang);
  if (positionals.length === 0) throw usage(w.which("delete"));
  const home = sageHome(process.env);
  const { host, store } = await openJournal(values, { lang });
  try {
    const chosen = [
      ...new Map(
        positionals.map((target) => sessionBy(store.sessions(), target)).map((session) => [session.id, session]),
      ).values(),
    ];
    console.log(w.deleteWhat(chosen.map((session) => `  ${session.id}  ${clipped(titleOf(session), 80)}`)));
    if (!values.yes && !(await agrees(w.deleteAsk))) throw usage(w.deleteHow);
    const waiting = chosen.reduce((n, { pending }) => n + pending, 0);
    for (const { id } of chosen) await deleteSession(store, home, id, { by: person(), surface: "cli" });
    if (waiting > 0) console.log(w.cancelled(waiting));
    return succeed(w.deleted(chosen.length));
  } finally {
    await host.close();
  }
}
