import type { Fact } from "../../protocol/facts/fact.ts";
import type { WatchEvent } from "../../protocol/host/host.ts";
import { noteLines } from "../../view/lines/note.ts";
import { linkNote, ownerNote, type Owner } from "../../view/owner.ts";
import type { PlainEnd } from "./options.ts";
import type { Parts } from "./parts.ts";

/** Prints the session from its first fact until the person leaves or the session's watch ends. */
export async function follow(parts: Parts): Promise<PlainEnd> {
  const { host, options, signal, progress, state } = parts;
  const past: Fact[] = [];
  try {
    for await (const event of host.watch(options.session, { signal })) {
      heard(parts, event, past);
      if (options.once && progress.last) parts.finish("ended");
      parts.prompts.settleSoon();
    }
  } finally {
    parts.life.stop();
    parts.prompts.close();
    parts.lines.close();
  }
  return { why: state().why, waiting: state().open.length, last: progress.last };
}

/** `past` collects facts until all of them are there: only then is it known which turn was the last one. */
function heard(parts: Parts, event: WatchEvent, past: Fact[]): void {
  switch (event.type) {
    case "delta":
      return parts.print(parts.view.delta(event.delta));
    case "fact":
      parts.progress.note(event.fact);
      if (parts.state().phase === "joining") past.push(event.fact);
      else happened(parts, event.fact);
      return;
    case "owner":
      return ownerChanged(parts, event);
    case "ready":
      return joined(parts, past, event);
    case "link":
      return linkChanged(parts, event);
    default:
      return event satisfies never;
  }
}

function joined(parts: Parts, past: readonly Fact[], { requests, live }: WatchEvent & { type: "ready" }): void {
  const { options, progress, talking } = parts;
  parts.print(parts.view.history(past));
  ownerChanged(parts, { live, stopped: false });
  const signed = requests.filter(({ approvals = [] }) => approvals.some(({ by }) => by === parts.sender.by));
  parts.to({ type: "joined", requests, signed: signed.map(({ request }) => request.id) });
  progress.running.clear(); // a process that is gone runs nothing
  if (options.task !== undefined) talking.speak(options.task, { echoed: true });
  else if (progress.working) talking.resume(); // a paused turn waits for a word of the person
}

function ownerChanged({ progress, options, state, to, say, style }: Parts, owner: Owner): void {
  const busy = progress.working || state().open.length > 0;
  const note = ownerNote(owner, { live: state().live, busy, lang: options.lang });
  to({ type: "owner", live: owner.live });
  if (owner.stopped && busy) progress.stopped();
  if (note) say(...noteLines(note, style));
}

/** A prompt that is open stands again below the line. */
function linkChanged({ to, say, asking, options, style }: Parts, link: { lost: boolean }): void {
  to({ type: "link", lost: link.lost });
  const note = () => say(...noteLines(linkNote(link, options.lang), style));
  const shown = asking.shown();
  if (shown) asking.interject(shown.id, note);
  else note();
}

function happened({ to, life, asking, prompts, print, view }: Parts, fact: Fact): void {
  if (fact.type === "input.requested") to({ type: "requested", request: fact.data });
  if (fact.type === "input.approved") to({ type: "approved", approval: fact.data });
  if (fact.type === "call.started" || fact.type === "turn.begun" || fact.type === "call.finished") life.busy();
  if (fact.type === "input.resolved") {
    to({ type: "resolved", id: fact.data.requestId });
    if (asking.shown()?.id === fact.data.requestId) prompts.close();
  }
  const pieces = view.fact(fact);
  if (fact.type === "inquiry.replied") asking.interject(fact.data.requestId, () => print(pieces));
  else print(pieces);
  if (fact.type === "turn.ended") to({ type: "turn-ended" });
}
