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
  d: Durable,
  c: ExecutionContext,
  { calls, results }: { calls: readonly Call[]; results: readonly ToolResult[] },
): Promise<void> {
  const repeats = c.memory.repeats(calls, results);
  const answered = calls.some(({ tool }, n) => c.config.tools.get(tool)?.requiresUserInteraction && results[n]?.ok);
  if (repeats < TOO_OFTEN || answered || d.stopped) return;
  c.memory.forgetRepeats();
  const what = calls.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`).join("\n");
  const opened = ask(
    d,
    "spinning",
    {
      kind: "question",
      source: "model",
      agent: c.agent,
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
    c.asking,
  );
  const resolution = await waitForPerson(c, opened);
  endTurnIfSaid(d, resolution, opened.request);
  const response = resolution.outcome === "answered" ? resolution.response : undefined;
  const choice = response?.type === "answers" ? response.answers[QUESTION] : undefined;
  if (choice?.selected[0] === "stop") d.stop(new Stopped("cancelled", "the agent repeated itself and was stopped"));
  else if (!choice && !d.stopped)
    throw new SageError(
      "turn-failed",
      `the agent did the same ${TOO_OFTEN} times with the same result, and nobody said to go on`,
    );
}
