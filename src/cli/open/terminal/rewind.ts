import { ask } from "../../../protocol/host/refusal.ts";
import { oneLine } from "../../../base/visible.ts";
import type { RewindWhat } from "../../../protocol/facts/rewind.ts";
import type { RewindPlan, RewindPoint } from "../../../protocol/facts/rewound.ts";
import type { Picked, Picking } from "../../../surfaces/terminal/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { rewindTexts } from "../../../texts/commands/rewind.ts";
import { timeOf } from "../../../texts/shared/resolution.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { doubtful, overwriting, planLines, readTurn, rewindKinds } from "../../../view/lines/rewind.ts";
import { senderAt, findSession, type HostClient } from "../../host/host-client.ts";

/** `/rewind`: a message, then what to take back, then a yes below everything that will change. */
export async function rewind(seat: HostClient, session: string, args: string, lang: Lang): Promise<Picked> {
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
