import type { Host } from "../../protocol/host/host.ts";
import type { Sender } from "../../protocol/sender.ts";
import { refusedWhileLost } from "../../remote/repeat.ts";
import { terminalTexts, type TerminalTexts } from "../../texts/surfaces/terminal.ts";
import { pagerTexts } from "../../texts/surfaces/pager.ts";
import { texts, type Texts } from "../../texts/shared/texts.ts";
import { pastOf } from "../../view/items/summary.ts";
import { followSession, type FollowedSession } from "../../view/session.ts";
import { bottomRows, doingOf, lookOf } from "./bottom.ts";
import { drawn } from "./following.ts";
import { createDesk, type Desk } from "./panels/desk.ts";
import { themeFor, type Theme } from "./draw/theme.ts";
import { KeepScrollback, setCapabilityOverrides, type Terminal as Device } from "./draw/tui.ts";
import { createWriting, type Writing } from "./editor.ts";
import { createLifetime, type Lifetime } from "./screen/lifetime.ts";
import { title } from "./screen/notify.ts";
import type { TerminalOptions } from "./screen/options.ts";
import { createPanel } from "./panels/panel.ts";
import { createPickers, type Pickers } from "./screen/pickers.ts";
import { createPagers, type Pagers } from "./widgets/pager.ts";
import { createPulse, type Pulse } from "./screen/pulse.ts";
import { Screen, type Compose } from "./screen/screen.ts";
import { createScroll, type Scroll } from "./screen/scroll.ts";
import { createStage, type Stage } from "./screen/stage.ts";
import { arrived, next, type Event, type State } from "./state.ts";
import { createActivity, type Activity } from "./screen/status.ts";
import { createTalk, type Talk } from "./talk.ts";
import { rowsOf } from "./view.ts";

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
    name: () => session.progress.title,
    tt: setting.tt,
    screen,
  });
  const redraw = pulse.now;
  const talk = createTalk({
    ...setting,
    ...{ session, scroll, redraw },
    leave: () => machine.finish({ why: "left" }),
    switchTo: (session) => machine.finish({ why: "switched", session }),
    pick: (picking) => parts.pickers.show(picking),
    write: (text) => parts.writing.set(text),
    typed: () => parts.writing.text(),
  });
  const parts: Parts = {
    ...setting,
    ...machine,
    ...{ session, scroll, screen, pulse, redraw },
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
      ...{ lang: options.lang, redraw },
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
        ...{ me: sender, cwd: parts.session.progress.cwd, unfolded: parts.state().unfolded, loaded: redraw },
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
        ...{ theme, lang: options.lang, cwd: session.progress.cwd, me: sender, now, redraw },
        tryRule: options.tryRule,
        rows: () => Math.max(6, device.rows - 3),
        early: (data) => void (parts().writing.text() === "" || parts().writing.handleInput(data)),
      }),
    chooseMode: (mode) => parts().talk.chooseMode(mode),
    focus: () => focus(parts()),
    taken: () => to({ type: "taken", at: now() }),
  });
}
