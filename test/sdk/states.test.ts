// A caller that iterates a run sees what its agents do: work and waiting as deltas, its beginning and end as facts, subagents by their names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SageAgentSDK, scripted, type RunEvent } from "../../src/sdk/index.ts";
import { type AgentState } from "../../src/sdk/entries/executor.ts";
import { bash, workspace } from "../support/sage.ts";

const allowing = { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } } as const;

const nameOf = (state: AgentState | undefined) => (state?.state === "executing" ? state.phase : state?.state);

/** States in their order: of deltas, and of the facts among them. */
function states(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "fact") return event.fact.type === "state.changed" ? [`fact ${event.fact.data.to.state}`] : [];
    if (event.delta.kind !== "state") return [];
    return [[...(event.delta.agent ?? []), nameOf(event.delta.state)].join("/")];
  });
}

test("a run shows when it thinks, judges, runs and ends", async () => {
  using here = workspace();
  const model = scripted([{ text: "look", calls: [bash("echo 你好")] }, { text: "done" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const events: RunEvent[] = [];
  for await (const event of sage.run("go", allowing)) events.push(event);
  assert.deepEqual(
    states(events).filter((state) => state !== "preparingContext"),
    [...["fact executing", "callingLlm", "processingResponse", "executingTools", "callingLlm"], "fact completed"],
  );
  await sage.close();
});

test("a subagent's phases, its waiting for a person and its end are shown under its name and its call", async () => {
  using here = workspace();
  const task = (agent: string) => ({ tool: "Task", input: { agent, prompt: "看看", description: "look" } });
  const model = scripted({
    "": [{ calls: [task("GeneralPurpose")] }, { text: "done" }],
    GeneralPurpose: [{ calls: [bash("env echo sub")] }, { text: "seen" }],
  });
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const events: RunEvent[] = [];
  const watching = (async () => {
    for await (const event of result) events.push(event);
  })();
  const request = await handle.nextRequest();
  assert.deepEqual(request?.agent, ["GeneralPurpose"]);
  await handle.respond({ type: "granted", requestId: request?.id ?? "" });
  await result;
  await watching;
  const shown = events.flatMap((event) =>
    event.type === "delta" && event.delta.kind === "state" && event.delta.agent?.length === 1 ? [event.delta] : [],
  );
  assert.deepEqual(
    shown.map(({ state }) => nameOf(state)).filter((name) => name !== "preparingContext"),
    [
      ...["callingLlm", "processingResponse", "executingTools", "waitingForConfirmation", "executingTools"],
      ...["callingLlm", "completed"],
    ],
  );
  assert.deepEqual([...new Set(shown.map(({ key }) => key))], ["t0/0/0"]);
  const waiting = shown.find(({ state }) => state?.state === "waitingForConfirmation")?.state;
  assert.equal(waiting?.state === "waitingForConfirmation" && waiting.requestId, request?.id);
  assert.ok(states(events).includes("waitingForConfirmation"), "the root waits while anybody in its tree does");
  await sage.close();
});
