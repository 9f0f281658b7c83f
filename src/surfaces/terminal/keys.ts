import { oneLine } from "../../base/visible.ts";
import { nextMode } from "../../protocol/mode.ts";
import { errorText } from "../../texts/shared/error.ts";
import { pickerTexts } from "../../texts/surfaces/picker.ts";
import { briefOf } from "../../view/items/summary.ts";
import type { CallItem, ThoughtItem } from "../../view/transcript/item.ts";
import { isKeyRelease, isKeyRepeat } from "./draw/tui.ts";
import { isSecond, isSwallowed, readKey, stopIn, type Key, type Situation } from "./input.ts";
import type { ReadsItem } from "./screen/scroll.ts";
import type { Parts } from "./session.ts";
import { fetchedSource, fileSource, textSource, type Source } from "./widgets/source.ts";

/** Keys that mean the same whatever has the keyboard. */
export type Keys = {
  pressed(data: string): { consume: true } | undefined;
  stopWith(key: "interrupt" | "escape"): void;
  dispose(): void;
};

/** A person who presses Ctrl-C twice wants to leave, and leaving answers nothing: open requests are cancelled only after this. */
const SECOND_MS = 700;
/** Rows of a window that are for other things: a text that takes more is read in a pager. */
const BESIDES = 8;
const TWICE_MS = 600;

export function createKeys(parts: Parts): Keys {
  const { desk, now, redraw, session, state, to } = parts;
  let cancel: NodeJS.Timeout | undefined;
  let escapedAt = -Infinity;

  /** Twice on an empty editor with nothing to interrupt: the messages to go back to. */
  const escaped = (): void => {
    const twice = now() - escapedAt < TWICE_MS;
    escapedAt = twice || parts.writing.text() !== "" ? -Infinity : now();
    if (twice && parts.writing.text() === "") parts.talk.run("rewind");
  };

  const stopWith = (key: "interrupt" | "escape"): void => {
    const { cancelling } = state();
    const stop = stopIn(session.phase, key, situationOf(parts));
    to({ type: "stop", key, stop, at: now() });
    switch (stop) {
      case "shell":
        return parts.talk.shell()?.stop();
      case "interrupt":
        return void interrupt(parts);
      case "now":
        return void interrupt(parts, "now");
      case "cancel":
        // Text typed from here on is a message: the panel takes no more keys.
        desk.hold(true);
        if (!cancelling) cancel = setTimeout(() => void interrupt(parts), SECOND_MS);
        return;
      case "clear":
        return parts.writing.set("");
      case "leave":
        return parts.finish({ why: "interrupted" });
      case "nothing":
        return key === "escape" ? escaped() : undefined;
      case "ask":
      case "waits":
        return;
      default:
        return stop satisfies never;
    }
  };

  return {
    stopWith,
    dispose: () => clearTimeout(cancel),
    pressed(data) {
      if (isKeyRelease(data)) return { consume: true };
      const key = readKey(data);
      if (key !== "interrupt" && desk.panel() === undefined && isSwallowed(state(), now())) {
        to({ type: "swallowed", at: now() });
        return { consume: true };
      }
      if (key !== "interrupt") to({ type: "key" });
      if (!key || !takes(parts, key)) return undefined;
      if (!isKeyRepeat(data)) act(parts, key, stopWith);
      redraw();
      return { consume: true };
    },
  };
}

function situationOf({ desk, session, talk, writing, state, now }: Parts): Situation {
  return {
    working: session.run === "running",
    shell: talk.shell() !== undefined,
    waiting: session.requests.length > 0,
    queued: session.queue.length > 0,
    typed: desk.panel() === undefined && writing.text() !== "",
    again: isSecond(state(), now()),
  };
}

async function interrupt(parts: Parts, means?: "now"): Promise<void> {
  const { session, sender, scroll, desk, t, to, signal, redraw } = parts;
  if (signal.aborted) return; // the person has left, and leaving answers nothing
  const reply = await session.send({ type: "interrupt", session: session.id, ...(means && { to: means }), ...sender });
  if (!reply.ok) scroll.note("danger", t.sendingFailed(oneLine(errorText(reply, t))));
  to({ type: "stopped" });
  desk.hold(false);
  redraw();
}

/** Is this key for Sage, or for the panel or editor that has the keyboard? */
function takes({ desk, pagers, pickers, talk, writing }: Parts, key: Key): boolean {
  if (pagers.open()) return key === "interrupt" || key === "unfold" || key === "sleep";
  const panel = desk.panel() !== undefined;
  if (!panel && pickers.open()) return key === "sleep";
  if (key === "escape" || key === "mode") return !panel && !writing.choosing();
  if (key === "back") return !panel && writing.text() === "" && talk.canTakeBack();
  if (key === "leave") return panel || writing.text() === "";
  if (key === "editor" || key === "revoke" || key === "request" || key === "clipboard") return !panel;
  return true;
}

function act(parts: Parts, key: Key, stopWith: Keys["stopWith"]): void {
  const { lifetime, options } = parts;
  if (parts.pagers.open() && key !== "sleep") return parts.pagers.close();
  switch (key) {
    case "interrupt":
    case "escape":
      return stopWith(key);
    case "mode":
      return parts.talk.chooseMode(nextMode(parts.session.progress.mode));
    case "unfold":
      return unfold(parts);
    case "request":
      return parts.session.requests.length > 0 ? parts.desk.reopen() : findEarlier(parts);
    case "leave":
      return parts.finish({ why: "left" });
    case "editor":
      return void lifetime.lend(() => edit(parts));
    case "clipboard":
      return void paste(parts);
    case "revoke":
      return parts.talk.run("revoke");
    case "back":
      return parts.talk.takeBack();
    case "sleep":
      return void lifetime.lend(async () => options.sleep?.());
    default:
      return key satisfies never;
  }
}

/** Ctrl-R with no open request: messages that the person sent here, the newest first. */
function findEarlier({ options, pickers, writing }: Parts): void {
  const all = [...new Set((options.history?.load() ?? []).toReversed())];
  const entries = all.map((text) => ({ value: text, label: text }));
  pickers.show({
    title: pickerTexts(options.lang).history,
    query: writing.text().split("\n")[0] ?? "",
    load: (show) => show({ entries }),
    choose: async ({ value }) => ({ write: value }),
  });
}

/** Unfolds changing entries and those to come. The last one that scrolled by is shown again whole: below, or in a pager. */
function unfold(parts: Parts): void {
  const { scroll, state, to, tt, pagers, device, session } = parts;
  const latest = scroll.latest();
  const last = latest && wholeOf(latest, { tt, cwd: session.progress.cwd });
  const live = scroll.live().some(({ item }) => item.type === "call" || item.type === "thought");
  const long = last !== undefined && (last.file !== undefined || last.text.split("\n").length > device.rows - BESIDES);
  if (long && !live && !state().unfolded) return pagers.show({ title: last.title, source: sourceOf(last, parts) });
  to({ type: "unfold" });
  const there = scroll.live().some(({ item }) => item === latest); // it is drawn again, unfolded
  if (!state().unfolded || !last || live || there) return;
  scroll.add({ type: "box", title: tt.whole(last.title), text: last.text, done: true });
}

type Whole = { title: string; text: string; file?: string | undefined; call?: string };

/** The whole item as the agent reads it. */
function wholeOf(
  item: CallItem | ThoughtItem | ReadsItem,
  { tt, cwd }: Pick<Parts, "tt"> & { cwd: string | undefined },
): Whole {
  switch (item.type) {
    case "thought":
      return { title: tt.thought(""), text: item.text.trim() };
    case "call":
      return {
        title: oneLine(item.call.tool),
        call: item.key,
        text: item.result?.text ?? "",
        file: item.result?.output?.file,
      };
    case "reads": {
      const texts = item.items.map((item) => `${briefOf(item, cwd)}\n${item.result?.text ?? ""}`);
      return { title: tt.reads(item.items.length), text: texts.join("\n\n") };
    }
    default:
      return item satisfies never;
  }
}

/** A file that is not on this machine is where the session runs: the host is asked for it. */
function sourceOf({ text, file, call }: Whole, { host, options: { session }, t, redraw, signal }: Parts): Source {
  if (file === undefined || call === undefined) return textSource(text);
  const fetch = async (page: number) => {
    const reply = await host.send({ type: "output", session, call, page });
    return reply.ok ? reply : { trouble: errorText(reply, t) };
  };
  return fileSource(file) ?? fetchedSource(text, fetch, () => signal.aborted || redraw());
}

/** The picture in the clipboard becomes a file that the message names. */
async function paste({ options, scroll, tt, writing, redraw }: Parts): Promise<void> {
  const found = (await options.clipboard?.().catch(() => undefined)) ?? { problem: "no-program" as const };
  if ("path" in found) writing.insert(`@${quoted(found.path)} `);
  else scroll.note("warn", tt.clipboard[found.problem]);
  redraw();
}

function quoted(path: string): string {
  return /[\s"\\]/.test(path) ? `"${path}"` : path;
}

async function edit({ options, scroll, tt, writing }: Parts): Promise<void> {
  if (!options.edit) return scroll.note("warn", tt.editorNone);
  try {
    writing.set(await options.edit(writing.text()));
  } catch (error) {
    scroll.note("danger", tt.editorFailed(oneLine(String(error))));
  }
}
