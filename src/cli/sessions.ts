import type { SessionSummary } from "../protocol/index.ts";
import { clipped } from "../surfaces/plain/safe.ts";
import { texts } from "../texts/texts.ts";
import { exitCodes } from "./exit-codes.ts";
import { noWords, readFlags } from "./flags.ts";
import { ask, openJournal } from "./journal.ts";
import { titleOf } from "./title.ts";

export async function sessions(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, { json: { type: "boolean" } });
  noWords("sessions", positionals, t);
  const { host } = openJournal(process.env);
  const found = (await ask(host, { type: "sessions" })).sessions;
  await host.close();
  if (values.json) {
    console.log(JSON.stringify(found, undefined, 2));
    return exitCodes.success;
  }
  const started = found.filter(({ title }) => title !== "");
  if (started.length === 0) console.log(t.noSessions);
  const { duration } = texts(lang);
  const state = (one: SessionSummary) => `${t.states[one.state]}${one.pending > 0 ? ` (${one.pending})` : ""}`;
  for (const one of started) {
    console.log(`${one.id}  ${state(one)}  ${t.ago(duration(Math.max(1_000, Date.now() - one.lastAt)))}  ${one.cwd}`);
    console.log(`    ${clipped(titleOf(one), 100)}`);
  }
  return exitCodes.success;
}
