import { oneLine } from "../../../base/visible.ts";
import type { RewindWhat } from "../../../protocol/facts/rewind.ts";
import type { RewindPlan, RewindPoint } from "../../../protocol/facts/rewound.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { Picked, Picking } from "../../../surfaces/terminal/index.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import type { Lang } from "../../../texts/language.ts";
import { rewindTexts } from "../../../texts/commands/rewind.ts";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { ask } from "../../host/journal.ts";
import { doubtful, overwriting, planLines, pointLines, turnOf } from "../../record/rewind-lines.ts";
import { senderAt, sessionOf, type HostClient } from "../../host/host-client.ts";

const kinds = ["both", "conversation", "files"] as const;

/** `/rewind` where there are only lines: what there is to go back to, then what would change, then a `yes` at the end. */
export async function rewindLines(seat: HostClient, session: string, args: string, lang: Lang): Promise<string[]> {
  const { host } = seat;
  const words = args.split(/\s+/).filter(Boolean);
  const w = rewindTexts(lang);
  const turn = turnOf(words[0] ?? "");
  if (turn !== undefined && words.includes("yes")) {
    const result = await rewind(seat, session, words, lang, "plain");
    return result && "draft" in result ? [w.lineAgain(result.draft)] : [];
  }
  const { points, paused } = await ask(host, { type: "rewindPoints", session });
  if (paused) throw new SageError("input-invalid", reason("rewind-turn-open", {}));
  if (turn === undefined) return [...pointLines(points, w), ...(points.length > 0 ? [w.lineNext] : [])];
  const what = kinds.find((one) => words.includes(one)) ?? "both";
  const { plan } = await ask(host, { type: "planRewind", session, turn, what });
  const again = `/rewind t${turn}${what === "both" ? "" : ` ${what}`} yes`;
  const overwrite = doubtful(plan.files).length > 0 ? `${again} overwrite` : undefined;
  const cwd = (await sessionOf(host, session))?.cwd ?? "";
  return [...planLines(plan, cwd, { w, t: texts(lang) }), w.lineYes(again, overwrite)];
}

/** `/rewind`: a message, then what to take back, then a yes below everything that will change. */
export async function rewind(
  seat: HostClient,
  session: string,
  words: readonly string[],
  lang: Lang,
  surface: "tui" | "plain" = "tui",
): Promise<Picked> {
  const { host } = seat;
  const sender = senderAt(seat, surface);
  const w = rewindTexts(lang);
  const [first = "", ...rest] = words;
  const turn = turnOf(first);
  const { points, paused } = await ask(host, { type: "rewindPoints", session }); // refused while a turn runs
  if (turn === undefined) return pickPoint(points.toReversed());
  const what: RewindWhat = kinds.find((one) => rest.includes(one)) ?? "both";
  const plan = await planOf(turn, what);
  if (rest.includes("yes")) return done(plan, rest.includes("overwrite"));
  return { pick: await agree(plan) };

  function pickPoint(newest: readonly RewindPoint[]): Picked {
    if (newest.length === 0) return { text: w.none };
    const entries = newest.map((one) => ({ value: `${one.turn}`, label: oneLine(one.text), detail: timeOf(one.at) }));
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
    const fit = kinds.filter((kind) => kind !== "files" || !paused);
    return {
      title: w.before(`t${of}`, message),
      load: (show) => show({ entries: fit.map((kind) => ({ value: kind, label: w.kinds[kind] })) }),
      choose: async ({ value }) => ({ pick: await agree(await planOf(of, value as RewindWhat)) }),
    };
  }

  /** The changes stand below the yes, and are searched and scrolled as any list. */
  async function agree(plan: RewindPlan): Promise<Picking> {
    const cwd = (await sessionOf(host, session))?.cwd ?? "";
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

  async function planOf(of: number, kind: RewindWhat): Promise<RewindPlan> {
    return (await ask(host, { type: "planRewind", session, turn: of, what: kind })).plan;
  }

  /** Says nothing: the conversation tells what was put back. */
  async function done(plan: RewindPlan, all: boolean): Promise<Picked> {
    const overwrite = all ? overwriting(plan.files) : {};
    await ask(host, { type: "rewind", session, turn: plan.turn, what: plan.what, overwrite, ...sender });
    return plan.what === "files" ? undefined : { draft: plan.message };
  }
}
