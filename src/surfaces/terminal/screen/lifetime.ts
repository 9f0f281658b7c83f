import { leftovers, titleStack } from "./notify.ts";
import type { Screen } from "./screen.ts";
import type { Terminal as Device } from "../draw/tui.ts";

/** Owner of the terminal: Sage, another program for a while, or the shell again. */
export type Lifetime = {
  mine(): boolean;
  begin(): void;
  /** Lends the terminal to another program while `work` runs. */
  lend(work: () => Promise<void>): Promise<void>;
  /** However it ends, the terminal is as it was. */
  end(): void;
};

export function createLifetime({
  device,
  screen,
  redraw,
}: {
  device: Device;
  screen: Screen;
  redraw(): void;
}): Lifetime {
  let state: "new" | "mine" | "lent" | "ended" = "new";
  const end = () => {
    if (state === "ended") return;
    const before = state;
    state = "ended";
    process.off("exit", end);
    process.off("uncaughtExceptionMonitor", end);
    try {
      if (before === "mine") screen.leave();
    } catch {
      // A terminal that has gone away needs nothing more.
    }
    device.write(titleStack.pop);
  };
  return {
    mine: () => state === "mine",
    end,
    begin() {
      state = "mine";
      process.on("exit", end);
      process.on("uncaughtExceptionMonitor", end);
      device.write(`${leftovers}${titleStack.push}\r\x1b[2K`); // keys typed before Sage was there are kept, only their echo goes
      screen.start();
    },
    async lend(work) {
      if (state !== "mine") return;
      state = "lent";
      screen.leave();
      try {
        await work();
      } finally {
        if ((state as string) === "lent") {
          state = "mine";
          screen.comeBack();
        }
        redraw();
      }
    },
  };
}
