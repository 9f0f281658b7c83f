import type { SessionSummary } from "../../../protocol/host/host.ts";
import { slashTexts } from "../../../texts/surfaces/slash.ts";
import { helpLines } from "../../../view/slash/read.ts";
import { button, card, line, markdown, note, short, type Card } from "./card.ts";
import { inline, timeTag, words as escaped } from "./escape.ts";
import { inEachLanguage, type Speeches } from "./speech.ts";

const MAX_SESSIONS = 10;

/** `ridOf` gives the id under which the bridge finds a session again. */
export function sessionsCard(
  sessions: readonly SessionSummary[],
  { now, current, ridOf }: { now: number; current?: string | undefined; ridOf(session: string): string },
  speeches: Speeches,
): Card {
  const shown = sessions
    .slice(0, MAX_SESSIONS)
    .map((session) => ({ ...session, rid: session.id === current ? "" : ridOf(session.id) }));
  const more = sessions.length - shown.length;
  return inEachLanguage(speeches, ({ t }) =>
    card({ title: t.sessionsTitle, template: "blue", summary: t.sessionsTitle }, [
      ...(shown.length === 0 ? [markdown(escaped(t.noSessions))] : []),
      ...shown.flatMap(({ id, title, cwd, state, lastAt, rid }, n) => [
        ...(n > 0 ? [line()] : []),
        markdown(
          `${id === current ? "● " : ""}**${escaped(short(title.trim() === "" ? t.untitled : title, 80))}**<br>${inline(id)} · ${escaped(t.sessionState[state])} · ${timeTag(lastAt, now)}<br>${inline(cwd)}`,
        ),
        ...(id === current
          ? []
          : [
              button({
                id: `go_${n}`,
                text: t.goOn,
                type: "primary_text",
                value: { k: "run", rid, act: "resume", g: 1 },
              }),
            ]),
      ]),
      ...(more > 0 ? [note(escaped(t.moreSessions(more)))] : []),
    ]),
  );
}

export function helpCard(speeches: Speeches): Card {
  return inEachLanguage(speeches, ({ lang, t }) => {
    const lines = helpLines({ place: "feishu" }, slashTexts(lang)).map(escaped);
    return card({ title: t.helpTitle, template: "blue", summary: t.helpTitle }, [
      ...t.help.map((line) => markdown(escaped(line))),
      markdown(lines.join("<br>")),
    ]);
  });
}
