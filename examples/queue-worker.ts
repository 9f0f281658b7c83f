// In a queue worker: a job runs until it needs a person and goes back into the queue. Any worker continues it with the answer.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SageAgentSDK, scripted } from "sage-agent";

const question = {
  question: "Deploy to production?",
  header: "Deploy",
  options: [
    { label: "Now", description: "at once" },
    { label: "Tonight", description: "when nobody is there" },
  ],
};
const model = scripted([
  { calls: [{ tool: "AskUserQuestion", input: { questions: [question] } }] },
  { text: "Deployment is planned." },
]);
const dir = await mkdtemp(join(tmpdir(), "sage-"));

type Job = { task: string; session?: string; answer?: string };

/** One job, one process. `session` and `answer` come back with a job that was put back. */
async function work({ task, session, answer }: Job): Promise<Job | string> {
  const sage = new SageAgentSDK({ model, journal: join(dir, "journal.db") });
  try {
    const agent = await sage.openTurns(session === undefined ? {} : { session });
    if (answer !== undefined && agent.getPendingQuestion()) await agent.answerQuestion(answer);
    // A job that is delivered twice attaches to the same turn instead of starting its task again.
    const turn = await agent.runTurn(session === undefined ? task : "");
    return turn.needsInput ? { task, session: agent.session } : turn.outcome.text;
  } finally {
    await sage.close();
  }
}

const put = await work({ task: "Deploy the site" });
if (typeof put === "string") throw new Error("it should have asked");
console.log("waits for a person:", put.session !== undefined);
console.log(await work({ ...put, answer: "Tonight" }));
await rm(dir, { recursive: true });
