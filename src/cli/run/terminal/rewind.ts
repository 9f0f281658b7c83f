import { setTimeout } from "node:timers/promises";
import { existingSession } from "../../../journal/existing-session.ts";
import { oneLine, rewindPoints, type RewindWhat, type RewindPlan } from "../../../protocol/index.ts";
import type { Picked, Picking } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { rewindTexts } from "../../../texts/rewind.ts";
import { timeOf } from "../../../texts/resolution.ts";
import { texts } from "../../../texts/texts.ts";
import { checkApprover, person } from "../../account.ts";
import { ask } from "../../journal.ts";
import { doubtful, overwriting, planLines, pointLines, turnOf } from "../../rewind-lines.ts";
import type { Sage } from "../../wiring.ts";

/** A cancelled turn that nothing runs ends at once; a rewind that finds it open after this refuses. */
const CANCEL_MS = 5_000;
const kinds = ["both", "conversation", "files"] as const;

/** `/rewind` where there are only lines: what there is to go back to, then what would change, then a `yes` at the end. */
export async function rewindLines(sage: Sage, session: string, args: string, lang: Lang): Promise<string[]> {
  const words = args.split(/\s+/).filter(Boolean);
  const w = rewindTexts(lang);
  const turn = turnOf(words[0] ?? "");
  const { checkIdle, planRewind } = await import("../../../archive/rewind.ts");
  const row = existingSession(sage.store, session);
  if (turn === undefined || !words.includes("yes")) checkIdle(row);
  if (turn === undefined) {
    const points = rewindPoints(sage.store.load(session));
    return [...pointLines(points, w), ...(points.length > 0 ? [w.lineNext] : [])];
  }
  if (words.includes("yes")) {
    const result = await rewind(sage, session, words, lang, "plain");
    return result && "draft" in result ? [w.lineAgain(result.draft)] : [];
  }
  const what = kinds.find((one) => words.includes(one)) ?? "both";
  const plan = await planRewind(sage.store, row, {
    ...{ turn, what, output: sage.home.output, sageHome: process.env["SAGE_HOME"] },
  });
  const again = `/rewind t${turn}${what === "both" ? "" : ` ${what}`} yes`;
  const overwrite = doubtful(plan.files).length > 0 ? `${again} overwrite` : undefined;
  return [...planLines(plan, row.cwd, { w, t: texts(lang) }), w.lineYes(again, overwrite)];
}

/** `/rewind`: a message, then what to take back, then a yes below everything that will change. */
export async function rewind(
  sage: Sage,
  session: string,
  words: readonly string[],
  lang: Lang,
  surface: "tui" | "plain" = "tui",
): Promise<Picked> {
  const { host, store, home } = sage;
  const sender = { by: person(), surface };
  const w = rewindTexts(lang);
  const [first = "", ...rest] = words;
  const turn = turnOf(first);
  if (!isPaused()) await refuseOpen(); // before the first list
  if (turn === undefined) return pickPoint();
  const what: RewindWhat = kinds.find((one) => rest.includes(one)) ?? "both";
  const plan = await planOf(turn, what);
  if (rest.includes("yes")) return done(plan, rest.includes("overwrite"));
  return { pick: agree(plan) };

  function pickPoint(): Picked {
    const points = rewindPoints(store.load(session)).toReversed();
    if (points.length === 0) return { text: w.none };
    const entries = points.map((one) => ({ value: `${one.turn}`, label: oneLine(one.text), detail: timeOf(one.at) }));
    return {
      pick: {
        title: w.choose,
        load: (show) => show({ entries }),
        choose: async ({ value, label }) => ({ pick: pickWhat(Number(value), label) }),
      },
    };
  }

  function pickWhat(of: number, message: string): Picking {
    // A paused turn is taken back with the conversation; beside files alone it would stay open.
    const fit = kinds.filter((kind) => kind !== "files" || !isPaused());
    return {
      title: w.before(`t${of}`, message),
      load: (show) => show({ entries: fit.map((kind) => ({ value: kind, label: w.kinds[kind] })) }),
      choose: async ({ value }) => ({ pick: agree(await planOf(of, value as RewindWhat)) }),
    };
  }

  /** The changes stand below the yes, and are searched and scrolled as any list. */
  function agree(plan: RewindPlan): Picking {
    const [head = "", ...lines] = planLines(plan, existingSession(store, session).cwd, { w, t: texts(lang) });
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

  async function planOf(of: number, kind: RewindWhat): Promise<RewindPlan> {
    const { planRewind } = await import("../../../archive/rewind.ts");
    return planRewind(store, existingSession(store, session), backTo(of, kind));
  }

  function backTo(of: number, kind: RewindWhat) {
    return { turn: of, what: kind, output: home.output, sageHome: process.env["SAGE_HOME"] };
  }

  /** A turn is open, and no process runs it. */
  function isPaused(): boolean {
    const { open, owned } = existingSession(store, session);
    return open && !owned;
  }

  async function refuseOpen(): Promise<void> {
    const { checkIdle } = await import("../../../archive/rewind.ts");
    checkIdle(store.session(session));
  }

  /** Nothing is cancelled before the person has agreed to the rewind. */
  async function cancelPaused(): Promise<void> {
    await ask(host, { type: "interrupt", session, cancel: true, ...sender });
    for (let left = CANCEL_MS; left > 0; left -= 50) {
      const { open, owned } = existingSession(store, session);
      if (!open && !owned) return;
      await setTimeout(50);
    }
  }

  /** Says nothing: the conversation tells what was put back. */
  async function done(plan: RewindPlan, all: boolean): Promise<Picked> {
    checkApprover();
    if (plan.what !== "files" && isPaused()) await cancelPaused();
    const { rewindSession } = await import("../../../archive/rewind.ts");
    try {
      await rewindSession(store, existingSession(store, session), {
        ...backTo(plan.turn, plan.what),
        overwrite: all ? overwriting(plan.files) : {},
        sender,
      });
      return plan.what === "files" ? undefined : { draft: plan.message };
    } finally {
      const { unheard, owned } = existingSession(store, session);
      if (unheard && !owned) await host.send({ type: "resume", session }); // said meanwhile
    }
  }
}
