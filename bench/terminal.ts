// Run by itself it is the child that measures: `stream` counts CPU and bytes, `turns` the memory that many turns leave.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { noUsage } from "../src/protocol/facts/message.ts";
import { attachTerminal } from "../src/surfaces/terminal/index.ts";
import { puppet } from "../test/support/puppet.ts";
import { buildBundle } from "./cli.ts";
import { median, sample, type Row } from "./measure.ts";
import { countingTerminal, mixedAnswer, pieces } from "./terminal-parts.ts";

const root = join(import.meta.dirname, "..");
const turns = 500;

/** Cost of drawing: beside the library alone, the text itself, and an empty screen. */
export async function terminal(dir: string): Promise<Row[]> {
  const run = async (...argv: string[]) =>
    JSON.parse((await sample({ argv: [process.execPath, ...argv], cwd: root })).stdout) as Record<string, number>;
  const bare = join(root, "bench/floors/bare-screen.ts");
  const [floor, sage] = [await run(bare, "stream"), await run(import.meta.filename, "stream")];
  const memory = await run("--expose-gc", import.meta.filename, "turns");
  const length = Buffer.byteLength(mixedAnswer());
  const empty = join(dir, "screen");
  mkdirSync(empty, { recursive: true });
  await buildBundle();
  const programs = {
    source: [join(root, "src/cli/main.ts"), "--model", "scripted/none.json"],
    bundle: [join(root, "dist/bin.cjs"), "--model", "scripted/none.json"],
    line: [bare],
  };
  const frames: Record<keyof typeof programs, number[]> = { source: [], bundle: [], line: [] };
  // In turns, so that a busy moment of the machine meets all of them.
  for (let n = 0; n < 12; n++)
    for (const program of ["source", "bundle", "line"] as const)
      frames[program].push(await firstFrame(programs[program], empty));
  const frame = (program: keyof typeof programs) => median(frames[program].slice(1)); // the first fills the compile cache
  const oneLine = { name: "the library alone from source, one line", value: frame("line") };
  return [
    {
      figure: "CPU to stream a long answer",
      unit: "ms",
      sage: sage["cpuMs"] ?? 0,
      floor: { name: "the library alone, one Markdown", value: floor["cpuMs"] ?? 0 },
      aim: { ratio: 1 },
    },
    {
      figure: "bytes written for it",
      unit: "KB",
      sage: (sage["bytes"] ?? 0) / 1024,
      floor: { name: "the text itself", value: length / 1024 },
      aim: { ratio: 10 },
    },
    { figure: "start to first frame, source", unit: "ms", sage: frame("source"), floor: oneLine, aim: { ratio: 2 } },
    { figure: "start to first frame, bundle", unit: "ms", sage: frame("bundle"), floor: oneLine, aim: { ratio: 1 } },
    {
      figure: `heap after ${turns} turns`,
      unit: "MB",
      sage: memory["after"] ?? 0,
      floor: { name: "after 20 turns", value: memory["before"] ?? 0 },
      aim: { ratio: 1.2 },
    },
  ];
}

/** From the start of a process to what it draws first, in a real pseudo-terminal. */
async function firstFrame(argv: string[], cwd: string): Promise<number> {
  const started = performance.now();
  const pty = spawn(process.execPath, argv, {
    cols: 100,
    rows: 30,
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: cwd,
      SAGE_HOME: join(cwd, "home"),
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      NODE_COMPILE_CACHE: join(cwd, "cache"),
    },
  });
  let seen = "";
  const took = await new Promise<number>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`nothing was drawn:\n${seen}`)), 20_000);
    pty.onData((data) => {
      seen += data;
      if (!seen.includes("What would you like to do?")) return;
      clearTimeout(late);
      resolve(performance.now() - started);
    });
  });
  const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  pty.kill("SIGTERM");
  await ended;
  return took;
}

function attached() {
  const { terminal: device, bytes } = countingTerminal();
  const { host, fact, delta } = puppet();
  const leaving = new AbortController();
  const env = { TERM: "xterm-256color" };
  const given = {
    session: "s",
    lang: "en",
    by: "you",
    header: "Sage",
    model: "bench",
    env,
    logDirectory: "/nowhere",
  } as const;
  const { done } = attachTerminal(host, { ...given, device, signal: leaving.signal });
  const leave = async () => {
    leaving.abort();
    await done;
  };
  return { fact, delta, bytes, leave };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function stream(): Promise<Record<string, number>> {
  const { fact, delta, bytes, leave } = attached();
  await pause(50);
  const before = process.cpuUsage();
  const text = mixedAnswer();
  fact("said/1", "user.said", { text: "go", by: "you", surface: "tui" });
  for (const piece of pieces(text)) {
    delta("t0/0/model", "text", piece);
    await pause(5);
  }
  fact("t0/0/model", "model.replied", {
    parts: [{ type: "text", text }],
    usage: noUsage,
    finish: "stop",
    model: "m",
    sawUpTo: 1,
  });
  await pause(100);
  const { user, system } = process.cpuUsage(before);
  await leave();
  return { cpuMs: (user + system) / 1_000, bytes: bytes() };
}

async function manyTurns(): Promise<Record<string, number>> {
  const { fact, delta, leave } = attached();
  const text = mixedAnswer().slice(0, 2_000);
  const heap = async () => {
    await pause(100);
    globalThis.gc?.();
    globalThis.gc?.();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  let before = 0;
  for (let n = 0; n < turns; n++) {
    if (n === 20) before = await heap();
    const call = { type: "call" as const, id: "1", tool: "Bash", input: { command: `make ${n}` } };
    fact(`said/${n}`, "user.said", { text: `turn ${n}`, by: "you", surface: "tui" });
    fact(`t${n}`, "turn.begun", { loop: 1, maxSteps: 100, sawUpTo: 0 });
    delta(`t${n}/0/model`, "text", text);
    fact(`t${n}/0/model`, "model.replied", {
      parts: [{ type: "text", text }, call],
      usage: noUsage,
      finish: "calls",
      model: "m",
      sawUpTo: 1,
    });
    fact(`t${n}/0/0/run0.started`, "call.started", { tool: "Bash", effect: "writes", digest: "" });
    delta(`t${n}/0/0/run0`, "output", "line\n".repeat(200));
    fact(`t${n}/0/0/run0.finished`, "call.finished", { ok: true, text: "line\n".repeat(200) });
    const stats = { steps: 1, toolCalls: 1, modelCalls: 1, durationMs: 1 };
    fact(`t${n}/end`, "turn.ended", { status: "success", text: "", usage: noUsage, stats });
    await pause(4);
  }
  const after = await heap();
  await leave();
  return { before, after };
}

if (process.argv[1] === import.meta.filename)
  console.log(JSON.stringify(process.argv[2] === "turns" ? await manyTurns() : await stream()));
