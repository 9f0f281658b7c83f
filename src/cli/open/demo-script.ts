import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { ModelRequest } from "../../models/model.ts";
import type { Script, ScriptedTurn } from "../../models/scripted.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { DemoTexts } from "../../texts/commands/demo.ts";

/** The file that the demo's agent writes. */
export const PROGRAM = "hello.mjs";

/**
 * Script of the demo's model. It reacts to what the person did, as far as a script can. With `ends: "killed"` it asks once more at the
 * end, for the process that asks to be killed.
 */
export function demoScript(
  t: DemoTexts,
  delayMs: number,
  { ends = "done", further = [] }: { ends?: "done" | "killed"; further?: readonly ScriptedTurn[] } = {},
): Script {
  const turns: ((request: ModelRequest) => ScriptedTurn)[] = [
    () => ({ text: t.hello, calls: [{ tool: "AskUserQuestion", input: { questions: [question(t)] } }] }),
    (request) => ({
      text: lastResult(request, "AskUserQuestion")?.ok ? t.reading : t.unanswered,
      calls: [{ tool: "Read", input: { file_path: "README.md" } }],
    }),
    (request) => ({
      text: t.writing,
      calls: [{ tool: "Write", input: { file_path: PROGRAM, content: program(request, t) } }],
    }),
    (request) =>
      lastResult(request, "Write")?.ok
        ? { text: t.running, calls: [{ tool: "Bash", input: { command: `node ${PROGRAM}`, description: t.runWords } }] }
        : { text: t.notWritten },
    (request) => {
      const ran = lastResult(request, "Bash");
      if (ran?.end === "refused-by-person") return { text: t.refused };
      if (!ran?.ok || ends === "done") return { text: ran?.ok ? t.ran(ran.text.trim()) : t.notRun(ran?.text ?? "") };
      const input = { command: `rm ${PROGRAM}`, description: t.removeWords };
      return { text: `${t.ran(ran.text.trim())}\n\n${t.removing}`, calls: [{ tool: "Bash", input }] };
    },
    ({ messages }) => {
      const last = messages.findLast((message) => message.role === "tool");
      return { text: last?.results[0]?.result.ok ? t.removed : t.kept };
    },
  ];
  const root = turns.map((turn) => (request: ModelRequest) => ({ delayMs, ...turn(request) }));
  return { "": [...root, ...further], inquiry: [{ text: t.inquired }] };
}

function question({ question, header, options }: DemoTexts) {
  return { question, header, options, multiSelect: false };
}

function program(request: ModelRequest, { options, readme, greets }: DemoTexts): string {
  const name = (lastResult(request, "Read")?.text ?? readme).match(/# (.+)/)?.[1] ?? "";
  const answer = lastResult(request, "AskUserQuestion")?.text ?? "";
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

function lastResult({ messages }: ModelRequest, tool: string): ToolResult | undefined {
  const results = messages.flatMap((message) => (message.role === "tool" ? message.results : []));
  return results.find((result) => result.tool === tool)?.result;
}

export type DemoWorld = {
  dir: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  remove(): void;
};

/** A folder for the demo to work in, which is gone when the process is. */
export function demoWorld(t: DemoTexts, env: NodeJS.ProcessEnv): DemoWorld {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-demo-")));
  const cwd = join(dir, "project");
  mkdirSync(cwd);
  mkdirSync(join(dir, "home"), { mode: 0o700 });
  writeFileSync(join(cwd, "README.md"), t.readme);
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.on("exit", remove); // however it ends
  // The program it writes is run by the Node that runs Sage.
  const PATH = `${dirname(process.execPath)}${delimiter}${env["PATH"] ?? ""}`;
  return { dir, cwd, env: { ...env, PATH }, remove };
}
