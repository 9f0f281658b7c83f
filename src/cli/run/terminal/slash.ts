import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { builtinSubagents } from "../../../agent/state/subagents.ts";
import { isOutsideSession, sessionRules, tasksIn, type Fact } from "../../../protocol/index.ts";
import { ownRedaction } from "../../redaction.ts";
import { exportsIn } from "../../../config/git-ignore.ts";
import { writeLines } from "../../../archive/trajectory.ts";
import type { SlashCommand } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { terminalTexts, type TerminalTexts } from "../../../texts/terminal.ts";
import { checkApprover, person } from "../../account.ts";
import { ask } from "../../journal.ts";
import { pickSession } from "../../pick-session.ts";
import { takeBack } from "../../session-rules.ts";
import { modelOfSession } from "../../model-choice.ts";
import type { Sage } from "../../wiring.ts";
import { pickModel, pickRule } from "./pick.ts";
import { rewind } from "./rewind.ts";
import { dollars, spentOf } from "../../../view/summary.ts";

/** Slash commands that need more than a surface knows. */
export function slashCommands(sage: Sage, session: string, lang: Lang): SlashCommand[] {
  const { host, store, cwd } = sage;
  const tt = terminalTexts(lang);
  const text = (lines: readonly string[], none: string) => ({ text: lines.length > 0 ? lines.join("\n") : none });
  const others = async (fits: (id: string) => boolean) => {
    const { sessions } = await ask(host, { type: "sessions" });
    return sessions
      .filter(
        ({ id, ...one }) => one.cwd === cwd && one.title !== "" && id !== session && !isOutsideSession(id) && fits(id),
      )
      .toSorted((a, b) => b.lastAt - a.lastAt);
  };
  const goTo = async (id: string) => {
    await sage.ready(id);
    return { session: id };
  };
  const runs: Record<string, SlashCommand["run"]> = {
    model: async (args) => {
      if (args === "") return { pick: pickModel(sage, session, lang) };
      await sage.chooseModel(session, args, { by: person(), surface: "tui" }, { checked: true });
      return undefined; // that it was chosen is a fact, which every surface shows
    },
    permissions: async (args) => {
      const rule = /^remove\s+(.+)$/.exec(args)?.[1];
      if (rule === undefined) return { pick: pickRule(sage, session, lang) };
      if (!sessionRules(store.load(session)).some((one) => one.text === rule)) return { text: tt.noSuchRule(rule) };
      checkApprover();
      await takeBack(store, session, { rule }, { by: person(), surface: "tui" });
      return undefined; // that it was taken back is a fact, which every surface shows
    },
    agents: async () =>
      text(
        [...builtinSubagents, ...sage.subagents].map(({ name, description }) => `${name}: ${description}`),
        tt.noAgents,
      ),
    skills: async () =>
      text(
        sage.skills.map(({ name, description }) => `/${name}: ${description}`),
        tt.noSkills,
      ),
    tasks: async (args) => {
      const { tasksText } = await import("../../tasks.ts");
      return { text: await tasksText(tasksIn(store.load(session)).tasks, args, lang) };
    },
    rewind: async (args) => rewind(sage, session, args.split(/\s+/).filter(Boolean), lang),
    cost: async () => ({ text: costLine(store.load(session), tt) }),
    export: async (args) => {
      const { linesOf } = await import("../../page/export-lines.ts");
      const row = store.session(session);
      const path = args === "" ? free(exportsIn(sage.config.trust.root), session) : resolve(cwd, args);
      if (!row || existsSync(path)) throw new Error(tt.exists(path));
      const format = path.endsWith(".jsonl") ? "jsonl" : "html";
      writeLines(path, linesOf(store, row, { format, redaction: ownRedaction(process.env), lang }));
      return { text: tt.exported(path) };
    },
    clear: async () => {
      const model = modelOfSession(store, session);
      return { session: (await ask(host, { type: "open", cwd, ...(model !== undefined && { model }) })).session };
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
