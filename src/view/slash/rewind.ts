import { ask } from "../../protocol/host/ask.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { doubtful, overwriting, planLines, pointLines, turnOf } from "../lines/rewind.ts";
import { told, type Run } from "./outcome.ts";

export const rewindKinds = ["both", "conversation", "files"] as const;

/** `/rewind` in lines of text: the messages to go back to, then what would change, then a `yes` at the end. */
export const rewind: Run = async (args, { host, session, sender }) => {
  const words = args.split(/\s+/).filter(Boolean);
  const turn = turnOf(words[0] ?? "");
  const what = rewindKinds.find((kind) => words.includes(kind)) ?? "both";
  const { points, paused } = await ask(host, { type: "rewindPoints", session }); // refused while a turn runs
  if (turn !== undefined && words.includes("yes")) {
    const { plan } = await ask(host, { type: "planRewind", session, turn, what });
    const overwrite = words.includes("overwrite") ? overwriting(plan.files) : {};
    await ask(host, { type: "rewind", session, turn, what, overwrite, ...sender });
    if (what === "files") return { type: "done", told: ({ rewind: w }) => [w.kinds.files] };
    return { type: "back", words: plan.message, told: ({ rewind: w }) => [w.lineAgain(plan.message)] };
  }
  if (paused) return told(({ t }) => [t.because(reason("rewind-turn-open", {}))], "danger");
  if (turn === undefined)
    return told(({ rewind: w }) => [...pointLines(points, w), ...(points.length > 0 ? [w.lineNext] : [])]);
  const { plan } = await ask(host, { type: "planRewind", session, turn, what });
  const { sessions } = await ask(host, { type: "sessions", session });
  const again = `/rewind t${turn}${what === "both" ? "" : ` ${what}`} yes`;
  const overwrite = doubtful(plan.files).length > 0 ? `${again} overwrite` : undefined;
  return told(({ rewind: w, t }) => [
    ...planLines(plan, sessions[0]?.cwd ?? "", { w, t }),
    w.lineYes(again, overwrite),
  ]);
};
