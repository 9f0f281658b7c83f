import { homedir } from "node:os";
import { sageHome } from "../../../config/home/home.ts";
import { oneLine } from "../../../base/visible.ts";
import type { SessionSummary } from "../../../protocol/host/host.ts";
import { isOutsideSession } from "../../../protocol/host/outside.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import type { Picking } from "../../../surfaces/terminal/index.ts";
import { cliTexts } from "../../../texts/commands/cli.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import type { Lang } from "../../../texts/language.ts";
import { pickerTexts } from "../../../texts/surfaces/picker.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { titleOf } from "../../../view/items/summary.ts";
import { usage } from "../../process/flags.ts";

/** Asks the person which session to continue, on a screen; elsewhere says which there are. Null where they chose none. */
export async function chooseSession(
  sessions: readonly SessionSummary[],
  { cwd, lang, screen }: { cwd: string | undefined; lang: Lang; screen: boolean },
): Promise<string | null> {
  const { env } = process;
  const named = sessions.filter(({ id, title }) => title !== "" && !isOutsideSession(id));
  const latest = named.toSorted((a, b) => Number(b.cwd === cwd) - Number(a.cwd === cwd) || b.lastAt - a.lastAt);
  if (latest.length === 0) throw new SageError("session-unknown", said(cliTexts(lang).noSessions));
  if (!screen) {
    const lines = latest.slice(0, 10).map((session) => `${session.id}  ${oneLine(titleOf(session)).slice(0, 60)}`);
    throw usage(pickerTexts(lang).needsId(lines));
  }
  const { pickAlone } = await import("../../../surfaces/terminal/index.ts");
  const picking = pickSession(latest, lang, async ({ value }) => ({ session: value }));
  const picked = await pickAlone(picking, { lang, env, logDirectory: sageHome(env).dir });
  return picked && "session" in picked ? picked.session : null;
}

/** Sessions to continue: title, state, age, folder and id. */
export function pickSession(
  sessions: readonly SessionSummary[],
  lang: Lang,
  choose: NonNullable<Picking["choose"]>,
): Picking {
  const t = cliTexts(lang);
  const { age } = texts(lang);
  const entries = sessions.map((session) => ({
    value: session.id,
    label: oneLine(titleOf(session)),
    detail: [
      ...(session.state === "idle" ? [] : [sessionStateText(session, lang)]),
      t.ago(age(Date.now() - session.lastAt)),
      oneLine(shortFolder(session.cwd)),
      session.id,
    ].join(" · "),
  }));
  return { title: pickerTexts(lang).sessions, load: (show) => show({ entries }), choose };
}

/** The state of a session in words. One of a shared journal that nothing runs is taken up by a worker. */
export function sessionStateText({ state, place }: SessionSummary, lang: Lang): string {
  return place && state === "stopped" ? clusterTexts(lang).forWorker : cliTexts(lang).states[state];
}

function shortFolder(folder: string): string {
  const home = homedir();
  return folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}
