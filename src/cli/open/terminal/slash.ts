import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Fact } from "../../../protocol/facts/fact.ts";
import { sessionRules, tasksIn } from "../../../protocol/facts/session.ts";
import type { Named } from "../../../protocol/host/about.ts";
import { ownRedaction } from "../../host/redaction.ts";
import { exportsIn } from "../../../config/files/git-ignore.ts";
import { writeLines } from "../../../archive/trajectory.ts";
import type { SlashCommand } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { terminalTexts, type TerminalTexts } from "../../../texts/surfaces/terminal.ts";
import { ask } from "../../host/journal.ts";
import { pickSession } from "../../record/sessions/pick-session.ts";
import { factsOf, senderAt, sessionOf, type HostClient } from "../../host/host-client.ts";
import { pickModel, pickRule } from "./pick.ts";
import { rewind } from "./rewind.ts";
import { dollars, spentOf } from "../../../view/items/summary.ts";

/** Slash commands that need more than a surface knows. */
export function slashCommands(seat: HostClient, session: string, lang: Lang): SlashCommand[] {
  const { host, cwd, here } = seat;
  const tt = terminalTexts(lang);
  const sender = senderAt(seat, "tui");
  const text = (lines: readonly string[], none: string) => ({ text: lines.length > 0 ? lines.join("\n") : none });
  const listed = (all: readonly Named[] = [], slash = "") =>
    all.map(({ name, description }) => `${slash}${name}: ${description}`);
  const about = async () => (await ask(host, { type: "about", session })).session;
  const others = async (fits: (id: string) => boolean) => {
    const folder = (await sessionOf(host, session))?.cwd;
    const { sessions } = await ask(host, { type: "sessions" });
    return sessions
      .filter(({ id, ...one }) => one.cwd === folder && one.title !== "" && id !== session && fits(id))
      .toSorted((a, b) => b.lastAt - a.lastAt);
  };
  const goTo = async (id: string) => {
    await seat.ready(id);
    return { session: id };
  };
  const runs: Record<string, SlashCommand["run"]> = {
    model: async (args) => {
      if (args === "") return { pick: pickModel(seat, session, lang) };
      await ask(host, { type: "choose", session, model: args, checked: true, ...sender });
      return undefined; // that it was chosen is a fact, which every surface shows
    },
    permissions: async (args) => {
      const rule = /^remove\s+(.+)$/.exec(args)?.[1];
      if (rule === undefined) return { pick: pickRule(seat, session, lang) };
      const given = sessionRules(await factsOf(host, session));
      if (!given.some((one) => one.text === rule)) return { text: tt.noSuchRule(rule) };
      await ask(host, { type: "removeRule", session, rule, destination: "session", ...sender });
      return undefined; // that it was taken back is a fact, which every surface shows
    },
    agents: async () => text(listed((await about())?.subagents), tt.noAgents),
    skills: async () => text(listed((await about())?.skills, "/"), tt.noSkills),
    // Its commands are processes of the machine that started them.
    ...(here && {
      tasks: async (args) => {
        const { tasksText } = await import("../../tasks/task-lines.ts");
        return { text: await tasksText(tasksIn(await factsOf(host, session)).tasks, args, lang) };
      },
    }),
    rewind: async (args) => rewind(seat, session, args.split(/\s+/).filter(Boolean), lang),
    cost: async () => ({ text: costLine(await factsOf(host, session), tt) }),
    export: async (args) => {
      const { linesOf } = await import("../../record/page/export-lines.ts");
      const row = await sessionOf(host, session);
      const folder = here ? exportsIn(here.config.trust.root) : cwd;
      const path = args === "" ? free(folder, session) : resolve(cwd, args);
      if (!row || existsSync(path)) throw new Error(tt.exists(path));
      const format = path.endsWith(".jsonl") ? "jsonl" : "html";
      const facts = await factsOf(host, session);
      writeLines(path, linesOf(facts, row, { format, redaction: ownRedaction(process.env), lang }));
      return { text: tt.exported(path) };
    },
    clear: async () => {
      const { session: told, folders } = await ask(host, { type: "about", session });
      const model = told?.chosen === undefined ? {} : { model: told.chosen };
      const path = told?.cwd ?? cwd;
      // From elsewhere a folder is called by its name.
      const folder = here ? path : (folders.find((one) => one.cwd === path)?.name ?? path);
      return { session: (await ask(host, { type: "open", cwd: folder, ...model })).session };
    },
    resume: async (args) => {
      const found = await others((id) => id.startsWith(args));
      const [one, ...more] = found;
      if (!one) return { text: args === "" ? tt.noSessions : tt.noSuchSession(args) };
      if (args === "" || more.length > 0) return { pick: pickSession(found, lang, ({ value }) => goTo(value)) };
      return goTo(one.id);
    },
  };
  return Object.entries(runs).map(([name, run]) => ({
    name,
    hint: tt.commands[name as keyof TerminalTexts["commands"]],
    run,
  }));
}

function costLine(facts: readonly Fact[], tt: TerminalTexts): string {
  const { turns, usage, cost } = spentOf(facts);
  return tt.costIs(turns, usage.inputTokens, usage.outputTokens, dollars(cost));
}

function free(folder: string, session: string): string {
  for (let n = 1; ; n++) {
    const path = join(folder, `sage-${session}${n > 1 ? `-${n}` : ""}.html`);
    if (!existsSync(path)) return path;
  }
}
