import { ask } from "../../input/ask.ts";
import type { Durable } from "../../journal/durable.ts";
import { Stopped } from "../../journal/session.ts";
import { SageError, type Call, type ToolResult } from "../../protocol/index.ts";
import type { ExecutionContext } from "../state/context.ts";
import { endTurnIfSaid } from "../call/request.ts";
import { waitForPerson } from "../state/states.ts";

/** The same action with the same result this often is no progress. */
const TOO_OFTEN = 4;
const QUESTION = "Go on all the same?";

/** An agent that repeats itself asks the person instead of going on. What a person has answered is no repetition. */
export async function askIfSpinning(
  durable: Durable,
  context: ExecutionContext,
  { calls, results }: { calls: readonly Call[]; results: readonly ToolResult[] },
): Promise<void> {
  const repeats = context.memory.repeats(calls, results);
  const answered = calls.some(
    ({ tool }, n) => context.config.tools.get(tool)?.requiresUserInteraction && results[n]?.ok,
  );
  if (repeats < TOO_OFTEN || answered || durable.stopped) return;
  context.memory.forgetRepeats();
  const what = calls.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`).join("\n");
  const opened = ask(
    durable,
    "spinning",
    {
      kind: "question",
      source: "model",
      agent: context.agent,
      why: `The agent did the same ${TOO_OFTEN} times, with the same result:\n${what}`,
      digest: "",
      questions: [
        {
          question: QUESTION,
          header: "Repeating",
          options: [
            { label: "go on", description: "let it try again" },
            { label: "stop", description: "stop the turn here" },
          ],
          multiSelect: false,
        },
      ],
    },
    context.asking,
  );
  const resolution = await waitForPerson(context, opened);
  endTurnIfSaid(durable, resolution, opened.request);
  const response = resolution.outcome === "answered" ? resolution.response : undefined;
  const choice = response?.type === "answers" ? response.answers[QUESTION] : undefined;
  if (choice?.selected[0] === "stop")
    durable.stop(new Stopped("cancelled", "the agent repeated itself and was stopped"));
  else if (!choice && !durable.stopped)
    throw new SageError(
      "turn-failed",
      `the agent did the same ${TOO_OFTEN} times with the same result, and nobody said to go on`,
    );
}
