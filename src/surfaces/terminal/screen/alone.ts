import type { Lang } from "../../../texts/language.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { themeFor } from "../draw/theme.ts";
import { KeepScrollback, type Terminal as Device } from "../draw/tui.ts";
import type { Picked, Picking, TerminalOptions } from "./options.ts";
import { createPickers } from "./pickers.ts";
import { Screen } from "./screen.ts";

type Options = Pick<TerminalOptions, "env" | "logDirectory"> & { lang: Lang; device?: Device };

/** A list on a terminal where no session is open yet. Nothing of it stays on the screen. */
export function pickAlone(
  picking: Picking,
  { lang, env, logDirectory, device = new KeepScrollback() }: Options,
): Promise<Exclude<Picked, { pick: Picking }>> {
  return new Promise((resolve) => {
    let over = false;
    const end = (result: Exclude<Picked, { pick: Picking }>) => {
      if (over) return;
      over = true;
      screen.renderNow();
      screen.stop({ preserveScreen: true });
      resolve(result);
    };
    const screen = new Screen(device, logDirectory, (width) => ({
      above: [],
      live: over ? [] : (pickers.open()?.render(width) ?? []),
    }));
    const pickers = createPickers({
      lang,
      t: texts(lang),
      theme: themeFor(env),
      rows: () => Math.max(6, Math.min(20, device.rows - 2)),
      redraw: () => screen.requestRender(),
      focus: (picker) => (picker ? screen.setFocus(picker) : undefined),
      done: end,
      closed: () => end(undefined),
    });
    screen.start();
    pickers.show(picking);
  });
}
