import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

export type Sample = {
  /** Epoch ms just before the command was started, to compare with what another process saw. */
  startedAt: number;
  wallMs: number;
  /** User and system time of the command and of every child it waited for. */
  cpuMs: number;
  /** Peak resident memory of the command itself; 0 where there is no /proc to look it up. */
  peakMb: number;
  stdout: string;
};

export type Command = { argv: string[]; cwd: string; env?: NodeJS.ProcessEnv };

const longestMs = 60_000;

// Node cannot ask for a child's rusage; bash's `time` can, to the millisecond and grandchildren included.
const timed = `TIMEFORMAT="%R %U %S"; echo $EPOCHREALTIME >&3; { time "$@" 2>&4 3>&- 4>&-; } 4>&2 2>&3`;

/** Runs a command once; one that fails or does not end is an error, not a figure. */
export async function sample({ argv, cwd, env = process.env }: Command): Promise<Sample> {
  const child = spawn("bash", ["-c", timed, "bash", ...argv], { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const peak = watchPeak(child.pid ?? 0);
  const deadline = setTimeout(() => [peak.command(), child.pid ?? 0].forEach(kill), longestMs);
  const outputs = [child.stdout, child.stderr, child.stdio[3]].map((stream) => text(stream as NodeJS.ReadableStream));
  const [code] = (await once(child, "close")) as [number | null];
  peak.stop();
  clearTimeout(deadline);
  const [stdout = "", stderr = "", report = ""] = await Promise.all(outputs);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
  const [started = 0, real = 0, user = 0, sys = 0] = report.replaceAll(",", ".").trim().split(/\s+/).map(Number);
  return {
    startedAt: started * 1000,
    wallMs: real * 1000,
    cpuMs: Math.round((user + sys) * 1000),
    peakMb: peak.mb(),
    stdout,
  };
}

/** VmHWM never falls, so looking often enough misses only what is allocated in the last moment. */
function watchPeak(shell: number): { mb(): number; command(): number; stop(): void } {
  let command = "";
  let kilobytes = 0;
  const timer = setInterval(() => {
    try {
      command ||= readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim();
      const status = readFileSync(`/proc/${command}/status`, "utf8");
      kilobytes = Math.max(kilobytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // Not there yet, or no longer.
    }
  }, 2);
  return { mb: () => kilobytes / 1024, command: () => Number(command), stop: () => clearInterval(timer) };
}

function kill(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

export type ModelServer = AsyncDisposable & {
  baseURL: string;
  /** Increase since the last time it was asked. */
  stats(): Promise<ServerStats>;
  /** Looks at this process at every hundredth request. */
  watch(pid: number): Promise<void>;
};

export type ServerStats = {
  /** Epoch ms of each request, and of the end of each reply. */
  arrivals: number[];
  ends: number[];
  /** Before the first request, and every hundred requests later. */
  hundreds: { cpuMs: number; rssMb: number; peakMb: number }[];
};

export async function startModelServer(): Promise<ModelServer> {
  const script = join(import.meta.dirname, "floors/model-server.mjs");
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  const origin = `http://127.0.0.1:${port}`;
  return {
    baseURL: `${origin}/v1`,
    stats: async () => (await fetch(`${origin}/stats`)).json() as ReturnType<ModelServer["stats"]>,
    watch: async (pid) => void (await fetch(`${origin}/watch`, { method: "POST", body: `${pid}` })),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The nearest value that is really among them. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export type Row = {
  figure: string;
  unit: string;
  sage: number;
  floor?: { name: string; value: number };
  /** Limit of the figure itself, or of its ratio to the floor. */
  aim?: { atMost: number } | { ratio: number };
  /** Why there is no figure. */
  note?: string;
};

/** One line per figure: what it is for Sage, what the bare thing takes, how many times that is, and what was aimed at. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.figure,
    row.note === undefined ? `${round(row.sage)} ${row.unit}` : "",
    row.floor === undefined ? "" : `${round(row.floor.value)} ${row.unit}`,
    row.floor === undefined ? "" : `${round(row.sage / row.floor.value)}×`,
    aimOf(row),
    row.note ?? row.floor?.name ?? "",
  ]);
  const all = [["figure", "Sage", "other", "Sage/other", "aim", "the other is"], ...lines];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const pad = (cell: string, column: number) =>
    [1, 2, 3].includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return all.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

function aimOf({ aim, unit, sage, floor }: Row): string {
  if (aim === undefined) return "";
  const [text, met] =
    "atMost" in aim
      ? [`≤ ${aim.atMost} ${unit}`, sage <= aim.atMost]
      : [`≤ ${aim.ratio}×`, floor !== undefined && sage / floor.value <= aim.ratio];
  return met ? text : `${text} MISSED`;
}

function round(value: number): string {
  if (value > 0 && value < 0.1) return value.toPrecision(2);
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}
