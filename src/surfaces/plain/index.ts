import {
  oneLine,
  type Fact,
  type Host,
  type InputRequest,
  type InputResponse,
  type OutcomeStatus,
  type TurnError,
} from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/texts.ts";
import { createAsking } from "./asking.ts";
import { keyboard, pipe, type Input, type Output } from "./lines.ts";
import { createPaint, type Style } from "../../view/lines/paint.ts";
import { headline } from "../../texts/resolution.ts";
import { createScreen } from "./screen.ts";
import { createTalking } from "./talking.ts";
import { joining, next, onEarlyLine, onInterrupt, wantedPrompt, type Event, type Leaving } from "./state.ts";
import { createView, recorded, type Piece } from "./view.ts";
import { noteLines } from "../../view/lines/note.ts";
import { endNote } from "../../view/note.ts";
import { ownerNote, type Owner } from "../../view/owner.ts";
import { createProgress } from "../../view/progress.ts";

export type PlainOptions = {
  session: string;
  input: Input;
  output: Output;
  lang: Lang;
  color: boolean;
  /** The person's name. */
  by: string;
  /** The first message. Without one, a turn that was left open goes on. */
  task?: string | undefined;
  /** Ends with the turn instead of asking what is next. */
  once?: boolean;
  /** Nothing of it is kept: no request waits for another time. */
  fleeting?: boolean;
  /** How a piped line is shown as the answer it became. */
  echo?: (line: string) => string;
  signal: AbortSignal;
};

export type PlainEnd = {
  why: Leaving;
  waiting: number;
  last: OutcomeStatus | undefined;
};

export type Plain = {
  done: Promise<PlainEnd>;
  /** Ctrl-C: interrupts; the second one within two seconds, or one with nothing to interrupt, leaves. */
  interrupt(): void;
  /** No turn can begin: that is said, and the end. */
  failed(error: TurnError): void;
};

const LAST_WORDS_MS = 2_500;
const LIFE_MS = 10_000;

/** A session on lines of text: what happens is printed, what is asked is asked one at a time. */
export function attachPlain(host: Host, options: PlainOptions): Plain {
  const { session, input, output } = options;
  const words = texts(options.lang);
  const t = options.fleeting ? { ...words, ctrlC: words.ctrlCOnly } : words;
  const paint = createPaint(options.color);
  const style: Style = {
    t,
    paint,
    get width() {
      return output.isTTY ? output.columns || undefined : undefined; // some terminals say 0
    },
  };
  const sender = { by: options.by, surface: "plain" };
  const answered = new Set<string>();
  const screen = createScreen(output, style);
  const progress = createProgress();
  const stop = new AbortController();
  const life = output.isTTY ? setInterval(() => showLife(), LIFE_MS / 4).unref() : undefined;
  const signal = AbortSignal.any([options.signal, stop.signal]);

  let state = joining;
  const to = (event: Event) => void (state = next(state, event));
  let settling: NodeJS.Immediate | undefined;
  let live = true;
  let writtenAt = performance.now();
  let busySince = performance.now();

  const on = { line, early, end, interrupt: () => void interrupt() };
  const lines = input.isTTY ? keyboard(input, output, on) : pipe(input, output, { ...on, echo: options.echo });
  const leave = () => finish("left");
  const echoes = input.isTTY === true;
  const talking = createTalking({ host, session, sender, style, progress, echoes, say, done: settle, leave });
  const view = createView(style, sender, {
    isEchoed: talking.isEchoed,
    isAnswered: (id) => answered.has(id),
    isCancelling: () => state.cancelling,
  });
  const asking = createAsking({
    style,
    lines,
    cwd: () => progress.cwd,
    say,
    prompted: screen.hold,
    saveDraft: (requestId, draft) => void host.send({ type: "saveDraft", requestId, draft, ...sender }),
    respond: (request, response) => void respond(request, response),
  });

  async function follow(): Promise<PlainEnd> {
    const past: Fact[] = [];
    try {
      for await (const event of host.watch(session, { signal })) {
        if (event.type === "delta") print(view.delta(event.delta));
        else if (event.type === "fact") {
          progress.note(event.fact);
          if (state.phase === "joining") past.push(event.fact);
          else happened(event.fact);
        } else if (event.type === "owner") ownerChanged(event);
        else {
          print(view.history(past));
          ownerChanged({ live: event.live, stopped: false });
          to({ type: "joined", requests: event.requests });
          progress.running.clear(); // a process that is gone runs nothing
          if (options.task !== undefined) talking.speak(options.task, { echoed: true });
          else if (progress.working) talking.resume(); // a paused turn waits for a word of the person
        }
        if (options.once && progress.last) finish("ended");
        settleSoon();
      }
    } finally {
      clearInterval(life);
      closePrompt();
      lines.close();
    }
    return { why: state.why, waiting: state.open.length, last: progress.last };
  }

  function ownerChanged(owner: Owner): void {
    const busy = progress.working || state.open.length > 0;
    const note = ownerNote(owner, { live, busy, lang: options.lang });
    live = owner.live;
    if (owner.stopped && busy) {
      progress.working = false;
      progress.running.clear();
    }
    if (note) say(...noteLines(note, style));
  }

  function finish(why: PlainEnd["why"]): void {
    to({ type: "left", why });
    stop.abort();
  }

  function happened(fact: Fact): void {
    if (fact.type === "input.requested") to({ type: "requested", request: fact.data });
    if (fact.type === "call.started" || fact.type === "turn.begun" || fact.type === "call.finished")
      busySince = performance.now();
    if (fact.type === "input.resolved") {
      to({ type: "resolved", id: fact.data.requestId });
      if (asking.shown()?.id === fact.data.requestId) closePrompt();
    }
    print(view.fact(fact));
    if (fact.type === "turn.ended") to({ type: "turn-ended" });
  }

  function print(pieces: readonly Piece[]): void {
    if (pieces.every((piece) => ("stream" in piece ? piece.stream === "" : piece.lines.length === 0))) return;
    if (state.prompt.for === "message") closePrompt();
    writtenAt = performance.now();
    screen.write(pieces);
  }
  function say(...said: string[]): void {
    print([{ lines: said }]);
  }

  /** After everything that came together: of two requests the first is shown as one of two. */
  function settleSoon(): void {
    settling ??= setImmediate(() => {
      settling = undefined;
      settle();
    });
  }

  /** Opens the prompt that should be open now: for the lowest request, or for the next message. */
  function settle(): void {
    if (signal.aborted) return;
    const prompt = wantedPrompt(state, { busy: progress.working || stillEnding() });
    if (!prompt) return;
    closePrompt();
    to({ type: "prompted", prompt });
    const [first] = state.open;
    if (prompt.for === "request" && first)
      asking.present(first, state.open.length > 1 ? t.place(1, state.open.length) : undefined);
    if (prompt.for !== "message") return;
    screen.startLine();
    lines.ask(paint.bold("> "), { fresh: false, joined: true });
  }

  /** A call that was interrupted has its last word before the prompt; for a moment, for it may not listen. */
  function stillEnding(): boolean {
    if (progress.running.size === 0 || performance.now() - state.interruptedAt > LAST_WORDS_MS) return false;
    setTimeout(settle, LAST_WORDS_MS).unref();
    return true;
  }

  /** While something takes its time, a line now and then says so. */
  function showLife(): void {
    const quiet = performance.now() - writtenAt >= LIFE_MS;
    if (state.phase === "joining" || !progress.working || state.open.length > 0 || !quiet) return;
    const [tool] = [...progress.running.values()].slice(-1);
    const what = tool === undefined ? t.modelWorks : t.runs(oneLine(tool));
    say(paint.dim(t.still(what, t.duration(performance.now() - busySince))));
  }

  function closePrompt(): void {
    if (state.prompt.for !== "nothing") lines.hush();
    asking.forget();
    to({ type: "prompted", prompt: { for: "nothing" } });
    screen.release();
  }

  function line(text: string): void {
    const { prompt } = state;
    to({ type: "prompted", prompt: { for: "nothing" } });
    screen.release();
    if (prompt.for === "message") talking.heard(text);
    else {
      asking.hear(text);
      const again = asking.shown();
      if (again) to({ type: "prompted", prompt: { for: "request", id: again.id } });
    }
    settle();
  }

  function early(text: string): void {
    switch (onEarlyLine(state, text)) {
      case "too-early":
        return screen.now(paint.dim(t.notUsed(oneLine(text))));
      case "message":
        talking.speak(text, { echoed: false });
        return say(paint.dim(t.queued));
      default:
    }
  }

  /** A pipe that ends where a remark might come has left it out. */
  function end(): void {
    if (!input.isTTY && asking.canDoWithout()) line("");
    else finish("ended");
  }

  async function respond(request: InputRequest, response: InputResponse): Promise<void> {
    to({ type: "sent" });
    answered.add(request.id);
    const reply = await host.send({ type: "respond", response, ...sender });
    to({ type: "replied", ...((reply.ok || reply.resolution) && { ended: request.id }) });
    if (reply.ok) {
      say(recorded(reply.resolution, style));
      if (!reply.running) talking.resume();
    } else if (reply.resolution) say(paint.yellow(headline(reply.resolution, t, sender)));
    else say(paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
    settle();
  }

  async function interrupt(): Promise<void> {
    const now = performance.now();
    if (onInterrupt(state, { now, working: progress.working }) === "leave") return finish("interrupted");
    const text = state.prompt.for === "request" ? t.cancelling : t.interrupting;
    closePrompt();
    to({ type: "interrupted", at: now });
    say(paint.yellow(text));
    const reply = await host.send({ type: "interrupt", session, ...sender });
    to({ type: "interrupt-replied", cancelled: reply.ok && reply.to === "cancel" });
    settle();
  }

  function failed(error: TurnError): void {
    const last = { status: "error", error } as const;
    progress.last = last;
    say(...noteLines(endNote(last, t), style));
    finish("failed");
  }

  return { done: follow(), interrupt: () => void interrupt(), failed };
}
