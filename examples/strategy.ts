// A strategy of your own. The loop stays the same: a strategy decides who receives events and who may be asked.
import { scripted, UnifiedExecutor, type ExecutionStrategy } from "sage-agent";

/** Keeps a line of every call that ran, and hands the list over at the end, however the turn went. */
function LoggingStrategy(keep: (lines: string[]) => void): ExecutionStrategy {
  return {
    name: "logging",
    async execute(executor, execution) {
      const lines: string[] = [];
      const events = executor.execute(execution);
      try {
        for (;;) {
          const { done, value } = await events.next();
          if (done) return value;
          if ("type" in value && value.type === "call.finished") lines.push(`${value.key}: ${value.data.text}`);
        }
      } finally {
        keep(lines);
      }
    },
  };
}

const executor = new UnifiedExecutor({
  model: scripted([{ calls: [{ tool: "Bash", input: { command: "echo hello" } }] }, { text: "Said hello." }]),
  rules: { allow: ["Bash(echo:*)"] },
});
const outcome = await executor.executeTask(
  "Say hello",
  LoggingStrategy((lines) => console.log(lines.join("\n"))),
);
console.log(outcome.text);
