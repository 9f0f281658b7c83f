import type { TerminalTexts } from "../../../texts/surfaces/terminal.ts";
import type { Doing } from "./status.ts";

/** When the screen is drawn again, and what stands in the window's title. */
export type Pulse = { now(): void; soon(): void; stop(): void };

type Parts = {
  /** False while another program has the terminal. */
  mine(): boolean;
  doing(): Doing;
  title(text: string): void;
  /** Title of the session. */
  name(): string;
  tt: TerminalTexts;
  screen: { requestRender(): void };
};

const SOON_MS = 40;
const SPIN_MS = 120;
const AGE_MS = 1_000;

export function createPulse({ mine, doing, title, name, tt, screen }: Parts): Pulse {
  let soon: NodeJS.Timeout | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let shown = "";
  let stopped = false;

  const now = () => {
    clearTimeout(soon);
    soon = undefined;
    if (stopped || !mine()) return;
    screen.requestRender();
    const { type } = doing();
    const state = tt.title[type === "waiting" || type === "working" ? type : "idle"];
    const wanted = name() === "" ? state : `${state} · ${name()}`;
    if (wanted !== shown) title((shown = wanted));
    // Time passes on the screen only while there is something to wait for.
    if (type === "idle" || type === "paused") return;
    const tick = () => {
      ticking = undefined;
      now();
    };
    ticking ??= setTimeout(tick, type === "working" ? SPIN_MS : AGE_MS).unref();
  };
  return {
    now,
    /** Text comes faster than anyone reads. */
    soon() {
      soon ??= setTimeout(now, SOON_MS);
    },
    stop() {
      stopped = true;
      clearTimeout(soon);
      clearTimeout(ticking);
    },
  };
}
