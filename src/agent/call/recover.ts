import { ask } from "../../input/ask.ts";
import type { Durable } from "../../journal/durable.ts";
import { Stopped } from "../../journal/session.ts";
import type { QuestionOption, ToolInput, ToolResult, Verdict } from "../../protocol/index.ts";
import type { Tool } from "../../tools/tool.ts";
import { changesSince } from "./changes.ts";
import type { ExecutionContext } from "../state/context.ts";
import { placeOf } from "./judge.ts";
import { endTurnIfSaid } from "./request.ts";
import { waitForPerson } from "../state/states.ts";

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
  let known = "Sage was stopped while this ran, and how it ended is not known.";
  const { round, running } = lost;
  const run = `run${round}`;
  // Once asked, it is followed to its end, also when the command has ended since.
  if (running.length > 0 || durable.known(`lost${round}.running`)) {
    const { choice } = await choose(durable, context, lost, {
      key: `lost${round}.running`,
      why: `Sage was stopped while this ran. The command is still running (process group ${running.join(", ")}).`,
      options: [
        { label: "wait", description: "wait until it ends by itself" },
        { label: "kill", description: "end it now, with everything it started" },
        { label: "leave", description: "let it run on, and go on without it" },
      ],
    });
    if (choice !== "wait" && choice !== "kill")
      return unknown("The command outlived Sage and was left alone; it may still be running.");
    const { reason } = await durable.step(`lost${round}.ended`, "call.unknown", async (scope) => {
      // Looked up anew: days may have passed, and the number may be somebody else's by now.
      if (choice === "kill") durable.running(run).forEach(kill);
      await ended(() => durable.running(run), scope.signal);
      return {
        reason:
          choice === "kill"
            ? "It outlived Sage and was killed on the person's word."
            : "It outlived Sage and has ended since; its output is not known.",
      };
    });
    known = reason;
  }
  // Once asked, the request says what was found then.
  const changes = durable.known(`lost${round}`)
    ? ""
    : await changesSince(context.options.workingDirectory, lost.since, durable.signal);
  const { choice, why } = await choose(durable, context, lost, {
    key: `lost${round}`,
    why: `${known}\n${changes}`,
    options: [
      { label: "rerun", description: "run it once more" },
      { label: "done", description: "take it as done and go on" },
      { label: "stop", description: "stop the turn here" },
    ],
  });
  if (choice === "rerun") return "rerun";
  if (choice === "done")
    return {
      ok: true,
      end: "done",
      text: `${why}\nThe person says that it is done. Its output is not known: look before you rely on it.`,
    };
  if (choice === "stop") durable.stop(new Stopped("cancelled", "stopped after an interrupted command"));
  return unknown(`${why}\nIt was not run again: check what it left behind before anything else.`);
}

async function choose(
  durable: Durable,
  context: ExecutionContext,
  { tool, input, verdict }: Lost,
  asked: { key: string; why: string; options: QuestionOption[] },
): Promise<{ choice: string | undefined; why: string }> {
  const question = `${tool.name} was interrupted: ${tool.specifier?.(input, placeOf(context)) ?? JSON.stringify(input)}`;
  const opened = ask(
    durable,
    asked.key,
    {
      kind: "question",
      source: "recovery",
      agent: context.agent,
      why: asked.why,
      digest: verdict.digest,
      questions: [{ question, header: "Interrupted", options: asked.options, multiSelect: false }],
    },
    context.asking,
  );
  const resolution = await waitForPerson(context, opened);
  endTurnIfSaid(durable, resolution, opened.request);
  const { why } = opened.request;
  if (resolution.outcome !== "answered" || resolution.response.type !== "answers") return { choice: undefined, why };
  return { choice: Object.values(resolution.response.answers)[0]?.selected[0], why };
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // gone already
  }
}

async function ended(running: () => number[], signal: AbortSignal): Promise<void> {
  while (running().length > 0) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function unknown(text: string): ToolResult {
  return { ok: false, text, end: "unknown" };
}
