import type { Store } from "../../../journal/store.ts";
import { oneLine, textOf, type SessionSummary } from "../../../protocol/index.ts";
import { clipped } from "../../../view/lines/safe.ts";
import { hostsTexts } from "../../../texts/hosts.ts";
import { sessionTexts } from "../../../texts/sessions.ts";
import { texts } from "../../../texts/texts.ts";
import { exitCodes } from "../../exit-codes.ts";
import { noWords, readFlags, usage } from "../../flags.ts";
import { hostFlag, openHost } from "../../host-flag.ts";
import { ask } from "../../journal.ts";
import { applyRetention } from "../../retention.ts";
import { readInstallation } from "../../../config/installation.ts";
import { toStdout } from "../../stdout.ts";
import { titleOf } from "../../../view/summary.ts";

const options = { json: { type: "boolean" }, search: { type: "string" }, ...hostFlag } as const;

const spoken = ["user.said", "model.replied", "session.titled"] as const;

export async function list(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  noWords("sessions list", positionals, t);
  const { host, local } = await openHost(values, { lang, looks: true });
  if (local) await applyRetention(local.store, readInstallation(process.env), lang);
  const all = (await ask(host, { type: "sessions" })).sessions;
  const { search } = values;
  if (search !== undefined && !local) throw usage(hostsTexts(lang).notWith("--search"));
  const where = search === undefined || !local ? undefined : new Map(found(local.store, search));
  await host.close();
  const shown = all.filter(({ id, title }) => (where ? where.has(id) : title !== "" || values.json));
  if (values.json) {
    toStdout(`${JSON.stringify(shown, undefined, 2)}\n`);
    return exitCodes.success;
  }
  if (shown.length === 0)
    console.log(search === undefined ? t.noSessions : sessionTexts(lang).nothingFound(oneLine(search)));
  const { duration } = texts(lang);
  const state = (one: SessionSummary) => `${t.states[one.state]}${one.pending > 0 ? ` (${one.pending})` : ""}`;
  for (const one of shown) {
    console.log(
      `${one.id}  ${state(one)}  ${t.ago(duration(Math.max(1_000, Date.now() - one.lastAt)))}  ${oneLine(one.cwd)}`,
    );
    console.log(`    ${clipped(titleOf(one), 100)}`);
    const place = where?.get(one.id);
    if (place !== undefined && !oneLine(titleOf(one)).includes(place)) console.log(`    … ${place} …`);
  }
  return exitCodes.success;
}

/** The sessions in which it was said, each with the words around it. */
function found(store: Store, text: string): [session: string, around: string][] {
  return store.housekeeping.search(text, spoken).map(({ session, seq }) => {
    const [fact] = store.since(session, seq - 1);
    const said =
      fact?.type === "user.said"
        ? fact.data.text
        : fact?.type === "model.replied"
          ? textOf(fact.data) || JSON.stringify(fact.data.parts)
          : fact?.type === "session.titled"
            ? fact.data.title
            : "";
    const at = Math.max(0, said.toLowerCase().indexOf(text.toLowerCase()));
    return [session, oneLine(said.slice(Math.max(0, at - 30), at + text.length + 50).toWellFormed())];
  });
}
