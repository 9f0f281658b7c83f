import { oneLine } from "../../base/visible.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { nameOf } from "../../view/items/summary.ts";
import { ownerNote } from "../../view/owner.ts";
import type { SessionChange } from "../../view/session.ts";
import { learnBackground } from "./draw/theme.ts";
import type { Keys } from "./keys.ts";
import { notification } from "./screen/notify.ts";
import type { TerminalEnd } from "./screen/options.ts";
import type { Parts } from "./parts.ts";

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

export function changed(parts: Parts, change: SessionChange): void {
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
  const text = tt.notice[request.kind](nameOf(request, t));
  device.write(notification(text, options.env));
  options.notify?.(text).catch((error: unknown) => {
    scroll.note("warn", tt.notifyFailed(oneLine(String(error))));
    redraw();
  });
}
