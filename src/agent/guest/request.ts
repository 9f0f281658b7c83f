import type { GuestAsk, GuestDriver } from "../../guest/driver.ts";
import { ask } from "../../input/ask.ts";
import type { Durable, Opened } from "../../journal/session/durable.ts";
import { visible } from "../../base/visible.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { NewRequest } from "../../protocol/facts/request.ts";
import { callKeys } from "../../protocol/key.ts";
import { judgeCall } from "../call/judge/judge.ts";
import { isToBeSigned, permissionOf, watchPermit } from "../call/judge/request.ts";
import type { ExecutionContext } from "../state/context.ts";
import { meant } from "./judge.ts";

/** Opens what a guest asks: its question, or the permission for its call. People see its whole input, in its own words. */
export function openGuestRequest(
  durable: Durable,
  context: ExecutionContext,
  { ask: prompt, verdict, driver }: { ask: GuestAsk; verdict: Verdict; driver: GuestDriver },
): Opened {
  const { call, questions } = prompt;
  const frame = { agent: [driver.name, ...prompt.agent.map(visible)], why: verdict.reason, digest: verdict.digest };
  if (questions) {
    const own: NewRequest = { ...frame, source: "tool", kind: "question", questions: [...questions] };
    return ask(durable, callKeys.ask(0), own, context.asking);
  }
  const [first = call] = meant(prompt);
  const tool = context.config.tools.get(first.tool);
  const shown = tool && permissionOf(context, { tool, input: first.input }, verdict);
  const { description } = call.input;
  const opened = ask(
    durable,
    callKeys.permit(0),
    {
      hard: verdict.hard ?? false,
      suggestions: [],
      kind: "permission",
      source: "approval",
      ...shown,
      ...frame,
      tool: call.tool,
      input: call.input,
      ...(typeof description === "string" && { description }),
      ...(isToBeSigned(context, verdict.hard ?? false) && { signed: true }),
      ...(!driver.edits && { fixed: true }),
    },
    context.asking,
  );
  // A rule added meanwhile can refuse a second run, but never allow it.
  const isRerun = verdict.reason.code === "guest-may-have-run";
  watchPermit(context, opened, verdict, () => {
    const now = judgeCall(context, first);
    return isRerun && now.behavior === "allow" ? verdict : now;
  });
  return opened;
}
