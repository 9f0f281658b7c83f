// The executor by itself: a channel and its handle, a channel without a person, and a request that nobody answers.
import { InputChannel, isSuccess, scripted, UnifiedExecutor } from "sage-agent";

const colour = { question: "Q1", header: "Colour", options: [option("Answer1"), option("Answer2")] };
const asks = () =>
  scripted([{ calls: [{ tool: "AskUserQuestion", input: { questions: [colour] } }] }, { text: "Done." }]);
const runs = () => scripted([{ calls: [{ tool: "Bash", input: { command: "echo it ran" } }] }, { text: "Done." }]);

// A person answers.
const [channel, handle] = InputChannel.create(10);
const running = new UnifiedExecutor({ model: asks() }, {}, channel).executeTask("Ask me");
const request = await handle.nextRequest();
await handle.respond({ type: "answers", requestId: request?.id ?? "", answers: { Q1: "Answer1" } });
console.log(isSuccess(await running));

// Nobody is there, and ordinary permissions are granted.
const alone = InputChannel.nonInteractive("alwaysAllow");
console.log(isSuccess(await new UnifiedExecutor({ model: runs() }, {}, alone).executeTask("Run it")));

// Nobody answers in time.
const [silent] = InputChannel.create(10);
const late = await new UnifiedExecutor({ model: asks() }, { promptTimeout: 100 }, silent).executeTask("Ask me");
console.log(late.status === "error" && late.error.code);

function option(label: string) {
  return { label, description: `take ${label}` };
}
