// npm run bench:scale                     10,000 blocked sessions and the rest of the load figures, in some minutes
// npm run bench:scale -- --sessions 1000  a quick look
// npm run bench:scale -- --engine postgres --sessions 1000   gateway, workers and a real PostgreSQL, with SQLite beside it
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { writePast } from "./past.ts";

const { values } = parseArgs({
  options: { sessions: { type: "string", default: "10000" }, engine: { type: "string" } },
});
const sessions = Number(values.sessions);

type Figure = { what: string; unit: string; value: number; goal: number; floor: number };
const figures: Figure[] = [];
const dir = mkdtempSync(join(tmpdir(), "sage-scale-"));
const children = new Set<ChildProcess>();

try {
  if (values.engine === "postgres") await (await import("./cluster.ts")).measureCluster(dir, sessions, figure);
  else {
    await blocked(join(dir, "blocked.db"));
    await woken(join(dir, "woken.db"));
    await killed(join(dir, "killed.db"));
    await grown(join(dir, "grown.db"));
    await folded(join(dir, "folded.db"));
    await rebuilt(join(dir, "rebuilt.db"));
  }
  console.log(table());
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}
process.exitCode = figures.some(({ value, floor }) => value > floor) ? 1 : 0;

async function blocked(path: string): Promise<void> {
  const holder = await start("hold", path, sessions);
  const held = holder.found;
  figure("heap per blocked session, idle", "kB", held["heapPerSessionKb"], 20, 64);
  figure("resident memory per blocked session, idle", "kB", held["perSessionKb"], 20, 64);
  figure(`process memory with ${sessions} blocked`, "MB", held["rssMb"], 400, 800);
  figure("open descriptors", "", held["descriptors"], 200, 1_000);
  figure("timers", "", held["timers"], 10, 100);
  figure("CPU, nothing happening", "%", held["cpuPercent"], 1, 3);
  figure("event-loop delay p99", "ms", held["loopDelayP99Ms"], 20, 50);
  await holder.kill();
  const { found } = await start("restart", path, sessions);
  if (found["found"] !== sessions + 1) throw new Error(`${found["found"]} open requests were found again`);
  figure("cold start to ready", "ms", found["readyMs"], 2_000, 5_000);
  figure("answer → durable → acknowledged, p50", "ms", found["answerP50Ms"], 10, 150);
  figure("answer → durable → acknowledged, p99", "ms", found["answerP99Ms"], 50, 150);
  figure("burst of 1,000 answers, each twice", "ms", found["burstMs"], 2_000, 5_000);
  figure(`${sessions} answered at once, drained`, "ms", found["drainedMs"], 60_000, 120_000);
  figure("list a page meanwhile, p99", "ms", found["listWhileDrainingP99Ms"], 200, 400);
  figure("list a page of open requests, p99", "ms", found["pageP99Ms"], 50, 150);
  figure(`list all ${sessions}, p99`, "ms", found["listP99Ms"], 500, 1_500);
}

async function woken(path: string): Promise<void> {
  writePast(path, { sessions: 100, facts: 500, ending: "idle" });
  const { found } = await start("wake", path, 100);
  figure("answer → call starts, asleep with 500 facts, p99", "ms", found["wokenP99Ms"], 200, 500);
}

async function killed(path: string): Promise<void> {
  const busy = await start("busy", path, 50);
  await busy.kill();
  const { found } = await start("recover", path, 50);
  figure("50 running sessions after kill -9, all asked about", "ms", found["recoveredMs"], 3_000, 10_000);
}

async function grown(path: string): Promise<void> {
  await start("grow", path, 400);
  figure("journal growth per call with an approval", "kB", statSync(path).size / 1024 / 400, 2, 4);
}

async function folded(path: string): Promise<void> {
  writePast(path, { sessions: 1, facts: 10_000, ending: "idle" });
  const { found } = await start("fold", path, 1);
  figure("open and fold a session of 10,000 facts", "ms", found["foldMs"], 250, 1_000);
}

async function rebuilt(path: string): Promise<void> {
  writePast(path, { sessions, facts: 200, ending: "waiting" });
  const db = new DatabaseSync(path);
  db.exec("DROP TABLE ask");
  db.close();
  const { found } = await start("rebuild", path, sessions);
  if (found["open"] !== sessions) throw new Error(`${found["open"]} open requests after the index was made again`);
  figure(`list of open requests made again, ${sessions} × 200 facts`, "ms", found["rebuiltMs"], 30_000, 90_000);
}

function figure(what: string, unit: string, value: number | undefined, goal: number, floor: number): void {
  figures.push({ what, unit, value: value ?? Number.NaN, goal, floor });
  console.error(`${what}: ${round(value ?? Number.NaN)} ${unit}`);
}

async function start(role: string, path: string, count: number) {
  const script = join(import.meta.dirname, "process.ts");
  const child = spawn(process.execPath, ["--expose-gc", script, role, path, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`${role} ended with ${code}`)));
  });
  return {
    found: JSON.parse(line) as Record<string, number>,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function table(): string {
  const lines = figures.map(({ what, unit, value, goal, floor }) => [
    what,
    `${round(value)} ${unit}`.trim(),
    `${goal} ${unit}`.trim(),
    `${floor} ${unit}`.trim(),
    value <= goal ? "" : value <= floor ? "above the goal" : "MISSED",
  ]);
  const all = [["figure", "sage", "goal", "floor", ""], ...lines];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const pad = (cell: string, column: number) =>
    [1, 2, 3].includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, Node ${process.version}`;
  return [machine, ...all.map((line) => line.map(pad).join("  ").trimEnd())].join("\n");
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
