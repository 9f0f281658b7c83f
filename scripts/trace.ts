// npm run trace                    the way of one turn through src: message typed → running tool → result on the screen
// npm run trace -- --root ../old   the same for another checkout of Sage
// npm run trace -- --files         with the names of the files that are touched
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { command, done, type Recording } from "./trace/turn.ts";

export type Trace = {
  /** Files with a function that ran between the first key and the last word. */
  touched: string[];
  /** Files on the call stack at a milestone. */
  mainLine: string[];
  recording: Recording;
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { root: { type: "string", default: "." }, files: { type: "boolean" } } });
  print(await trace(resolve(values.root)), values.files ?? false);
}

/** Runs one turn in a real pseudo-terminal: a scripted model, and a command that a rule allows. */
export async function trace(root: string): Promise<Trace> {
  const dir = mkdtempSync(join(tmpdir(), "sage-trace-"));
  const [home, project, output, ready] = ["home", "project", "trace.json", "ready"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ];
  mkdirSync(home);
  mkdirSync(project);
  writeFileSync(join(project, "traced.mjs"), `console.log("traced" + "-result");\n`);
  writeFileSync(join(home, "settings.json"), JSON.stringify({ permissions: { allow: [`Bash(${command})`] } }));
  const turns = [{ calls: [{ tool: "Bash", input: { command } }] }, { text: done }];
  writeFileSync(join(dir, "script.json"), JSON.stringify(turns));
  const recorder = join(import.meta.dirname, "trace/recorder.ts");
  const main = join(root, "src/cli/main.ts");
  const pty = spawn(
    process.execPath,
    [`--import=${recorder}`, main, "--model", `scripted/${join(dir, "script.json")}`],
    {
      cols: 100,
      rows: 40,
      cwd: project,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: dir,
        SAGE_HOME: home,
        TERM: "xterm-256color",
        LANG: "C.UTF-8",
        TRACE_ROOT: root,
        TRACE_OUTPUT: output,
        TRACE_READY: ready,
      },
    },
  );
  let screen = "";
  pty.onData((text) => (screen += stripVTControlCharacters(text)));
  const until = async (there: () => boolean) => {
    const giveUp = performance.now() + 30_000;
    while (!there()) {
      if (performance.now() > giveUp) throw new Error(`the turn did not go on; the screen shows:\n${screen}`);
      await new Promise((wait) => setTimeout(wait, 50));
    }
  };
  try {
    await until(() => screen.includes("scripted"));
    await new Promise((wait) => setTimeout(wait, 1_000)); // the start is over
    process.kill(pty.pid, "SIGUSR2");
    await until(() => existsSync(ready));
    pty.write("run it");
    await new Promise((wait) => setTimeout(wait, 200));
    pty.write("\r");
    await until(() => existsSync(output));
    return read(JSON.parse(readFileSync(output, "utf8")) as Recording);
  } finally {
    pty.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function read(recording: Recording): Trace {
  const missed = recording.stacks.filter(({ files }) => files.length === 0).map(({ milestone }) => milestone);
  if (missed.length > 0) throw new Error(`not met on the way: ${missed.join(", ")}; see scripts/trace/recorder.ts`);
  const mainLine = [...new Set(recording.stacks.flatMap(({ files }) => files))];
  return { touched: recording.touched, mainLine, recording };
}

function print({ touched, mainLine, recording }: Trace, files: boolean): void {
  const seen = new Set<string>();
  for (const { milestone, files: stack } of recording.stacks) {
    console.log(`\n${milestone}`);
    for (const file of stack) {
      console.log(seen.has(file) ? `      ${file}` : `   +  ${file}`);
      seen.add(file);
    }
  }
  if (files) console.log(`\n${touched.join("\n")}`);
  console.log(`\n${mainLine.length} files on the main line (+), ${touched.length} touched`);
}
