import { oneLine } from "../../base/visible.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { isInquiry } from "../../protocol/facts/inquiry.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { WatchEvent } from "../../protocol/host/host.ts";
import { linkNote, ownerNote, type Owner } from "../../view/owner.ts";
import { nameOf } from "../../view/items/summary.ts";
import { learnBackground } from "./draw/theme.ts";
import type { Keys } from "./keys.ts";
import { notification } from "./screen/notify.ts";
import type { TerminalEnd } from "./screen/options.ts";
import type { Parts } from "./parts.ts";

/** Draws the session from its first fact until the person leaves or the session's watch ends. */
export async function follow(parts: Parts, keys: Keys): Promise<TerminalEnd> {
  const { host, options, signal, progress, desk, redraw } = parts;
  begin(parts, keys);
  const past: Fact[] = [];
  try {
    for await (const event of host.watch(options.session, { signal })) {
      heard(parts, event, past);
      if (event.type === "delta") continue;
      if (parts.state().phase !== "joining") redraw();
      if (options.once && progress.last) parts.finish({ why: "ended" });
    }
  } finally {
    keys.dispose();
    parts.pulse.stop();
    desk.dispose();
    parts.lifetime.end();
  }
  return { ...parts.state().end, waiting: desk.open().length, last: progress.last };
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

/** `past` collects facts until all of them are there: only then is it known which turn was the last one. */
function heard(parts: Parts, event: WatchEvent, past: Fact[]): void {
  switch (event.type) {
    case "delta":
      parts.activity.delta(event.delta);
      parts.scroll.delta(event.delta);
      return parts.pulse.soon();
    case "fact":
      parts.progress.note(event.fact);
      if (parts.state().phase === "joining") past.push(event.fact);
      else happened(parts, event.fact);
      return;
    case "owner":
      return ownerChanged(parts, event);
    case "ready":
      return joined(parts, past, event);
    case "link": {
      const note = linkNote(event, parts.options.lang);
      parts.to({ type: "link", lost: event.lost });
      return parts.scroll.note(note.tone, note.line);
    }
    default:
      return event satisfies never;
  }
}

function joined(parts: Parts, past: readonly Fact[], { requests, live }: WatchEvent & { type: "ready" }): void {
  const { scroll, progress, desk, talk, options } = parts;
  scroll.history(past);
  parts.to({ type: "joined" });
  ownerChanged(parts, { live, stopped: false });
  progress.running.clear(); // a process that is gone runs nothing
  past.filter(isInquiry).forEach(desk.inquired);
  desk.begin(requests);
  if (requests[0]) announce(parts, requests[0].request);
  if (options.task !== undefined) talk.speak(options.task);
  else if (progress.working) talk.resume(); // a paused turn waits for a word of the person
}

function ownerChanged({ progress, desk, options, scroll, state, to }: Parts, owner: Owner): void {
  const busy = progress.working || desk.open().length > 0;
  const note = ownerNote(owner, { live: state().live, busy, lang: options.lang });
  to({ type: "owner", live: owner.live });
  if (owner.stopped && busy) progress.stopped();
  if (note) scroll.note(note.tone, note.line);
}

function happened(parts: Parts, fact: Fact): void {
  parts.activity.fact(fact);
  parts.scroll.fact(fact);
  if (fact.type === "input.approved") parts.desk.approved(fact.data);
  if (isInquiry(fact)) parts.desk.inquired(fact);
  if (fact.type === "input.resolved") parts.desk.remove(fact.data.requestId);
  if (fact.type === "input.reminded" || fact.type === "input.escalated") {
    const waiting = parts.desk.open().find(({ request }) => request.id === fact.data.requestId);
    if (waiting) announce(parts, waiting.request);
  }
  if (fact.type !== "input.requested") return;
  parts.desk.add(fact.data);
  announce(parts, fact.data);
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
