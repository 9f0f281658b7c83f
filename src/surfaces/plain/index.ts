import {
  oneLine,
  type Fact,
  type Host,
  type InputRequest,
  type InputResponse,
  type OutcomeStatus,
  type PendingRequest,
  type SageErrorCode,
} from "../../protocol/index.ts";
import type { Lang } from "../../texts/language.ts";
import { ownerTexts } from "../../texts/owner.ts";
import { texts } from "../../texts/texts.ts";
import { createAsking } from "./asking.ts";
import { keyboard, pipe, type Input, type Output } from "./lines.ts";
import { createPaint, type Style } from "./paint.ts";
import { headline } from "../../texts/resolution.ts";
import { createScreen } from "./screen.ts";
import { createTalking } from "./talking.ts";
import { createView, outcomeLines, recorded, type Piece } from "./view.ts";
import { createProgress } from "../../view/progress.ts";

export type PlainOptions = {
  session: string;
  input: Input;
  output: Output;
  lang: Lang;
  color: boolean;
  /** The person's name. */
  by: string;
  /** Shows everything after this seq; without it, the last turn. */
  after?: number;
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
  /** By /quit, by Ctrl-C, because no more input came, or because no turn can begin. */
  why: "left" | "interrupted" | "ended" | "failed";
  waiting: number;
  last: OutcomeStatus | undefined;
};

export type Plain = {
  done: Promise<PlainEnd>;
  /** Ctrl-C: interrupts; the second one within two seconds, or one with nothing to interrupt, leaves. */
  interrupt(): void;
  /** No turn can begin: that is said, and the end. */
  failed(message: string, code?: SageErrorCode): void;
};

const TWICE_MS = 2_000;
const LAST_WORDS_MS = 2_500;
const LIFE_MS = 10_000;

/** A session on lines of text: what happens is printed, what is asked is asked one at a time. */
export function attachPlain(host: Host, options: PlainOptions): Plain {
  const { session, input, output } = options;
  const words = texts(options.lang);
  const t = options.fleeting ? { ...words, ctrlC: words.ctrlCOnly } : words;
  const owner = ownerTexts(options.lang);
  const paint = createPaint(options.color);
  const style: Style = {
    t,
    paint,
    get width() {
      return output.isTTY ? output.columns || undefined : undefined; // some terminals say 0
    },
  };
  const sender = { by: options.by, surface: "plain" };
  const mine = new Set<string>();
  const screen = createScreen(output, style);
  const progress = createProgress();
  const stop = new AbortController();
  const life = output.isTTY ? setInterval(() => showLife(), LIFE_MS / 4).unref() : undefined;
  const signal = AbortSignal.any([options.signal, stop.signal]);

  let ready = false;
  let sending = false;
  let streamed = true;
  let idle = false;
  let settling: NodeJS.Immediate | undefined;
  let open: PendingRequest[] = [];
  let why: PlainEnd["why"] = "ended";
  let lastInterrupt = -Infinity;
  /** By Ctrl-C, here: what follows from it is told once. */
  let cancelling = false;
  let writtenAt = performance.now();
  let busySince = performance.now();

  const on = { line, early, end, interrupt: () => void interrupt() };
  const lines = input.isTTY ? keyboard(input, output, on) : pipe(input, output, { ...on, echo: options.echo });
  const leave = () => finish("left");
  const echoes = input.isTTY === true;
  const talking = createTalking({ host, session, sender, style, progress, echoes, say, done: settle, leave });
  const view = createView(style, talking.isEchoed, sender);
  const asking = createAsking({
    style,
    lines,
    say,
    prompted: screen.hold,
    saveDraft: (requestId, draft) => void host.send({ type: "saveDraft", requestId, draft, ...sender }),
    respond: (request, response) => void respond(request, response),
  });

  async function follow(): Promise<PlainEnd> {
    const past: Fact[] = [];
    const after = options.after === undefined ? {} : { after: options.after };
    try {
      for await (const event of host.watch(session, { ...after, signal })) {
        if (event.type === "delta") print(view.delta(event.delta));
        else if (event.type === "fact") {
          progress.note(event.fact);
          if (ready) print(happened(event.fact));
          else past.push(event.fact);
        } else if (event.type === "owner") ownerChanged(event);
        else {
          print(options.after === undefined ? view.history(past) : past.flatMap(view.fact));
          streams(event.live);
          [open, ready] = [[...event.requests], true];
          progress.running.clear(); // what ran in a process that is gone does not run
          if (options.task !== undefined) talking.speak(options.task, { echoed: true });
          else if (progress.open) talking.resume();
        }
        if (options.once && progress.last) finish("ended");
        settleSoon();
      }
    } finally {
      clearInterval(life);
      closePrompt();
      lines.close();
    }
    return { why, waiting: open.length, last: progress.last };
  }

  function ownerChanged({ live, stopped }: { live: boolean; stopped: boolean }): void {
    if (!stopped) return streams(live);
    streamed = live;
    if (!progress.working && open.length === 0) return; // paused: that was said
    progress.working = false;
    progress.running.clear();
    say(paint.yellow(owner.stopped));
  }

  function streams(live: boolean): void {
    if (live !== streamed) say(paint.dim(live ? owner.live : t.facts));
    streamed = live;
  }

  function finish(reason: PlainEnd["why"]): void {
    why = reason;
    stop.abort();
  }

  function happened(fact: Fact): Piece[] {
    if (fact.type === "input.requested") open.push({ request: fact.data });
    if (fact.type === "call.started" || fact.type === "turn.begun" || fact.type === "call.finished")
      busySince = performance.now();
    if (fact.type === "turn.ended" && cancelling) {
      cancelling = false;
      const pieces = view.fact(fact);
      return fact.data.status === "cancelled" ? [{ lines: [paint.yellow(t.youCancelled)] }] : pieces;
    }
    if (fact.type === "turn.interrupted" && fact.data.to === "cancel" && cancelling) {
      view.fact(fact);
      return [];
    }
    if (fact.type !== "input.resolved") return view.fact(fact);
    const { requestId } = fact.data;
    open = open.filter(({ request }) => request.id !== requestId);
    if (asking.shown()?.id === requestId) closePrompt();
    const pieces = view.fact(fact);
    return mine.has(requestId) || (cancelling && fact.data.outcome === "cancelled") ? [] : pieces;
  }

  function print(pieces: readonly Piece[]): void {
    if (pieces.every((piece) => ("stream" in piece ? piece.stream === "" : piece.lines.length === 0))) return;
    if (idle) closePrompt();
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
    if (!ready || sending || signal.aborted || asking.shown()) return;
    const [next] = open;
    if (next) {
      closePrompt();
      asking.present(next, open.length > 1 ? t.place(1, open.length) : undefined);
    } else if (progress.working || stillEnding()) closePrompt();
    else if (!idle) {
      idle = true;
      screen.startLine();
      lines.ask(paint.bold("> "), { fresh: false, joined: true });
    }
  }

  /** A call that was interrupted has its last word before the prompt; for a moment, for it may not listen. */
  function stillEnding(): boolean {
    if (progress.running.size === 0 || performance.now() - lastInterrupt > LAST_WORDS_MS) return false;
    setTimeout(settle, LAST_WORDS_MS).unref();
    return true;
  }

  /** While something takes its time, a line now and then says so. */
  function showLife(): void {
    if (!ready || !progress.working || open.length > 0 || performance.now() - writtenAt < LIFE_MS) return;
    const [tool] = [...progress.running.values()].slice(-1);
    say(
      paint.dim(
        t.still(tool === undefined ? t.modelWorks : t.runs(oneLine(tool)), t.duration(performance.now() - busySince)),
      ),
    );
  }

  function closePrompt(): void {
    if (idle || asking.shown()) lines.hush();
    idle = false;
    asking.forget();
    screen.release();
  }

  function line(text: string): void {
    const message = idle;
    idle = false;
    screen.release();
    if (message) talking.heard(text);
    else asking.hear(text);
    settle();
  }

  /** Typed while nothing was asked: a message if the agent works, and never an answer. */
  function early(text: string): void {
    if (text.trim() === "" || !ready) return;
    if (open.length > 0 || sending) return screen.now(paint.dim(t.notUsed(oneLine(text))));
    talking.speak(text, { echoed: false });
    say(paint.dim(t.queued));
  }

  /** A pipe that ends where a remark might come has left it out. */
  function end(): void {
    if (!input.isTTY && asking.canDoWithout()) line("");
    else finish("ended");
  }

  async function respond(request: InputRequest, response: InputResponse): Promise<void> {
    sending = true;
    mine.add(request.id);
    const reply = await host.send({ type: "respond", response, ...sender });
    sending = false;
    if (reply.ok || reply.resolution) open = open.filter((one) => one.request.id !== request.id);
    if (reply.ok) {
      say(recorded(reply.resolution, style));
      if (!reply.running) talking.resume();
    } else if (reply.resolution) say(paint.yellow(headline(reply.resolution, t, sender)));
    else say(paint.red(t.sendingFailed(oneLine(reply.message))));
    settle();
  }

  async function interrupt(): Promise<void> {
    const now = performance.now();
    const nothing = ready && !progress.working && open.length === 0;
    if (nothing || now - lastInterrupt < TWICE_MS) return finish("interrupted");
    lastInterrupt = now;
    cancelling = true;
    const text = asking.shown() ? t.cancelling : t.interrupting;
    closePrompt();
    say(paint.yellow(text));
    sending = true;
    const reply = await host.send({ type: "interrupt", session, ...sender });
    sending = false;
    if (reply.ok && reply.to === "cancel") open = [];
    else cancelling = false;
    settle();
  }

  function failed(message: string, code: SageErrorCode = "turn-failed"): void {
    const last = { status: "error", error: { code, message } } as const;
    progress.last = last;
    say(...outcomeLines(last, style));
    finish("failed");
  }

  return { done: follow(), interrupt: () => void interrupt(), failed };
}
