import { oneLine, type Fact, type Host, type SageErrorCode } from "../../protocol/index.ts";
import { ownerTexts } from "../../texts/owner.ts";
import { terminalTexts } from "../../texts/terminal.ts";
import { texts } from "../../texts/texts.ts";
import { createDesk } from "./desk.ts";
import { createWriting } from "./editor.ts";
import { keyOf, stopOf, type Key } from "./input.ts";
import { leftovers, notification, title, titleStack } from "./notify.ts";
import type { Terminal, TerminalEnd, TerminalOptions } from "./options.ts";
import { createPanel, QUIET_MS } from "./panels/panel.ts";
import { createPulse } from "./pulse.ts";
import { clipped } from "./draw/rows.ts";
import { Screen } from "./screen.ts";
import { createStage } from "./stage.ts";
import { footRow, statusRow, workOf, type Doing } from "./status.ts";
import { createTalk } from "./talk.ts";
import { backgroundOf, colorOf, createTheme, learnBackground } from "./draw/theme.ts";
import { createScroll } from "./scroll.ts";
import { isKeyRelease, isKeyRepeat, KeepScrollback, setCapabilityOverrides } from "./draw/tui.ts";
import { rowsOf } from "./view.ts";
import { createProgress } from "../../view/progress.ts";
import { nameOf } from "../../view/summary.ts";

export type { SlashCommand, Terminal, TerminalEnd, TerminalOptions } from "./options.ts";

const TWICE_MS = 2_000;
/** Whoever presses Ctrl-C twice wants to leave, and leaving answers nothing: what waits is cancelled only after this long. */
const SECOND_MS = 700;

/** A session on a terminal: what happens scrolls by as any program's output does, what is asked and written stands at the bottom. */
export function attachTerminal(host: Host, options: TerminalOptions): Terminal {
  const { session, lang, env } = options;
  const [t, tt] = [texts(lang), terminalTexts(lang)];
  const theme = createTheme({ color: colorOf(env), background: backgroundOf(env) });
  const sender = { by: options.by, surface: "tui" };
  const now = () => Date.now();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  // A link says where it leads, and nothing is drawn but text.
  setCapabilityOverrides({ images: null, hyperlinks: false });
  const device = options.device ?? new KeepScrollback();
  const progress = createProgress();
  const scroll = createScroll({ t, now });

  let streamed = true;
  let ready = false;
  let ended: Pick<TerminalEnd, "why" | "session"> = { why: "ended" };
  let unfolded = false;
  let lastInterrupt = -Infinity;
  let [busy, busySince] = [false, now()];
  let thinking = false;
  let hint = "";
  let cancelling: NodeJS.Timeout | undefined;
  let away = false;
  let takenAt = -Infinity;
  let closed = false;

  const stage = createStage({
    scroll,
    rowsOf: (entry, width) => rowsOf(entry, { ...look(width), me: sender, unfolded, loaded: redraw }),
    bottom,
    above: (rows) => theme.dim(`  ${tt.above(rows)}`),
  });
  const screen = new Screen(device, options.logDirectory, stage.compose);
  const pulse = createPulse({
    doing,
    title: (text) => device.write(title(text)),
    name: () => progress.title,
    tt,
    draw: () => screen.requestRender(),
  });
  const talk = createTalk({
    host,
    sender,
    options,
    t,
    tt,
    scroll,
    progress,
    now,
    redraw,
    remember(text) {
      writing.remember(text);
      options.history?.add(text);
    },
    leave: () => finish({ why: "left" }),
    switchTo: (next) => finish({ why: "switched", session: next }),
  });
  const writing = createWriting({
    tui: screen,
    theme,
    placeholder: tt.placeholder,
    sources: { commands: talk.commands, ...(options.files && { files: options.files }) },
    history: options.history?.load() ?? [],
    submit: talk.submit,
  });
  const desk = createDesk({
    createPanel: (own) =>
      createPanel({
        ...own,
        theme,
        lang,
        rows: () => Math.max(6, device.rows - 3),
        now,
        redraw,
        early: (data) => void (writing.text() === "" || writing.handleInput(data)),
      }),
    async respond(response) {
      const reply = await host.send({ type: "respond", response, ...sender });
      if (reply.ok && !reply.running) talk.resume(); // nobody takes it up by themselves
      return reply;
    },
    saveDraft: (requestId, draft) => void host.send({ type: "saveDraft", requestId, draft, ...sender }),
    focus: (panel) => screen.setFocus(panel ?? writing),
    taken: () => void (now() - lastInterrupt > TWICE_MS && (takenAt = now())), // unless the person cancelled it
  });

  function redraw(): void {
    if (!closed && !away) pulse.now();
  }

  function look(width: number) {
    return { theme, t, tt, width, now: now() };
  }

  function doing(): Doing {
    if (busy !== progress.working) [busy, busySince] = [progress.working, now()];
    const [first] = desk.open();
    const own = talk.shell();
    if (first) return { type: "waiting", since: first.request.at };
    if (own) return { type: "working", what: tt.shellRuns, since: own.since };
    if (progress.working) return { type: "working", what: workOf(progress, thinking, tt), since: busySince };
    return ready && progress.open ? { type: "paused" } : { type: "idle" };
  }

  function bottom(width: number): string[] {
    if (closed || away) return [];
    const panel = desk.panel();
    const hints = hint === "" ? [] : [theme.warn(clipped(hint, width))];
    if (panel) return ["", ...panel.render(width), ...hints];
    const [first, ...others] = desk.open();
    const waits = first
      ? [tt.collapsed(1 + others.length, nameOf(first.request), t.duration(Math.max(0, now() - first.request.at)))]
      : [];
    return [
      "",
      ...(first ? waits.map((line) => theme.warn(clipped(`◆ ${line}`, width))) : statusRow(doing(), look(width))),
      ...hints,
      ...writing.render(width),
      footRow(progress, `${oneLine(progress.model ?? options.model)} · ${session}`, look(width)),
    ];
  }

  async function follow(): Promise<TerminalEnd> {
    begin();
    const past: Fact[] = [];
    try {
      for await (const event of host.watch(session, { signal })) {
        if (event.type === "delta") {
          thinking = event.delta.kind === "reasoning";
          scroll.delta(event.delta);
          pulse.soon();
          continue;
        }
        if (event.type === "fact") {
          progress.note(event.fact);
          if (ready) happened(event.fact);
          else past.push(event.fact);
        } else if (event.type === "owner") ownerChanged(event);
        else {
          scroll.history(past);
          ready = true;
          streams(event.live);
          progress.running.clear(); // what ran in a process that is gone does not run
          desk.begin(event.requests);
          if (event.requests[0]) tell(event.requests[0].request);
          if (options.task !== undefined) talk.speak(options.task);
          else if (progress.open) talk.resume();
        }
        if (ready) redraw();
        if (options.once && progress.last) finish({ why: "ended" });
      }
    } finally {
      end();
    }
    return { ...ended, waiting: desk.open().length, last: progress.last };
  }

  function ownerChanged({ live, stopped }: { live: boolean; stopped: boolean }): void {
    if (!stopped) return streams(live);
    streamed = live;
    if (!progress.working && desk.open().length === 0) return; // paused: that was said
    progress.working = false;
    progress.running.clear();
    scroll.note("warn", ownerTexts(lang).stopped);
  }

  function streams(live: boolean): void {
    if (live !== streamed) scroll.note("dim", live ? ownerTexts(lang).live : t.facts);
    streamed = live;
  }

  function happened(fact: Fact): void {
    if (fact.type === "call.started" || fact.type === "turn.begun" || fact.type === "call.finished") busySince = now();
    scroll.fact(fact);
    if (fact.type === "input.resolved") desk.remove(fact.data.requestId);
    if (fact.type !== "input.requested") return;
    desk.add(fact.data);
    tell(fact.data);
  }

  /** At once: whoever looks elsewhere should not wait for it to become urgent. */
  function tell(request: Fact<"input.requested">["data"]): void {
    const text = tt.notice[request.kind](nameOf(request));
    device.write(notification(text, env));
    options.notify?.(text).catch((error: unknown) => {
      scroll.note("warn", tt.notifyFailed(oneLine(String(error))));
      redraw();
    });
  }

  function finish(how: typeof ended): void {
    ended = how;
    clearTimeout(cancelling);
    stop.abort();
  }

  function begin(): void {
    process.on("exit", restore);
    process.on("uncaughtExceptionMonitor", restore);
    device.write(`${leftovers}${titleStack.push}\r\x1b[2K`); // what was typed before Sage was there is not lost, only its echo
    scroll.note("dim", ...options.header.split("\n").map(oneLine));
    screen.addInputListener(pressed);
    screen.setFocus(writing);
    screen.start();
    redraw();
    void learnBackground(theme, env, () => screen.queryTerminalBackgroundColor({ timeoutMs: 1_000 })).then(() => {
      desk.panel()?.invalidate();
      redraw();
    });
  }

  function end(): void {
    closed = true;
    clearTimeout(cancelling);
    pulse.stop();
    desk.dispose();
    restore();
    process.off("exit", restore);
    process.off("uncaughtExceptionMonitor", restore);
  }

  let restored = false;
  /** However it ends, the terminal is as it was. */
  function restore(): void {
    if (restored) return;
    restored = true;
    closed = true;
    try {
      if (!away) screen.leave();
    } catch {
      // A terminal that has gone away needs nothing more.
    }
    device.write(titleStack.pop);
  }

  function pressed(data: string): { consume: true } | undefined {
    if (isKeyRelease(data)) return { consume: true };
    const key = keyOf(data);
    // Keys that were on their way to a panel say nothing to the agent once somebody else has answered it.
    if (key !== "interrupt" && desk.panel() === undefined && Math.abs(now() - takenAt) < QUIET_MS) {
      takenAt = now();
      return { consume: true };
    }
    if (hint !== "" && key !== "interrupt") hint = "";
    if (!key || !takes(key)) return undefined;
    if (!isKeyRepeat(data)) act(key);
    redraw();
    return { consume: true };
  }

  /** Is this key for Sage, or for whatever has the keyboard? */
  function takes(key: Key): boolean {
    const panel = desk.panel() !== undefined;
    if (key === "escape") return !panel && !writing.choosing();
    if (key === "leave") return panel || writing.text() === "";
    if (key === "editor" || key === "request") return !panel;
    return true;
  }

  function act(key: Key): void {
    switch (key) {
      case "interrupt":
      case "escape":
        return stopWith(key);
      case "unfold":
        return unfold();
      case "request":
        return desk.reopen();
      case "leave":
        return finish({ why: "left" });
      case "editor":
        return void elsewhere(write);
      case "sleep":
        return void elsewhere(async () => options.sleep?.());
      default:
        return key satisfies never;
    }
  }

  function stopWith(key: "interrupt" | "escape"): void {
    const own = talk.shell();
    const again = now() - lastInterrupt < TWICE_MS;
    const situation = {
      working: progress.working || own !== undefined,
      waiting: desk.open().length > 0,
      typed: writing.text() !== "",
      again,
    };
    const what = ready ? stopOf(key, situation) : key === "interrupt" ? "leave" : "nothing";
    if (key === "interrupt") lastInterrupt = what === "clear" ? -Infinity : now();
    switch (what) {
      case "interrupt":
        if (own && !situation.waiting && !progress.working) return own.stop();
        hint = situation.waiting ? tt.cancelling : tt.interrupting;
        if (!situation.waiting) return void interrupt();
        cancelling ??= setTimeout(() => void interrupt(), SECOND_MS);
        return;
      case "clear":
        return writing.set("");
      case "ask":
        hint = tt.again;
        return;
      case "waits":
        hint = tt.escWaits;
        return;
      case "leave":
        return finish({ why: "interrupted" });
      case "nothing":
        return;
      default:
        return what satisfies never;
    }
  }

  async function interrupt(): Promise<void> {
    cancelling = undefined;
    const reply = await host.send({ type: "interrupt", session, ...sender });
    if (!reply.ok) scroll.note("danger", t.sendingFailed(oneLine(reply.message)));
    hint = "";
    redraw();
  }

  /** Unfolds what still changes and what comes; what has scrolled by is shown again, whole. */
  function unfold(): void {
    unfolded = !unfolded;
    const last = scroll.recent().at(-1);
    if (!unfolded || !last || scroll.live().some(({ item }) => item.type === "call" || item.type === "thought")) return;
    scroll.add({ type: "box", title: tt.whole(oneLine(last.call.tool)), text: last.result?.text ?? "", done: true });
  }

  async function write(): Promise<void> {
    if (!options.edit) return scroll.note("warn", tt.editorNone);
    try {
      writing.set(await options.edit(writing.text()));
    } catch (error) {
      scroll.note("danger", tt.editorFailed(oneLine(String(error))));
    }
  }

  /** The terminal is another program's for a while. */
  async function elsewhere(work: () => Promise<void>): Promise<void> {
    if (away) return;
    away = true;
    screen.leave();
    try {
      await work();
    } finally {
      away = false;
      if (!closed) screen.comeBack();
      redraw();
    }
  }

  function failed(message: string, code: SageErrorCode = "turn-failed"): void {
    progress.last = { status: "error", error: { code, message } };
    scroll.note("danger", t.turnFailed(oneLine(message)));
    finish({ why: "failed" });
  }

  return {
    done: follow(),
    interrupt() {
      if (away) return; // the terminal is another program's, and so are its keys
      stopWith("interrupt");
      redraw();
    },
    failed,
  };
}
