import { oneLine, type Fact, type Host, type TurnError, type WatchEvent } from "../../protocol/index.ts";
import { errorText } from "../../texts/error.ts";
import { terminalTexts } from "../../texts/terminal.ts";
import { texts } from "../../texts/texts.ts";
import { createDesk } from "./desk.ts";
import { createWriting } from "./editor.ts";
import { keyOf, type Key } from "./input.ts";
import { createLifetime } from "./lifetime.ts";
import { notification, title } from "./notify.ts";
import type { Terminal, TerminalEnd, TerminalOptions } from "./options.ts";
import { createPanel } from "./panels/panel.ts";
import { createPulse } from "./pulse.ts";
import { clipped } from "./draw/rows.ts";
import { Screen } from "./screen.ts";
import { createStage } from "./stage.ts";
import { isSecond, isSwallowed, joining, next, stopIn, type Event } from "./state.ts";
import { createActivity, footRow, statusRow, type Doing } from "./status.ts";
import { createTalk } from "./talk.ts";
import { backgroundOf, colorOf, createTheme, learnBackground } from "./draw/theme.ts";
import { createScroll } from "./scroll.ts";
import { isKeyRelease, isKeyRepeat, KeepScrollback, setCapabilityOverrides } from "./draw/tui.ts";
import { rowsOf } from "./view.ts";
import { ownerNote, type Owner } from "../../view/owner.ts";
import { createProgress } from "../../view/progress.ts";
import { nameOf } from "../../view/summary.ts";

export type { SlashCommand, Terminal, TerminalEnd, TerminalOptions } from "./options.ts";

/** Whoever presses Ctrl-C twice wants to leave, and leaving answers nothing: open requests are cancelled only after this long. */
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

  let state = joining;
  const to = (event: Event) => void (state = next(state, event));
  let cancelling: NodeJS.Timeout | undefined;

  const stage = createStage({
    scroll,
    rowsOf: (entry, width) => rowsOf(entry, { ...look(width), me: sender, unfolded: state.unfolded, loaded: redraw }),
    bottom,
    above: (rows) => theme.dim(`  ${tt.above(rows)}`),
  });
  const screen = new Screen(device, options.logDirectory, stage.compose);
  const lifetime = createLifetime({ device, screen, redraw });
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
    t,
    createPanel: (own) =>
      createPanel({
        ...own,
        theme,
        lang,
        cwd: progress.cwd,
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
    taken: () => to({ type: "taken", at: now() }),
  });
  const activity = createActivity({ progress, tt, now });

  function redraw(): void {
    if (lifetime.mine()) pulse.now();
  }

  function look(width: number) {
    return { theme, t, tt, width, now: now() };
  }

  function doing(): Doing {
    const [first] = desk.open();
    return activity.doing({
      waitingSince: first?.request.at,
      shellSince: talk.shell()?.since,
      attached: state.phase === "attached",
    });
  }

  function bottom(width: number): string[] {
    if (!lifetime.mine()) return [];
    const panel = desk.panel();
    const hints = state.hint === "none" ? [] : [theme.warn(clipped(tt.hints[state.hint], width))];
    if (panel) return ["", ...panel.render(width), ...hints];
    const [first, ...others] = desk.open();
    const waits = first
      ? [tt.collapsed(1 + others.length, nameOf(first.request, t), t.duration(Math.max(0, now() - first.request.at)))]
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
          activity.delta(event.delta);
          scroll.delta(event.delta);
          pulse.soon();
          continue;
        }
        if (event.type === "fact") {
          progress.note(event.fact);
          if (state.phase === "joining") past.push(event.fact);
          else happened(event.fact);
        } else if (event.type === "owner") ownerChanged(event);
        else joined(past, event);
        if (state.phase !== "joining") redraw();
        if (options.once && progress.last) finish({ why: "ended" });
      }
    } finally {
      clearTimeout(cancelling);
      pulse.stop();
      desk.dispose();
      lifetime.end();
    }
    return { ...state.end, waiting: desk.open().length, last: progress.last };
  }

  function joined(past: readonly Fact[], { requests, live }: WatchEvent & { type: "ready" }): void {
    scroll.history(past);
    to({ type: "joined" });
    ownerChanged({ live, stopped: false });
    progress.running.clear(); // a process that is gone runs nothing
    desk.begin(requests);
    if (requests[0]) tell(requests[0].request);
    if (options.task !== undefined) talk.speak(options.task);
    else if (progress.working) talk.resume(); // a paused turn waits for a word of the person
  }

  function ownerChanged(owner: Owner): void {
    const busy = progress.working || desk.open().length > 0;
    const note = ownerNote(owner, { live: state.live, busy, lang });
    to({ type: "owner", live: owner.live });
    if (owner.stopped && busy) {
      progress.working = false;
      progress.running.clear();
    }
    if (note) scroll.note(note.tone, note.line);
  }

  function happened(fact: Fact): void {
    activity.fact(fact);
    scroll.fact(fact);
    if (fact.type === "input.resolved") desk.remove(fact.data.requestId);
    if (fact.type !== "input.requested") return;
    desk.add(fact.data);
    tell(fact.data);
  }

  /** At once: whoever looks elsewhere should not wait for it to become urgent. */
  function tell(request: Fact<"input.requested">["data"]): void {
    const text = tt.notice[request.kind](nameOf(request, t));
    device.write(notification(text, env));
    options.notify?.(text).catch((error: unknown) => {
      scroll.note("warn", tt.notifyFailed(oneLine(String(error))));
      redraw();
    });
  }

  function finish(end: Pick<TerminalEnd, "why" | "session">): void {
    to({ type: "left", end });
    clearTimeout(cancelling);
    stop.abort();
  }

  function begin(): void {
    scroll.note("dim", ...options.header.split("\n").map(oneLine));
    screen.addInputListener(pressed);
    screen.setFocus(writing);
    lifetime.begin();
    redraw();
    void learnBackground(theme, env, () => screen.queryTerminalBackgroundColor({ timeoutMs: 1_000 })).then(() => {
      desk.panel()?.invalidate();
      redraw();
    });
  }

  function pressed(data: string): { consume: true } | undefined {
    if (isKeyRelease(data)) return { consume: true };
    const key = keyOf(data);
    if (key !== "interrupt" && desk.panel() === undefined && isSwallowed(state, now())) {
      to({ type: "swallowed", at: now() });
      return { consume: true };
    }
    if (key !== "interrupt" && cancelling === undefined) to({ type: "key" });
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
        return void lifetime.lend(write);
      case "sleep":
        return void lifetime.lend(async () => options.sleep?.());
      default:
        return key satisfies never;
    }
  }

  function stopWith(key: "interrupt" | "escape"): void {
    const own = talk.shell();
    const waiting = desk.open().length > 0;
    const working = progress.working || own !== undefined;
    const situation = { working, waiting, typed: writing.text() !== "", again: isSecond(state, now()) };
    const what = stopIn(state, key, situation);
    to({ type: "stop", key, stop: what, waiting, at: now() });
    switch (what) {
      case "interrupt":
        if (own && !waiting && !progress.working) return own.stop();
        if (!waiting) return void interrupt();
        // Whatever is typed from here on is a message: the panel has no more to say.
        desk.hold(true);
        cancelling ??= setTimeout(() => void interrupt(), SECOND_MS);
        return;
      case "clear":
        return writing.set("");
      case "leave":
        return finish({ why: "interrupted" });
      case "ask":
      case "waits":
      case "nothing":
        return;
      default:
        return what satisfies never;
    }
  }

  async function interrupt(): Promise<void> {
    const reply = await host.send({ type: "interrupt", session, ...sender });
    cancelling = undefined;
    if (!reply.ok) scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
    to({ type: "stopped" });
    desk.hold(false);
    redraw();
  }

  /** Unfolds what still changes and what comes; what has scrolled by is shown again, whole. */
  function unfold(): void {
    to({ type: "unfold" });
    const last = scroll.latest();
    const live = scroll.live().some(({ item }) => item.type === "call" || item.type === "thought");
    if (!state.unfolded || !last || live) return;
    const box =
      last.type === "call"
        ? { title: tt.whole(oneLine(last.call.tool)), text: last.result?.text ?? "" }
        : { title: tt.whole(tt.thought("")), text: last.text.trim() };
    scroll.add({ type: "box", ...box, done: true });
  }

  async function write(): Promise<void> {
    if (!options.edit) return scroll.note("warn", tt.editorNone);
    try {
      writing.set(await options.edit(writing.text()));
    } catch (error) {
      scroll.note("danger", tt.editorFailed(oneLine(String(error))));
    }
  }

  function failed(error: TurnError): void {
    progress.last = { status: "error", error };
    scroll.note("danger", t.turnFailed(oneLine(errorText(error, t))));
    finish({ why: "failed" });
  }

  return {
    done: follow(),
    interrupt() {
      if (!lifetime.mine()) return; // the terminal is another program's, and so are its keys
      stopWith("interrupt");
      redraw();
    },
    failed,
  };
}
