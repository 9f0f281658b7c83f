import { ask } from "../../../input/ask.ts";
import type { Durable } from "../../../journal/session/durable.ts";
import { Stopped } from "../../../journal/session/session.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { choiceOf } from "../../../protocol/facts/request.ts";
import { callKeys } from "../../../protocol/key.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import { ownQuestion } from "../../../texts/shared/questions.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import { changesSince } from "./changes.ts";
import type { ExecutionContext } from "../../state/context.ts";
import { toolPlace } from "../judge/decision-input.ts";
import { endTurnIfSaid } from "../judge/request.ts";
import { waitForPerson } from "../../state/states.ts";

type Lost = {
  tool: Tool;
  input: ToolInput;
  verdict: Verdict;
  round: number;
  /** Process groups of it that still live. */
  running: number[];
  /** When it was started. */
  since: number;
};

/** It was started once and its end is unknown: only a person may say what follows. Never silently twice. */
export async function recover(durable: Durable, context: ExecutionContext, lost: Lost): Promise<ToolResult | "rerun"> {
  const { round, running } = lost;
  const run = callKeys.run(round);
  const keys = callKeys.lost(round);
  let found: Reason = reason("end-unknown", {});
  // Once asked, it is followed to its end, also when the command has ended since.
  if (running.length > 0 || durable.known(keys.running)) {
    const { choice } = await choose(durable, context, lost, {
      key: keys.running,
      code: "lost-running",
      why: reason("outlived", { groups: running }),
    });
    if (choice !== "wait" && choice !== "kill")
      return endUnknown("The command outlived Sage and was left alone; it may still be running.");
    const ended = await durable.step(keys.ended, "call.unknown", async (scope) => {
      // Looked up anew: days may have passed, and the number may be somebody else's by now.
      if (choice === "kill") durable.running(run).forEach(kill);
      await allEnded(() => durable.running(run), scope.signal);
      return { reason: reason(choice === "kill" ? "outlived-and-killed" : "outlived-and-ended", {}) };
    });
    found = ended.reason;
  }
  // Once asked, the request says what was found then.
  const changes = durable.known(keys.over)
    ? { problem: "" }
    : await changesSince(context.options.workingDirectory, lost.since, durable.signal);
  const { choice, why } = await choose(durable, context, lost, {
    key: keys.over,
    code: "lost",
    why: reason("lost-call", { known: found, changes }),
  });
  if (choice === "rerun") return "rerun";
  if (choice === "done")
    return {
      ok: true,
      end: "done",
      text: `${why}\nThe person says that it is done. Its output is not known: look before you rely on it.`,
      shown: { characters: 0 }, // the answer tells it
    };
  if (choice === "stop") durable.stop(new Stopped("cancelled", reason("stopped-after-loss", {})));
  return endUnknown(`${why}\nIt was not run again: check what it left behind before anything else.`);
}

async function choose(
  durable: Durable,
  context: ExecutionContext,
  { tool, input, verdict }: Lost,
  { key, code, why }: { key: string; code: "lost" | "lost-running"; why: Reason },
): Promise<{ choice: string | undefined; why: string }> {
  const what = tool.specifier?.(input, toolPlace(context)) ?? JSON.stringify(input);
  const request = ownQuestion(reason(code, { tool: tool.name, what }), {
    source: "recovery",
    agent: context.agent,
    why,
    digest: verdict.digest,
  });
  const opened = ask(durable, key, request, context.asking);
  const resolution = await waitForPerson(context, opened);
  endTurnIfSaid(durable, resolution, opened.request);
  const talk = context.inquiries.end(context, opened.request.id);
  const told = sentence(opened.request.why, "en");
  return { choice: choiceOf(resolution), why: talk === undefined ? told : `${told}\n${talk}` };
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // gone already
  }
}

async function allEnded(running: () => number[], signal: AbortSignal): Promise<void> {
  while (running().length > 0) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function endUnknown(text: string): ToolResult {
  return { ok: false, text, shown: { characters: 0, notes: [reason("exit-unknown", {})] }, end: "unknown" };
}
