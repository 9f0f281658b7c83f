import { oneLine } from "../../base/visible.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { SharedAnswer } from "../../protocol/host/host.ts";
import { errorText } from "../../texts/shared/error.ts";
import { headline } from "../../texts/shared/resolution.ts";
import type { Parts } from "./parts.ts";
import { onInterrupt } from "./typed/state.ts";
import { recorded } from "./view.ts";

/** Sends an answer and says what became of it. */
export async function respond(parts: Parts, request: InputRequest, response: InputResponse): Promise<void> {
  const { session, sender, style, to, say } = parts;
  const { t, paint } = style;
  to({ type: "sent" });
  parts.answered.add(request.id);
  const reply = await session.send({ type: "respond", response, ...sender });
  to({ type: "replied" });
  if (reply.ok && !reply.resolution) {
    if (reply.approved.again) say(paint.yellow(t.approvedAgain));
  } else if (reply.ok) say(recorded(reply.resolution, style));
  else if (reply.resolution) say(paint.yellow(headline(reply.resolution, t, sender)));
  else say(paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
  parts.prompts.settle();
}

/** Asks about a request; the reply comes as a fact. */
export async function inquire(parts: Parts, { id }: InputRequest, text: string): Promise<void> {
  const { session, sender, style } = parts;
  const reply = await session.send({ type: "inquire", requestId: id, text, ...sender });
  if (reply.ok) return;
  const why = style.paint.red(style.t.sendingFailed(oneLine(errorText(reply, style.t))));
  parts.asking.interject(id, () => parts.say(why));
}

/** Sends one answer to several requests and says what became of each. */
export async function respondAll(parts: Parts, requestIds: readonly string[], answer: SharedAnswer): Promise<void> {
  const { session, sender, style, to, say } = parts;
  const { t, paint } = style;
  to({ type: "sent" });
  for (const id of requestIds) parts.answered.add(id);
  const reply = await session.send({ type: "respondAll", requestIds, answer, ...sender });
  to({ type: "replied" });
  if (!reply.ok) say(paint.red(t.sendingFailed(oneLine(errorText(reply, t)))));
  const results = reply.ok ? reply.results : [];
  for (const one of results) {
    if (one.ok) say(recorded(one.resolution, style));
    else if (one.resolution) say(paint.yellow(headline(one.resolution, t, sender)));
    else say(paint.red(t.sendingFailed(oneLine(errorText(one, t)))));
  }
  parts.prompts.settle();
}

/** Ctrl-C: interrupts the turn, or leaves. */
export async function interrupt(parts: Parts): Promise<void> {
  const { session, sender, style, state, to, prompts } = parts;
  const now = performance.now();
  if (onInterrupt(state(), session, now) === "leave") return parts.finish("interrupted");
  const text = state().prompt.for === "request" ? style.t.cancelling : style.t.interrupting;
  prompts.close();
  to({ type: "interrupted", at: now });
  parts.say(style.paint.yellow(text));
  const reply = await session.send({ type: "interrupt", session: session.id, ...sender });
  to({ type: "interrupt-replied", cancelled: reply.ok && reply.to === "cancel" });
  prompts.settle();
}
