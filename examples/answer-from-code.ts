// The loop blocks inside the turn; your code is the surface that answers.
import { SageAgentSDK, scripted } from "sage-agent";

const model = scripted([
  {
    calls: [
      {
        tool: "AskUserQuestion",
        input: {
          questions: [
            {
              question: "Which database?",
              header: "Database",
              options: [
                { label: "SQLite", description: "one file, nothing to run" },
                { label: "PostgreSQL", description: "a server of its own" },
              ],
            },
          ],
        },
      },
    ],
  },
  ({ messages }) => ({ text: JSON.stringify(messages.at(-1)).includes("SQLite") ? "SQLite it is." : "As you wish." }),
]);

const sage = new SageAgentSDK({ model });
const { handle, result } = sage.executeWithChannel("Set up storage");

const request = await handle.nextRequest();
if (request?.kind === "question") {
  console.log("asked:", request.questions[0]?.question);
  await handle.respond({
    type: "answers",
    requestId: request.id,
    answers: { "Which database?": { selected: ["SQLite"] } },
    remark: "we can move later",
  });
}
console.log((await result).text);
await sage.close();
