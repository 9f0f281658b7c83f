// npm run trace                    the way of two turns through src: a command that a rule allows, and one that asks a person
// npm run trace -- --root ../old   the same for another checkout of Sage
// npm run trace -- --files         with the names of the files that are touched
// npm run trace -- --write         puts the figures into docs/decisions/house.md
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { command, result, turns, type Recording, type Turn } from "./trace/turn.ts";

/** Rows below the head of the table that the script writes. */
const table = /(?<=^\| turn \| on the main line \| touched \|\n\|---\|---\|---\|\n)(?:\|.*\n)*/m;
const page = join(import.meta.dirname, "../docs/decisions/house.md");

if (import.meta.main) {
  const { values } = parseArgs({
    options: { root: { type: "string", default: "." }, files: { type: "boolean" }, write: { type: "boolean" } },
  });
  const traced = await traceTurns(resolve(values.root));
  for (const recording of [...traced.allowed, ...traced.asked]) print(recording, values.files ?? false);
  const rows = rowsOf(traced);
  console.log(`\n${rows.join("\n")}`);
  if (values.write) writeFileSync(page, withRows(readFileSync(page, "utf8"), rows));
}

type Traced = Record<Turn, Recording[]>;

export async function traceTurns(root: string): Promise<Traced> {
  const [allowed, asked] = await Promise.all([trace(root, "allowed"), trace(root, "asked")]);
  return { allowed, asked };
}

/** Rows of the table in docs/decisions/house.md. */
export function rowsOf({ allowed, asked }: Traced): string[] {
  const sides = asked.map((recording) => rowOf(`asked: ${recording.side}`, [recording]));
  return [
    ...allowed.map((recording) => rowOf(`allowed: ${recording.side}`, [recording])),
    ...sides,
    rowOf("asked: both sides", asked),
  ];
}

function rowOf(name: string, recordings: readonly Recording[]): string {
  const touched = new Set(recordings.flatMap((recording) => recording.touched));
  return `| ${name} | ${mainLine(recordings).length} | ${touched.size} |`;
}

export function rowsIn(text: string): string[] {
  return (table.exec(text)?.[0] ?? "").trim().split("\n");
}

function withRows(text: string, rows: readonly string[]): string {
  return text.replace(table, `${rows.join("\n")}\n`);
}

/** Runs a turn in a real pseudo-terminal, with a scripted model; a recording for each side of it. */
export async function trace(root: string, turn: Turn): Promise<Recording[]> {
  const dir = mkdtempSync(join(tmpdir(), "sage-trace-"));
  const [home, project, output, script] = ["home", "project", "trace.json", "script.json"].map((name) =>
    join(dir, name),
  ) as [string, string, string, string];
  mkdirSync(home);
  mkdirSync(project);
  writeFileSync(join(project, "traced.mjs"), `console.log(${JSON.stringify(result)});\n`);
  const rules = turn === "allowed" ? { allow: [`Bash(${command})`] } : {};
  writeFileSync(join(home, "settings.json"), JSON.stringify({ permissions: rules }));
  writeFileSync(script, JSON.stringify([{ calls: [{ tool: "Bash", input: { command } }] }, { text: "done" }]));
  const recorder = join(import.meta.dirname, "trace/recorder.ts");
  const main = join(root, "src/cli/main.ts");
  const pty = spawn(process.execPath, [`--import=${recorder}`, main, "--model", `scripted/${script}`], {
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
      TRACE_TURN: turn,
    },
  });
  let screen = "";
  pty.onData((text) => (screen += stripVTControlCharacters(text)));
  const until = async (isThere: () => boolean) => {
    const giveUp = performance.now() + 30_000;
    while (!isThere()) {
      if (performance.now() > giveUp) throw new Error(`the turn did not go on; the screen shows:\n${screen}`);
      await pause(50);
    }
  };
  const recorded = () => (existsSync(output) ? (JSON.parse(readFileSync(output, "utf8")) as Recording[]) : []);
  try {
    await until(() => screen.includes("scripted"));
    for (const side of turns[turn].keys()) {
      await pause(1_000); // the start is over; a panel takes keys
      process.kill(pty.pid, "SIGUSR2");
      await until(() => existsSync(`${output}.${side}`));
      const before = screen.length;
      pty.write(side === 0 ? "run it" : "1");
      await pause(200);
      await until(() => screen.length > before);
      pty.write("\r");
      await until(() => recorded().length > side);
    }
    return recorded();
  } finally {
    pty.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((wait) => setTimeout(wait, ms));
}

/** Files on the call stack at a milestone. */
export function mainLine(recordings: readonly Recording[]): string[] {
  return [...new Set(recordings.flatMap(({ stacks }) => stacks).flatMap(({ files }) => files))];
}

function print(recording: Recording, files: boolean): void {
  const seen = new Set<string>();
  console.log(`\n# ${recording.side}`);
  for (const { milestone, files: stack } of recording.stacks) {
    console.log(`\n${milestone}${stack.length === 0 ? ": not met" : ""}`);
    for (const file of stack) {
      console.log(seen.has(file) ? `      ${file}` : `   +  ${file}`);
      seen.add(file);
    }
  }
  if (files) console.log(`\n${recording.touched.join("\n")}`);
  console.log(`\n${mainLine([recording]).length} files on the main line (+), ${recording.touched.length} touched`);
}
