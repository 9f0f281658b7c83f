import { oneLine } from "../../base/visible.ts";
import { reasonOf } from "../../protocol/reasons/error.ts";
import type { TerminalTexts } from "../../texts/surfaces/terminal.ts";
import type { BoxItem } from "./screen/scroll.ts";
import type { TalkParts } from "./talk.ts";

/** Characters of an output that the model is told. */
const TOLD = 8_000;

/** The person's own shell: `!command`, one at a time. */
export type OwnShell = {
  run(line: string): Promise<void>;
  /** The command that runs. */
  running(): { since: number; stop(): void } | undefined;
};

type Parts = Pick<TalkParts, "options" | "t" | "tt" | "scroll" | "now" | "redraw">;

/** `told`: a command has ended; this is the text for the model. */
export function createOwnShell(parts: Parts, told: (text: string) => void): OwnShell {
  const { options, t, tt, scroll, redraw } = parts;
  let running: { since: number; stop(): void } | undefined;
  const run = async (line: string): Promise<void> => {
    if (!options.shell) return scroll.note("warn", tt.shellNone);
    if (running) return scroll.note("warn", tt.shellBusy);
    const stop = new AbortController();
    running = { since: parts.now(), stop: () => stop.abort() };
    const box = scroll.add<BoxItem>({ type: "box", title: `! ${line}`, text: "", done: false }, { apart: true });
    redraw();
    try {
      const { code, told: printed } = await options.shell(line, {
        output: (text) => void (box.text = (box.text + text).slice(-TOLD * 8)),
        signal: stop.signal,
      });
      box.note = code === 0 ? tt.shellPrefix : `${tt.printed(code)} · ${tt.shellPrefix}`;
      told(toldOf(line, code === 0 ? printed : `${printed}\n(${tt.printed(code)})`, tt));
    } catch (error) {
      box.note = oneLine(t.because(reasonOf(error)));
    } finally {
      box.done = true;
      running = undefined;
      redraw();
    }
  };
  return { run, running: () => running };
}

/** Text for the model about a command that the person ran. */
export function toldOf(command: string, printed: string, tt: TerminalTexts): string {
  const whole = printed.trimEnd();
  if (whole === "") return `${tt.shellTold(command)}\n${tt.shellNothing}`;
  const cut = Math.max(0, whole.length - TOLD);
  const fence = "`".repeat(Math.max(3, ...[...whole.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return [
    tt.shellTold(command),
    tt.shellPrinted,
    ...(cut > 0 ? [tt.shellCut(cut)] : []),
    fence,
    whole.slice(cut),
    fence,
  ].join("\n");
}
