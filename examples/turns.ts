// Returns when a person is needed and continues once they have answered, even tomorrow and in another process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SageAgentSDK, scripted } from "sage-agent";

const question = {
  question: "Which port?",
  header: "Port",
  options: [
    { label: "8080", description: "free on this machine" },
    { label: "80", description: "needs root" },
  ],
};
const model = scripted([
  { calls: [{ tool: "AskUserQuestion", input: { questions: [question] } }] },
  ({ messages }) => ({ text: JSON.stringify(messages.at(-1)).includes("8080") ? "Listening on 8080." : "No port." }),
]);
const dir = await mkdtemp(join(tmpdir(), "sage-"));
const options = { model, journal: join(dir, "journal.db") };

// A web request comes in: run until the agent needs a person, then return.
const today = new SageAgentSDK(options);
const agent = await today.openTurns();
const result = await agent.runTurn("Start the server", {
  confirm: (request) => request.tool === "Read", // permissions; without it they are returned like questions
  onEvent: (event) => event.type === "question_pending" && console.log("pending:", event.question.kind),
});
console.log("needs input:", result.needsInput);
await today.close();

// Another process, later: the same session, the same question, the same turn.
const tomorrow = new SageAgentSDK(options);
const again = await tomorrow.openTurns({ session: agent.session });
if (again.isWaitingInput()) {
  const asked = again.getPendingQuestion();
  console.log("asked:", asked?.kind === "question" && asked.questions[0]?.question);
  await again.answerQuestion("8080");
}
const end = await again.runTurn("");
if (!end.needsInput) console.log(end.outcome.text);
await tomorrow.close();
await rm(dir, { recursive: true });
