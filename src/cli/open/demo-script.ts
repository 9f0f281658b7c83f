import type { ModelRequest } from "../../models/model.ts";
import type { ScriptedTurn, ScriptedTurns } from "../../models/scripted.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { DemoTexts } from "../../texts/commands/demo.ts";

/** Script of the demo's model. It reacts to what the person did, as far as a script can. */
export function demoScript(t: DemoTexts, delayMs: number): ScriptedTurns {
  const turns: ((request: ModelRequest) => ScriptedTurn)[] = [
    () => ({ text: t.hello, calls: [{ tool: "AskUserQuestion", input: { questions: [question(t)] } }] }),
    (request) => ({
      text: resultOf(request, "AskUserQuestion")?.ok ? t.reading : t.unanswered,
      calls: [{ tool: "Read", input: { file_path: "README.md" } }],
    }),
    (request) => ({
      text: t.writing,
      calls: [{ tool: "Write", input: { file_path: "hello.mjs", content: program(request, t) } }],
    }),
    (request) =>
      resultOf(request, "Write")?.ok
        ? { text: t.running, calls: [{ tool: "Bash", input: { command: "node hello.mjs", description: t.runWords } }] }
        : { text: t.notWritten },
    (request) => {
      const ran = resultOf(request, "Bash");
      if (ran?.end === "refused-by-person") return { text: t.refused };
      return { text: ran?.ok ? t.ran(ran.text.trim()) : t.notRun(ran?.text ?? "") };
    },
  ];
  return turns.map((turn) => (request: ModelRequest) => ({ delayMs, ...turn(request) }));
}

function question({ question, header, options }: DemoTexts) {
  return { question, header, options, multiSelect: false };
}

function program(request: ModelRequest, { options, readme, greets }: DemoTexts): string {
  const name = (resultOf(request, "Read")?.text ?? readme).match(/# (.+)/)?.[1] ?? "";
  const answer = resultOf(request, "AskUserQuestion")?.text ?? "";
  const picked = options.filter(({ label }) => answer.includes(JSON.stringify(label)));
  const greetings = options.slice(0, 2).map(({ description }) => description);
  const own = /Other, in the person's own words: (".*")/.exec(answer)?.[1];
  const lines = own
    ? [JSON.parse(own) as string]
    : picked[0] === options[2]
      ? greetings
      : [picked[0]?.description ?? "Welcome home."];
  return lines.map((line) => `console.log(${JSON.stringify(greets(name, line))});\n`).join("");
}

function resultOf({ messages }: ModelRequest, tool: string): ToolResult | undefined {
  const results = messages.flatMap((message) => (message.role === "tool" ? message.results : []));
  return results.find((one) => one.tool === tool)?.result;
}
