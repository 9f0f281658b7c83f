import { ask } from "../../../protocol/host/ask.ts";
import type { TerminalActs } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { slashTexts } from "../../../texts/surfaces/slash.ts";
import { openLike } from "../../../view/slash/outcome.ts";
import { senderAt, sessionOf, type Seat } from "../../host/host-client.ts";
import { pickSession } from "../../record/sessions/pick-session.ts";
import { fileActs } from "../file-acts.ts";
import { pickModel, pickRule } from "./pick.ts";
import { rewind } from "./rewind.ts";

/** Commands of a screen that need more than a surface knows. */
export function terminalActs(seat: Seat, session: string, lang: Lang): TerminalActs {
  const { host, here } = seat;
  const w = slashTexts(lang);
  const text = (act: ((args: string) => Promise<string>) | undefined) =>
    act && (async (args: string) => ({ text: await act(args) }));
  const goTo = async (id: string) => {
    await seat.ready(id);
    return { session: id };
  };
  const resume = async (args: string) => {
    const folder = (await sessionOf(host, session))?.cwd;
    const { sessions } = await ask(host, { type: "sessions" });
    const found = sessions
      .filter(({ id, cwd, title }) => cwd === folder && title !== "" && id !== session && id.startsWith(args))
      .toSorted((a, b) => b.lastAt - a.lastAt);
    const [first, ...more] = found;
    if (!first) return { text: args === "" ? w.noOtherSessions : w.noSuchSession(args) };
    if (args === "" || more.length > 0) return { pick: pickSession(found, lang, ({ value }) => goTo(value)) };
    return goTo(first.id);
  };
  const { tasks, exports } = fileActs(seat, session, lang);
  return {
    resume,
    sessions: () => resume(""),
    async new(task) {
      const opened = await openLike({ host, session }, { byName: here === undefined });
      if (task !== "") await ask(host, { type: "say", session: opened, text: task, ...senderAt(seat, "tui") });
      return { session: opened };
    },
    model: async () => ({ pick: pickModel(seat, session, lang) }),
    permissions: async () => ({ pick: pickRule(seat, session, lang) }),
    rewind: (args) => rewind(seat, session, args, lang),
    tasks: text(tasks),
    export: text(exports),
  };
}
