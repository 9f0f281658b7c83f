import { ask } from "../../../protocol/host/refusal.ts";
import type { Store } from "../../../journal/store/store.ts";
import { oneLine } from "../../../base/visible.ts";
import { textOf } from "../../../protocol/facts/message.ts";
import type { SessionSummary } from "../../../protocol/host/host.ts";
import { clipped, fitted } from "../../../view/lines/safe.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import { hostsTexts } from "../../../texts/serve/hosts.ts";
import { sessionTexts } from "../../../texts/commands/sessions.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { styleOf, printJson, exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly, usage } from "../../process/flags.ts";
import { hostFlag, openHost } from "../../host/open-host.ts";
import { applyRetention } from "./retention.ts";
import { readInstallation } from "../../../config/home/home.ts";
import { titleOf } from "../../../view/items/summary.ts";
import { sessionStateText } from "./pick-session.ts";

const options = { json: { type: "boolean" }, search: { type: "string" }, ...hostFlag } as const;

const spoken = ["user.said", "model.replied", "session.titled"] as const;

export async function list(args: string[]): Promise<number> {
  const { values, lang, t } = readFlagsOnly("sessions list", args, options);
  await using opened = await openHost(values, { lang, looks: true });
  const { host, store, local } = opened;
  if (local) await applyRetention(local.store, readInstallation(process.env), lang);
  const all = (await ask(host, { type: "sessions" })).sessions;
  const { search } = values;
  if (search !== undefined && !store) throw usage(hostsTexts(lang).notWith("--search"));
  const where = search === undefined || !store ? undefined : new Map(await found(store, search));
  await host.close();
  const shown = all.filter(({ id, title }) => (where ? where.has(id) : title !== "" || values.json));
  if (values.json) return printJson(shown);
  if (shown.length === 0)
    console.log(search === undefined ? t.noSessions : sessionTexts(lang).nothingFound(oneLine(search)));
  const { age } = texts(lang);
  const w = clusterTexts(lang);
  const state = (session: SessionSummary) =>
    `${sessionStateText(session, lang)}${session.pending > 0 ? ` (${session.pending})` : ""}`;
  const at = ({ place, state: now }: SessionSummary) =>
    place ? `${place.works || now !== "waiting" ? w.atPlace(place.name) : w.waitsFor(place.name)}  ` : "";
  const { width } = styleOf(process.stdout, lang);
  for (const session of shown) {
    const line = `${session.id}  ${state(session)}  ${t.ago(age(Date.now() - session.lastAt))}  ${at(session)}${oneLine(session.cwd)}`;
    console.log(fitted([line], width).join("\n"));
    console.log(`    ${clipped(titleOf(session), Math.min(100, (width ?? 104) - 4))}`);
    const place = where?.get(session.id);
    if (place !== undefined && !oneLine(titleOf(session)).includes(place)) console.log(`    … ${place} …`);
  }
  return exitCodes.success;
}

/** Sessions that contain the text, each with its context. */
async function found(store: Store, text: string): Promise<[session: string, around: string][]> {
  const all: [session: string, around: string][] = [];
  for (const { session, seq } of await store.housekeeping.search(text, spoken)) {
    const [fact] = await store.read(session, { after: seq - 1, limit: 1 });
    const said =
      fact?.type === "user.said"
        ? fact.data.text
        : fact?.type === "model.replied"
          ? textOf(fact.data) || JSON.stringify(fact.data.parts)
          : fact?.type === "session.titled"
            ? fact.data.title
            : "";
    const at = Math.max(0, said.toLowerCase().indexOf(text.toLowerCase()));
    all.push([session, oneLine(said.slice(Math.max(0, at - 30), at + text.length + 50).toWellFormed())]);
  }
  return all;
}
