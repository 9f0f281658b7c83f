import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { exportsIn } from "../../../config/files/git-ignore.ts";
import { tasksIn } from "../../../protocol/facts/session.ts";
import { ask, factsOf } from "../../../protocol/host/refusal.ts";
import type { TerminalActs, Picked, Picking } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { slashTexts } from "../../../texts/surfaces/slash.ts";
import { openLike } from "../../../view/slash/run.ts";
import { senderAt, findSession, type HostClient } from "../../host/host-client.ts";
import { pickSession } from "../../record/sessions/pick-session.ts";
import { ownRedaction } from "../../host/redaction.ts";
import { pickModel, pickRule } from "./pick.ts";
import { oneLine } from "../../../base/visible.ts";
import type { RewindWhat } from "../../../protocol/facts/rewind.ts";
import type { RewindPlan, RewindPoint } from "../../../protocol/facts/rewound.ts";
import { rewindTexts } from "../../../texts/commands/rewind.ts";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { doubtful, overwriting, planLines, readTurn, rewindKinds } from "../../../view/lines/rewind.ts";

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

/** `/rewind`: a message, then what to take back, then a yes below everything that will change. */
async function rewind(seat: HostClient, session: string, args: string, lang: Lang): Promise<Picked> {
  const { host } = seat;
  const sender = senderAt(seat, "tui");
  const w = rewindTexts(lang);
  const [first = "", ...rest] = args.split(/\s+/).filter(Boolean);
  const turn = readTurn(first);
  const { points, paused } = await ask(host, { type: "rewindPoints", session }); // refused while a turn runs
  if (turn === undefined) return pickPoint(points.toReversed());
  const what: RewindWhat = rewindKinds.find((kind) => rest.includes(kind)) ?? "both";
  const plan = await askPlan(turn, what);
  if (rest.includes("yes")) return done(plan, rest.includes("overwrite"));
  return { pick: await agree(plan) };

  function pickPoint(newest: readonly RewindPoint[]): Picked {
    if (newest.length === 0) return { text: w.none };
    const entries = newest.map((point) => ({
      value: `${point.turn}`,
      label: oneLine(point.text),
      detail: timeOf(point.at),
    }));
    return {
      pick: {
        title: w.choose,
        load: (show) => show({ entries }),
        choose: async ({ value, label }) => ({ pick: pickWhat(Number(value), label) }),
      },
    };
  }

  function pickWhat(of: number, message: string): Picking {
    // A paused turn is withdrawn with the conversation; restoring only files would leave it open.
    const fit = rewindKinds.filter((kind) => kind !== "files" || !paused);
    return {
      title: w.before(`t${of}`, message),
      load: (show) => show({ entries: fit.map((kind) => ({ value: kind, label: w.kinds[kind] })) }),
      choose: async ({ value }) => ({ pick: await agree(await askPlan(of, value as RewindWhat)) }),
    };
  }

  /** Changes are listed below the confirmation and can be searched and scrolled like any list. */
  async function agree(plan: RewindPlan): Promise<Picking> {
    const cwd = (await findSession(host, session))?.cwd ?? "";
    const [head = "", ...lines] = planLines(plan, cwd, { w, t: texts(lang) });
    const entries = [
      { value: "yes", label: w.doIt },
      ...(doubtful(plan.files).length > 0 ? [{ value: "overwrite", label: w.doAll }] : []),
      ...lines.map((line, n) => ({ value: `${n}`, label: line })),
    ];
    const picking: Picking = {
      title: head,
      load: (show) => show({ entries }),
      async choose({ value }): Promise<Picked> {
        if (value !== "yes" && value !== "overwrite") return { pick: picking }; // a line to read
        return done(plan, value === "overwrite");
      },
    };
    return picking;
  }

  async function askPlan(of: number, kind: RewindWhat): Promise<RewindPlan> {
    return (await ask(host, { type: "planRewind", session, turn: of, what: kind })).plan;
  }

  /** Prints nothing: the transcript shows what was restored. */
  async function done(plan: RewindPlan, all: boolean): Promise<Picked> {
    const overwrite = all ? overwriting(plan.files) : {};
    await ask(host, { type: "rewind", session, turn: plan.turn, what: plan.what, overwrite, ...sender });
    return plan.what === "files" ? undefined : { draft: plan.message };
  }
}
