import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { exportsIn } from "../../../config/files/git-ignore.ts";
import { tasksIn } from "../../../protocol/facts/session.ts";
import { ask, factsOf } from "../../../protocol/host/refusal.ts";
import type { TerminalActs } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { slashTexts } from "../../../texts/surfaces/slash.ts";
import { openLike } from "../../../view/slash/run.ts";
import { senderAt, findSession, type HostClient } from "../../host/host-client.ts";
import { pickSession } from "../../record/sessions/pick-session.ts";
import { ownRedaction } from "../../host/redaction.ts";
import { pickModel, pickRule } from "./pick.ts";
import { rewind } from "./rewind.ts";

/** Commands of a screen that need more than a surface knows. */
export function terminalActs(seat: HostClient, session: string, lang: Lang): TerminalActs {
  const { host, here } = seat;
  const w = slashTexts(lang);
  const text = (act: (args: string) => Promise<string>) => async (args: string) => ({ text: await act(args) });
  const goTo = async (id: string) => {
    await seat.ready(id);
    return { session: id };
  };
  const resume = async (args: string) => {
    const folder = (await findSession(host, session))?.cwd;
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
      const opened = await openLike({ id: session, send: host.send }, { byName: here === undefined });
      if (task !== "") await ask(host, { type: "say", session: opened, text: task, ...senderAt(seat, "tui") });
      return { session: opened };
    },
    model: async () => ({ pick: pickModel(seat, session, lang) }),
    permissions: async () => ({ pick: pickRule(seat, session, lang) }),
    rewind: (args) => rewind(seat, session, args, lang),
    // Its commands are processes of the machine that started them.
    tasks: here && text(tasks),
    export: text(exports),
  };
}

/** Commands that need the files or the processes of this machine, as text. */
export function fileActs({ host, cwd, here }: HostClient, session: string, lang: Lang) {
  return {
    async tasks(args: string): Promise<string> {
      const { tasksText } = await import("../../tasks/task-lines.ts");
      return tasksText(tasksIn(await factsOf(host, session)).tasks, args, lang);
    },
    async exports(args: string): Promise<string> {
      const { exportLines } = await import("../../record/page/export-lines.ts");
      const { writeLines } = await import("../../../archive/trajectory.ts");
      const w = slashTexts(lang);
      const row = await findSession(host, session);
      const folder = here ? exportsIn(here.config.trust.root) : cwd;
      const path = args === "" ? free(folder, session) : resolve(cwd, args);
      if (!row || existsSync(path)) throw new Error(w.exists(path));
      const format = path.endsWith(".jsonl") ? "jsonl" : "html";
      const facts = await factsOf(host, session);
      writeLines(path, exportLines(facts, row, { format, redaction: ownRedaction(process.env), lang }));
      return w.exported(path);
    },
  };
}

function free(folder: string, session: string): string {
  for (let n = 1; ; n++) {
    const path = join(folder, `sage-${session}${n > 1 ? `-${n}` : ""}.html`);
    if (!existsSync(path)) return path;
  }
}
