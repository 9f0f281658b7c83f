import { noteLines } from "../../view/lines/note.ts";
import { ownerNote } from "../../view/owner.ts";
import type { SessionChange } from "../../view/session.ts";
import type { PlainEnd } from "./options.ts";
import type { Parts } from "./parts.ts";

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

export function changed(parts: Parts, change: SessionChange): void {
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

/** A prompt that is open stands again below the line. */
function tell({ session, asking, options, say, style }: Parts, change: SessionChange): void {
  const note = ownerNote(change, session, options.lang);
  if (!note) return;
  const write = () => say(...noteLines(note, style));
  const shown = asking.shown();
  if (shown) asking.interject(shown.id, write);
  else write();
}
