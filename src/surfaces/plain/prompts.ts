import { oneLine } from "../../base/visible.ts";
import type { Parts } from "./session.ts";
import { onEarlyLine, wantedPrompt } from "./typed/state.ts";

/** The prompt at the bottom, and the lines that are typed at it or before it. */
export type Prompts = {
  /** Opens the prompt that should be open now: for the lowest request, or for the next message. */
  settle(): void;
  /** Settles after everything that came together: of two requests the first is shown as one of two. */
  settleSoon(): void;
  close(): void;
  /** A line was typed at the prompt. */
  line(text: string): void;
  /** A line was typed while there was no prompt. */
  early(text: string): void;
  /** No more lines will come. */
  end(): void;
};

const LAST_WORDS_MS = 2_500;

export function createPrompts(parts: () => Parts): Prompts {
  let settling: NodeJS.Immediate | undefined;
  const prompts: Prompts = {
    settle: () => settle(parts()),
    settleSoon() {
      settling ??= setImmediate(() => {
        settling = undefined;
        prompts.settle();
      });
    },
    close: () => close(parts()),
    line: (text) => heard(parts(), text),
    early: (text) => heardEarly(parts(), text),
    end() {
      const { options, asking, finish } = parts();
      // A pipe that ends where a remark might come has left it out.
      if (!options.input.isTTY && asking.canDoWithout()) prompts.line("");
      else finish("ended");
    },
  };
  return prompts;
}

function settle(parts: Parts): void {
  const { state, to, around, asking, screen, lines, style } = parts;
  if (parts.signal.aborted) return;
  const prompt = wantedPrompt(state(), around(), { ending: stillEnding(parts) });
  if (!prompt) return;
  close(parts);
  to({ type: "prompted", prompt });
  const open = around().unsigned;
  if (prompt.for === "request" && open[0])
    asking.present(open[0], open.length > 1 ? style.t.place(1, open.length) : undefined);
  if (prompt.for !== "message") return;
  screen.startLine();
  lines.ask(style.paint.bold("> "), { fresh: false, joined: true });
}

/** A call that was interrupted has its last word before the prompt; for a moment, for it may not listen. */
function stillEnding({ session, state, prompts }: Parts): boolean {
  if (session.progress.running.size === 0 || performance.now() - state().interruptedAt > LAST_WORDS_MS) return false;
  setTimeout(prompts.settle, LAST_WORDS_MS).unref();
  return true;
}

function close({ state, to, lines, asking, screen }: Parts): void {
  if (state().prompt.for !== "nothing") lines.hush();
  asking.forget();
  to({ type: "prompted", prompt: { for: "nothing" } });
  screen.release();
}

function heard(parts: Parts, text: string): void {
  const { state, to, screen, talking, asking } = parts;
  const { prompt } = state();
  to({ type: "prompted", prompt: { for: "nothing" } });
  screen.release();
  if (prompt.for === "message") talking.heard(text);
  else {
    asking.hear(text);
    const again = asking.shown();
    if (again) to({ type: "prompted", prompt: { for: "request", id: again.id } });
  }
  settle(parts);
}

function heardEarly({ state, around, screen, talking, say, style }: Parts, text: string): void {
  const { t, paint } = style;
  const use = onEarlyLine(state(), around(), text);
  switch (use) {
    case "nothing":
      return;
    case "too-early":
      return screen.now(paint.dim(t.notUsed(oneLine(text))));
    case "message":
      if (talking.heard(text, { echoed: false }) === "message") say(paint.dim(t.queued));
      return;
    default:
      return use satisfies never;
  }
}
