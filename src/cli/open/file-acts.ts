import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { exportsIn } from "../../config/files/git-ignore.ts";
import { tasksIn } from "../../protocol/facts/session.ts";
import { factsOf } from "../../protocol/host/ask.ts";
import type { Lang } from "../../texts/language.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { sessionOf, type Seat } from "../host/host-client.ts";
import { ownRedaction } from "../host/redaction.ts";

/** Commands that need the files or the processes of this machine, as text. */
export function fileActs({ host, cwd, here }: Seat, session: string, lang: Lang) {
  return {
    // Its commands are processes of the machine that started them.
    tasks:
      here &&
      (async (args: string) => {
        const { tasksText } = await import("../tasks/task-lines.ts");
        return tasksText(tasksIn(await factsOf(host, session)).tasks, args, lang);
      }),
    async exports(args: string): Promise<string> {
      const { linesOf } = await import("../record/page/export-lines.ts");
      const { writeLines } = await import("../../archive/trajectory.ts");
      const w = slashTexts(lang);
      const row = await sessionOf(host, session);
      const folder = here ? exportsIn(here.config.trust.root) : cwd;
      const path = args === "" ? free(folder, session) : resolve(cwd, args);
      if (!row || existsSync(path)) throw new Error(w.exists(path));
      const format = path.endsWith(".jsonl") ? "jsonl" : "html";
      const facts = await factsOf(host, session);
      writeLines(path, linesOf(facts, row, { format, redaction: ownRedaction(process.env), lang }));
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
