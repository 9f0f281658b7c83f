import type { Host } from "../../protocol/host/host.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { Sender } from "../../protocol/sender.ts";
import { refusedWhileLost } from "../../remote/repeat.ts";
import { texts } from "../../texts/shared/texts.ts";
import { slashTexts } from "../../texts/surfaces/slash.ts";
import { createPaint, type Style } from "../../view/lines/paint.ts";
import { pastOf } from "../../view/items/summary.ts";
import { alikeTo } from "../../view/request/alike.ts";
import { followSession, type FollowedSession } from "../../view/session.ts";
import { createAsking, type Asking } from "./asking.ts";
import { changed } from "./following.ts";
import { createLife, type Life } from "./life.ts";
import { keyboard, pipe, type Lines } from "./typed/lines.ts";
import type { PlainOptions } from "./options.ts";
import { createPrompts, type Prompts } from "./prompts.ts";
import { createScreen, type Screen } from "./screen.ts";
import { inquire, interrupt, respond, respondAll } from "./sending.ts";
import { arrived, next, type Around, type Event, type Leaving, type State } from "./typed/state.ts";
import { createTalking, type Talking } from "./talking.ts";
import { createView, type Piece, type View } from "./view.ts";

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
  const style = styleOf(options);
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
    ...{ session, sender, style, say, acts: options.acts, own: options.own },
    words: { t: style.t, slash: slashTexts(options.lang), intro: style.t.help },
    echoes: input.isTTY === true,
    done: prompts.settle,
    leave: () => machine.finish("left"),
  });
  const parts: Parts = {
    ...machine,
    ...{ session, options, sender, style, around, screen, lines, talking, prompts, answered, print, say },
    life: createLife(() => parts, { isTerminal: output.isTTY === true }),
    view: createView(style, sender, {
      isEchoed: talking.isEchoed,
      isAnswered: (id) => answered.has(id),
      isCancelling: () => machine.state().cancelling,
    }),
    asking: createAsking({
      ...{ style, lines, say },
      cwd: () => session.progress.cwd,
      prompted: screen.hold,
      saveDraft: (requestId, draft) => void session.send({ type: "saveDraft", requestId, draft, ...sender }),
      respond: (request, response) => void respond(parts, request, response),
      alike: (request) =>
        alikeTo(
          request,
          around().unsigned.map((one) => one.request),
        ),
      respondAll: (requestIds, answer) => void respondAll(parts, requestIds, answer),
      inquire: (request, text) => void inquire(parts, request, text),
      released: screen.release,
      piped: input.isTTY !== true,
    }),
  };
  return parts;
}

function styleOf({ lang, color, fleeting, output }: PlainOptions): Style {
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
