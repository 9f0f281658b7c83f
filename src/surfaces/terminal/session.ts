import type { RulePreview } from "../../protocol/host/past.ts";
import { oneLine } from "../../base/visible.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Host } from "../../protocol/host/host.ts";
import type { Sender } from "../../protocol/sender.ts";
import { refusedWhileLost } from "../../remote/repeat.ts";
import { texts, type Texts } from "../../texts/shared/texts.ts";
import { pagerTexts } from "../../texts/surfaces/pager.ts";
import { terminalTexts, type TerminalTexts } from "../../texts/surfaces/terminal.ts";
import { originBrief } from "../../view/request/origin.ts";
import { nameOf, pastOf } from "../../view/items/summary.ts";
import { ownerNote } from "../../view/owner.ts";
import { followSession, type FollowedSession, type SessionChange } from "../../view/session.ts";
import { learnBackground, themeFor, type Theme } from "./draw/theme.ts";
import { setCapabilityOverrides, type Terminal as Device } from "./draw/tui.ts";
import { createWriting, type Writing } from "./editor.ts";
import { arrived, next, type Event, type State } from "./input.ts";
import type { Keys } from "./keys.ts";
import { type PanelOptions, createDesk, createPanel, type Desk } from "./panels/panel.ts";
import { notification, title } from "./screen/notify.ts";
import type { TerminalEnd, TerminalOptions } from "./screen/options.ts";
import { createPickers, type Pickers } from "./screen/picker.ts";
import { createLifetime, KeepScrollback, Screen, type Compose, type Lifetime } from "./screen/screen.ts";
import { createScroll, type Scroll } from "./screen/scroll.ts";
import { createStage, type Stage } from "./screen/stage.ts";
import { bottomRows, createActivity, doingOf, lookOf, type Activity, type Doing } from "./status.ts";
import { createTalk, type Talk } from "./talk.ts";
import { rowsOf } from "./view.ts";
import { createPagers, type Pagers } from "./widgets/pager.ts";

/** Fixed for as long as the terminal is attached. */
type Setting = {
  host: Host;
  options: TerminalOptions;
  sender: Sender;
  t: Texts;
  tt: TerminalTexts;
  theme: Theme;
  device: Device;
  /** Aborts when the terminal is left. */
  signal: AbortSignal;
  now(): number;
};

/** The state machine of the person and the screen. */
type Machine = {
  state(): State;
  to(event: Event): void;
  /** Leaves the session. */
  finish(end: State["end"]): void;
};

/** Everything an attached terminal consists of. */
export type Parts = Setting &
  Machine & {
    session: FollowedSession;
    activity: Activity;
    scroll: Scroll;
    screen: Screen;
    lifetime: Lifetime;
    pulse: Pulse;
    talk: Talk;
    writing: Writing;
    desk: Desk;
    pickers: Pickers;
    pagers: Pagers;
    redraw(): void;
  };

export function createParts(host: Host, options: TerminalOptions): Parts {
  const stop = new AbortController();
  const setting = createSetting(host, options, stop.signal);
  const machine = createMachine(stop);
  const session = followSession(setting.host, options.session, {
    ...setting,
    changed: drawn(() => parts),
    tellFrom: pastOf,
    keep: "turn",
    whileLost: refusedWhileLost,
  });
  const scroll = createScroll(setting);
  const compose: Compose = (width, rows, fresh) => stage.compose(width, rows, fresh);
  const screen = new Screen(setting.device, options.logDirectory, compose);
  const pulse = createPulse({
    mine: () => parts.lifetime.mine(),
    doing: () => doingOf(parts),
    title: (text) => setting.device.write(title(text)),
    name: () => {
      const [asked] = session.requests;
      return [session.progress.title, asked ? originBrief(asked.request, setting.t) : ""].filter(Boolean).join(" · ");
    },
    tt: setting.tt,
    screen,
  });
  const redraw = pulse.now;
  const talk = createTalk({
    ...setting,
    session,
    scroll,
    redraw,
    leave: () => machine.finish({ why: "left" }),
    switchTo: (session) => machine.finish({ why: "switched", session }),
    pick: (picking) => parts.pickers.show(picking),
    write: (text) => parts.writing.set(text),
    typed: () => parts.writing.text(),
  });
  const parts: Parts = {
    ...setting,
    ...machine,
    session,
    scroll,
    screen,
    pulse,
    redraw,
    activity: createActivity({ ...setting, session }),
    lifetime: createLifetime({ device: setting.device, screen, redraw }),
    talk,
    writing: createWriting({
      tui: screen,
      theme: setting.theme,
      placeholder: { wide: setting.tt.placeholder, narrow: setting.tt.placeholderNarrow },
      sources: { complete: talk.complete, ...(options.files && { files: options.files }) },
      history: options.history,
      submit: talk.submit,
      vim: options.editor === "vim",
    }),
    desk: deskOf({ ...setting, ...machine, session, redraw }, () => parts),
    pickers: createPickers({
      ...setting,
      lang: options.lang,
      redraw,
      rows: () => Math.max(6, Math.min(16, setting.device.rows - 4)),
      focus: () => focus(parts),
      done: talk.picked,
    }),
    pagers: createPagers({
      ...setting,
      words: pagerTexts(options.lang),
      rows: () => setting.device.rows - 1,
      redraw,
      note: () => (session.requests.length > 0 ? setting.tt.yourTurn : ""),
      changed() {
        // A request that opens meanwhile waits until the person has read.
        parts.desk.hold(parts.pagers.open() !== undefined);
        focus(parts);
      },
    }),
  };
  const stage = stageOf(parts);
  return parts;
}

/** The keyboard is for what is being read, else for the request that is shown, else for an open list, else for the editor. */
function focus({ screen, desk, pagers, pickers, writing }: Parts): void {
  screen.setFocus(pagers.open() ?? desk.panel() ?? pickers.open() ?? writing);
}

function createSetting(host: Host, options: TerminalOptions, stopped: AbortSignal): Setting {
  const { lang, env } = options;
  // A link shows its address, and nothing is drawn but text.
  setCapabilityOverrides({ images: null, hyperlinks: false });
  return {
    host,
    options,
    sender: { by: options.by, surface: options.surface ?? "tui" },
    t: texts(lang),
    tt: terminalTexts(lang),
    theme: themeFor(env, options.theme),
    device: options.device ?? new KeepScrollback(),
    signal: AbortSignal.any([options.signal, stopped]),
    now: () => Date.now(),
  };
}

function createMachine(stop: AbortController): Machine {
  let state = arrived;
  const to = (event: Event) => void (state = next(state, event));
  return {
    state: () => state,
    to,
    finish(end) {
      to({ type: "left", end });
      stop.abort();
    },
  };
}

function stageOf(parts: Parts): Stage {
  const { scroll, sender, theme, tt, redraw } = parts;
  return createStage({
    scroll,
    rowsOf: (entry, width) =>
      rowsOf(entry, {
        ...lookOf(parts, width),
        me: sender,
        cwd: parts.session.progress.cwd,
        unfolded: parts.state().unfolded,
        loaded: redraw,
      }),
    bottom: (width) => bottomRows(parts, width),
    above: (rows) => theme.dim(`  ${tt.above(rows)}`),
  });
}

/** `parts` is complete only after the desk is made. */
function deskOf(early: Setting & Machine & Pick<Parts, "session" | "redraw">, parts: () => Parts): Desk {
  const { session, sender, options, t, theme, device, now, redraw, to } = early;
  return createDesk({
    t,
    session,
    sender,
    createPanel: (own) =>
      createPanel({
        ...own,
        theme,
        lang: options.lang,
        cwd: session.progress.cwd,
        me: sender,
        now,
        redraw,
        tryRules: createPreviews(session, own.pending.request.id),
        rows: () => Math.max(6, device.rows - 3),
        early: (data) => void (parts().writing.text() === "" || parts().writing.handleInput(data)),
      }),
    chooseMode: (mode) => parts().talk.chooseMode(mode),
    focus: () => focus(parts()),
    taken: () => to({ type: "taken", at: now() }),
  });
}

/** Asked once for each set of rules. A hint that cannot be given is no reason to disturb anybody. */
function createPreviews(session: Parts["session"], requestId: string): NonNullable<PanelOptions["tryRules"]> {
  const made = new Map<string, RulePreview | undefined>();
  return (rules, ready) => {
    const name = JSON.stringify(rules);
    if (made.has(name)) return made.get(name);
    made.set(name, undefined);
    void session.send({ type: "past", requestId, rules }).then((reply) => {
      if (!reply.ok) return;
      made.set(name, reply);
      ready();
    });
    return undefined;
  };
}

/** Draws the session from its first fact until the person leaves or the session's watch ends. */
export async function follow(parts: Parts, keys: Keys): Promise<TerminalEnd> {
  const { session, desk } = parts;
  begin(parts, keys);
  try {
    await session.done;
  } finally {
    keys.dispose();
    parts.pulse.stop();
    desk.dispose();
    parts.lifetime.end();
  }
  return { last: session.progress.last, ...parts.state().end, waiting: session.requests.length };
}

function begin({ options, scroll, screen, writing, lifetime, theme, desk, redraw }: Parts, keys: Keys): void {
  scroll.note("dim", ...options.header.split("\n").map(oneLine));
  screen.addInputListener(keys.pressed);
  screen.setFocus(writing);
  lifetime.begin();
  redraw();
  void learnBackground(theme, options.theme, () => screen.queryTerminalBackgroundColor({ timeoutMs: 1_000 })).then(
    () => {
      desk.panel()?.invalidate();
      redraw();
    },
  );
}

/** `parts` is complete before anything is told. */
function drawn(parts: () => Parts): (change: SessionChange) => void {
  return (change) => changed(parts(), change);
}

function changed(parts: Parts, change: SessionChange): void {
  const { activity, desk, options, scroll, session } = parts;
  const note = ownerNote(change, session, options.lang);
  if (note) scroll.note(note.tone, note.line);
  switch (change.type) {
    case "earlier":
      return scroll.note("dim", parts.t.earlier(change.messages));
    case "delta":
      activity.delta(change.delta);
      scroll.show(change.items);
      return parts.pulse.soon();
    case "fact":
      if (!change.past) activity.fact(change.fact);
      scroll.show(change.items);
      break;
    case "joined":
      joined(parts);
      break;
    case "request":
      if (change.is === "ended") desk.ended(change.request.request.id);
      else desk.settle();
      if (change.is === "changed") desk.panel()?.invalidate();
      if (change.is === "opened" || change.is === "reminded") announce(parts, change.request.request);
      break;
    case "owner":
    case "link":
      break;
    default:
      return change satisfies never;
  }
  if (session.phase === "joining") return;
  parts.redraw();
  if (options.once && session.progress.last) parts.finish({ why: "ended" });
}

function joined(parts: Parts): void {
  const { session, desk, talk, options } = parts;
  desk.settle();
  const [first] = session.requests;
  if (first) announce(parts, first.request);
  if (options.task !== undefined) talk.speak(options.task);
  else if (session.run === "stopped") talk.resume();
}

/** Notifies at once: a person who looks elsewhere should not wait until a request is urgent. */
function announce({ t, tt, device, options, scroll, redraw }: Parts, request: InputRequest): void {
  const where = originBrief(request, t);
  const text = [tt.notice[request.kind](nameOf(request, t)), where].filter(Boolean).join(" · ");
  device.write(notification(text, options.env));
  options.notify?.(text).catch((error: unknown) => {
    scroll.note("warn", tt.notifyFailed(oneLine(String(error))));
    redraw();
  });
}

/** When the screen is drawn again, and what stands in the window's title. */
type Pulse = { now(): void; soon(): void; stop(): void };

type PulseParts = {
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

function createPulse({ mine, doing, title, name, tt, screen }: PulseParts): Pulse {
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
