import { oneLine } from "../../base/visible.ts";
import type { Parts } from "./parts.ts";

/** Signs of life: while something takes its time, a line now and then says so. */
export type Life = {
  /** Something was printed. */
  written(): void;
  /** The session begins something else. */
  busy(): void;
  stop(): void;
};

const LIFE_MS = 10_000;

export function createLife(parts: () => Parts, { isTerminal }: { isTerminal: boolean }): Life {
  let writtenAt = performance.now();
  let busySince = performance.now();
  const show = () => {
    const { session, say, style } = parts();
    const quiet = performance.now() - writtenAt >= LIFE_MS;
    if (session.run !== "running" || session.requests.length > 0 || !quiet) return;
    const { t, paint } = style;
    const tool = [...session.progress.running.values()].at(-1);
    const activity = tool === undefined ? t.modelWorks : t.runs(oneLine(tool));
    say(paint.dim(t.still(activity, t.duration(performance.now() - busySince))));
  };
  const timer = isTerminal ? setInterval(show, LIFE_MS / 4).unref() : undefined;
  return {
    written: () => void (writtenAt = performance.now()),
    busy: () => void (busySince = performance.now()),
    stop: () => clearInterval(timer),
  };
}
