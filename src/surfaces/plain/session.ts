import { oneLine } from "../../base/visible.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Host, SharedAnswer } from "../../protocol/host/host.ts";
import type { Sender } from "../../protocol/sender.ts";
import { refusedWhileLost } from "../../remote/repeat.ts";
import { errorText } from "../../texts/shared/error.ts";
import { headline } from "../../texts/shared/resolution.ts";
import { texts } from "../../texts/shared/texts.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { pastOf } from "../../view/items/summary.ts";
import { noteLines } from "../../view/lines/note.ts";
import { createPaint, type Style } from "../../view/lines/paint.ts";
import { ownerNote } from "../../view/owner.ts";
import { alikeTo } from "../../view/request/alike.ts";
import { followSession, type FollowedSession, type SessionChange } from "../../view/session.ts";
import { createAsking, type Asking } from "./asking.ts";
import type { PlainEnd, PlainOptions } from "./options.ts";
import { createPrompts, type Prompts } from "./prompts.ts";
import { createScreen, type Screen } from "./screen.ts";
import { createTalking, type Talking } from "./talking.ts";
import { keyboard, pipe, type Lines } from "./typed/lines.ts";
import { arrived, next, onInterrupt, type Around, type Event, type Leaving, type State } from "./typed/state.ts";
import { createView, recorded, type Piece, type View } from "./view.ts";

/** Everything an attached session on lines consists of. */
export type Parts = {
  /** The session that is followed, and the way to tell it something. */
  session: FollowedSession;
  options: PlainOptions;
  sender: Sender;
  style: Style;
  /** Aborts when the session is left. */
  signal: AbortSignal;
  state(): State;
  to(event: Event): void;
  /** Leaves the session. */
  finish(why: Leaving, last?: OutcomeStatus): void;
  around(): Around;
  screen: Screen;
  lines: Lines;
  view: View;
  talking: Talking;
  asking: Asking;
  prompts: Prompts;
  life: Life;
  /** Ids of the requests that were answered here. */
  answered: Set<string>;
  print(pieces: readonly Piece[]): void;
  say(...lines: string[]): void;
};

export function createParts(host: Host, options: PlainOptions): Parts {
  const { input, output } = options;
  const style = plainStyle(options);
  const sender = { by: options.by, surface: options.surface ?? "plain" };
  const machine = createMachine(options.signal);
  const screen = createScreen(output, style);
  const session = followSession(host, options.session, {
    signal: machine.signal,
    changed: (change) => changed(parts, change),
    tellFrom: pastOf,
    keep: "turn",
    whileLost: refusedWhileLost,
  });
  const around = (): Around => ({
    phase: session.phase,
    run: session.run,
    unsigned: session.requests.filter(({ approvals = [] }) => approvals.every(({ by }) => by !== sender.by)),
  });
  const answered = new Set<string>();
  const print = (pieces: readonly Piece[]) => {
    if (pieces.every((piece) => ("stream" in piece ? piece.stream === "" : piece.lines.length === 0))) return;
    if (machine.state().prompt.for === "message") prompts.close();
    parts.life.written();
    screen.write(pieces);
  };
  const say = (...said: string[]) => print([{ lines: said }]);
  const prompts = createPrompts(() => parts);
  const { line, early, end } = prompts;
  const complete = (typed: string) => parts.talking.complete(typed).map(({ text }) => text);
  const on = { line, early, end, complete, interrupt: () => void interrupt(parts) };
  const lines = input.isTTY ? keyboard(input, output, on) : pipe(input, output, { ...on, echo: options.echo });
  const talking = createTalking({
    session,
    sender,
    style,
    say,
    acts: options.acts,
    own: options.own,
    words: { t: style.t, slash: slashTexts(options.lang), intro: style.t.help },
    echoes: input.isTTY === true,
    done: prompts.settle,
    leave: () => machine.finish("left"),
  });
  const parts: Parts = {
    ...machine,
    session,
    options,
    sender,
    style,
    around,
    screen,
    lines,
    talking,
    prompts,
    answered,
    print,
    say,
    life: createLife(() => parts, { isTerminal: output.isTTY === true }),
    view: createView(style, sender, {
      isEchoed: talking.isEchoed,
      isAnswered: (id) => answered.has(id),
      isCancelling: () => machine.state().cancelling,
    }),
    asking: createAsking({
      style,
      lines,
      say,
      cwd: () => session.progress.cwd,
      prompted: screen.hold,
      saveDraft: (requestId, draft) => void session.send({ type: "saveDraft", requestId, draft, ...sender }),
      respond: (request, response) => void respond(parts, request, response),
      alike: (request) =>
        alikeTo(
          request,
          around().unsigned.map((entry) => entry.request),
        ),
      respondAll: (requestIds, answer) => void respondAll(parts, requestIds, answer),
      inquire: (request, text) => void inquire(parts, request, text),
      released: screen.release,
      piped: input.isTTY !== true,
      ...(options.refuses && { refuses: options.refuses }),
    }),
  };
  return parts;
}

function plainStyle({ lang, color, fleeting, output }: PlainOptions): Style {
  const words = texts(lang);
  return {
    t: fleeting ? { ...words, ctrlC: words.ctrlCOnly } : words,
    paint: createPaint(color),
    get width() {
      return output.isTTY ? output.columns || undefined : undefined; // some terminals say 0
    },
  };
}

function createMachine(given: AbortSignal): Pick<Parts, "state" | "to" | "finish" | "signal"> {
  const stop = new AbortController();
  let state = arrived;
  const to = (event: Event) => void (state = next(state, event));
  return {
    signal: AbortSignal.any([given, stop.signal]),
    state: () => state,
    to,
    finish(why, last) {
      to({ type: "left", why, ...(last && { last }) });
      stop.abort();
    },
  };
}

/** Sends an answer and says what became of it. */
async function respond(parts: Parts, request: InputRequest, response: InputResponse): Promise<void> {
  const { session, sender, style, to, say } = parts;
  const { t, paint } = style;
  to({ type: "sent" });
  parts.answered.add(request.id);
  const reply = await session.send({ type: "respond", response, ...sender });
  to({ type: "replied" });
  if (reply.ok && !reply.resolution) {
    if (reply.approved.again) say(paint.yellow(t.approvedAgain));
  } else if (reply.ok) say(recorded(reply.resolution, style));
  else if (reply.resolution) say(paint.yellow(headline(reply.resolution, t, sender)));
  else say(paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
  parts.prompts.settle();
}

/** Asks about a request; the reply comes as a fact. */
async function inquire(parts: Parts, { id }: InputRequest, text: string): Promise<void> {
  const { session, sender, style } = parts;
  const reply = await session.send({ type: "inquire", requestId: id, text, ...sender });
  if (reply.ok) return;
  const why = style.paint.red(style.t.sendingFailed(oneLine(errorText(reply, style.t))));
  parts.asking.interject(id, () => parts.say(why));
}

/** Sends one answer to several requests and says what became of each. */
async function respondAll(parts: Parts, requestIds: readonly string[], answer: SharedAnswer): Promise<void> {
  const { session, sender, style, to, say } = parts;
  const { t, paint } = style;
  to({ type: "sent" });
  for (const id of requestIds) parts.answered.add(id);
  const reply = await session.send({ type: "respondAll", requestIds, answer, ...sender });
  to({ type: "replied" });
  if (!reply.ok) say(paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
  const results = reply.ok ? reply.results : [];
  for (const result of results) {
    if (result.ok) say(recorded(result.resolution, style));
    else if (result.resolution) say(paint.yellow(headline(result.resolution, t, sender)));
    else say(paint.red(t.sendingFailed(oneLine(errorText(result, t)))));
  }
  parts.prompts.settle();
}

/** Ctrl-C: interrupts the turn, or leaves. */
export async function interrupt(parts: Parts): Promise<void> {
  const { session, sender, style, state, to, prompts } = parts;
  const now = performance.now();
  if (onInterrupt(state(), session, now) === "leave") return parts.finish("interrupted");
  const text = state().prompt.for === "request" ? style.t.cancelling : style.t.interrupting;
  prompts.close();
  to({ type: "interrupted", at: now });
  parts.say(style.paint.yellow(text));
  const reply = await session.send({ type: "interrupt", session: session.id, ...sender });
  to({ type: "interrupt-replied", cancelled: reply.ok && reply.to === "cancel" });
  prompts.settle();
}

/** Prints the session from its first fact until the person leaves or the session's watch ends. */
export async function follow({ session, life, prompts, lines, state }: Parts): Promise<PlainEnd> {
  try {
    await session.done;
  } finally {
    life.stop();
    prompts.close();
    lines.close();
  }
  const { why, last = session.progress.last } = state();
  return { why, waiting: session.requests.length, last };
}

function changed(parts: Parts, change: SessionChange): void {
  const { session, options, asking, life, prompts, print, view, to } = parts;
  tell(parts, change);
  switch (change.type) {
    case "earlier":
      parts.say(parts.style.paint.dim(parts.style.t.earlier(change.messages)));
      break;
    case "delta":
      print(view.draw(change.items));
      break;
    case "fact": {
      const { fact } = change;
      const pieces = view.draw(change.items);
      if (fact.type === "inquiry.replied") asking.interject(fact.data.requestId, () => print(pieces));
      else print(pieces);
      if (change.past) break;
      if (fact.type === "call.started" || fact.type === "turn.begun" || fact.type === "call.finished") life.busy();
      if (fact.type === "turn.ended") to({ type: "turn-ended" });
      break;
    }
    case "request":
      if (change.is === "ended" && asking.shown()?.id === change.request.request.id) prompts.close();
      break;
    case "joined":
      if (options.task !== undefined) parts.talking.speak(options.task, { echoed: true });
      else if (session.run === "stopped") parts.talking.resume();
      break;
    case "owner":
    case "link":
      break;
    default:
      return change satisfies never;
  }
  if (session.phase === "joining") return;
  if (options.once && session.progress.last) parts.finish("ended");
  prompts.settleSoon();
}

/** Draw an open prompt again below the line. */
function tell({ session, asking, options, say, style }: Parts, change: SessionChange): void {
  const note = ownerNote(change, session, options.lang);
  if (!note) return;
  const write = () => say(...noteLines(note, style));
  const shown = asking.shown();
  if (shown) asking.interject(shown.id, write);
  else write();
}

/** Signs of life: while something takes its time, a line now and then says so. */
type Life = {
  /** Something was printed. */
  written(): void;
  /** The session begins something else. */
  busy(): void;
  stop(): void;
};

const LIFE_MS = 10_000;

function createLife(parts: () => Parts, { isTerminal }: { isTerminal: boolean }): Life {
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
