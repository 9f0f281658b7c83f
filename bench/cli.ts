import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, sample, startModelServer, type Command, type ModelServer, type Row, type Sample } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const most = 300;
/** More of the short ones: the differences there are small. */
const runs = [
  { steps: 0, times: 15 },
  { steps: 20, times: 9 },
  { steps: 100, times: 7 },
  { steps: most, times: 3 },
];
const programs = ["bare", "builtins", "source", "bundle"] as const;

type Program = (typeof programs)[number];
type Measured = Sample & { startMs: number };

/** The whole command against a model that costs nothing, beside the least an agent can be. */
export async function cli(dir: string): Promise<Row[]> {
  await buildBundle();
  await using server = await startModelServer();
  const measured = Object.fromEntries(programs.map((program) => [program, new Map<number, Measured[]>()]));
  const once = async (program: Program, steps: number): Promise<Measured> => {
    const found = await sample(command(program, `Take ${steps} steps`, { dir, baseURL: server.baseURL }));
    const { arrivals } = await server.stats();
    if (arrivals.length !== steps + 1)
      throw new Error(`${program} made ${arrivals.length} requests for ${steps} steps`);
    return { ...found, startMs: arrivals[0]! - found.startedAt };
  };
  for (const program of programs) await once(program, 0); // fills the compile cache
  for (const { steps, times } of runs) {
    for (const program of programs) measured[program]!.set(steps, []);
    for (let turn = 0; turn < times; turn++)
      for (const program of programs) measured[program]!.get(steps)!.push(await once(program, steps));
  }

  const of = (program: Program, steps: number, pick: (one: Measured) => number) =>
    median(measured[program]!.get(steps)!.map(pick));
  const figures = (
    figure: string,
    unit: string,
    value: (program: Program) => number,
    aim: NonNullable<Row["aim"]>,
  ): Row[] => {
    const floor = { name: "bare agent", value: value("bare") };
    const lower = { name: "bare agent, built-ins", value: value("builtins") };
    const row = (program: Program): Row => ({ figure: `${figure}, ${program}`, unit, sage: value(program), floor });
    return [row("source"), { ...row("bundle"), aim }, { ...row("bundle"), floor: lower }];
  };
  const perStep = (steps: number, pick: (one: Measured) => number) => (program: Program) =>
    (of(program, steps, pick) - of(program, 0, pick)) / steps;
  return [
    ...figures("start to first request", "ms", (program) => of(program, 0, (one) => one.startMs), { ratio: 1.5 }),
    ...figures("CPU of a run without a step", "ms", (program) => of(program, 0, (one) => one.cpuMs), { ratio: 1.5 }),
    ...runs.slice(1).flatMap(({ steps }) => [
      ...figures(
        `a step of ${steps}`,
        "ms",
        perStep(steps, (one) => one.wallMs),
        { ratio: 1.9 },
      ),
      ...figures(
        `CPU of a step of ${steps}`,
        "ms",
        perStep(steps, (one) => one.cpuMs),
        { ratio: 1.9 },
      ),
    ]),
    ...figures("peak memory at 20 steps", "MB", (program) => of(program, 20, (one) => one.peakMb), { atMost: 80 }),
  ];
}

/** A run with three MCP servers that it does not need, beside the same run without; the first run of all has met them. */
export async function mcp(dir: string): Promise<Row[]> {
  await buildBundle();
  await using server = await startModelServer();
  const program = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const entry = { command: process.execPath, args: [program, "stdio"] };
  const settings = { without: {}, with: { mcpServers: { one: entry, two: entry, three: entry }, mcpDeferAbove: 0 } };
  const run = async (kind: keyof typeof settings): Promise<Measured> => {
    const place = join(dir, kind);
    mkdirSync(join(place, "bundle/.sage"), { recursive: true });
    writeFileSync(join(place, "bundle/.sage/settings.json"), JSON.stringify(settings[kind]));
    const found = await sample(command("bundle", "Take 0 steps", { dir: place, baseURL: server.baseURL }));
    const { arrivals } = await server.stats();
    return { ...found, startMs: arrivals[0]! - found.startedAt };
  };
  const found: Record<keyof typeof settings, Measured[]> = { without: [], with: [] };
  for (const kind of ["without", "with"] as const) await run(kind); // fills the compile cache, and meets the servers
  for (let turn = 0; turn < 15; turn++)
    for (const kind of ["without", "with"] as const) found[kind].push(await run(kind));
  const row = (figure: string, pick: (one: Measured) => number): Row => ({
    figure: `${figure}, three idle MCP servers`,
    unit: "ms",
    sage: median(found.with.map(pick)),
    floor: { name: "without", value: median(found.without.map(pick)) },
    aim: { ratio: 1.1 },
  });
  return [
    row("start to first request", ({ startMs }) => startMs),
    row("CPU of a run without a step", ({ cpuMs }) => cpuMs),
  ];
}

/** A long session, hundred by hundred, and the first command of one. */
export async function long(dir: string): Promise<Row[]> {
  await buildBundle();
  await using server = await startModelServer();
  const steps = 1_000;
  const found = new Map<Program, Awaited<ReturnType<typeof watched>>>();
  for (const program of ["builtins", "bundle"] as const) {
    await watched(program, "Take 0 steps", server, dir); // fills the compile cache
    found.set(program, await watched(program, `Take ${steps} steps`, server, dir));
  }
  const perStep = (program: Program, hundred: number) => {
    const { hundreds } = found.get(program)!;
    return (hundreds[hundred]!.cpuMs - hundreds[hundred - 1]!.cpuMs) / 100;
  };
  const row = (hundred: number): Row => ({
    figure: `own CPU of a step, ${hundred * 100 - 99} to ${hundred * 100}`,
    unit: "ms",
    sage: perStep("bundle", hundred),
    floor: { name: "bare agent, built-ins", value: perStep("builtins", hundred) },
  });
  const last = steps / 100;
  const peak = (program: Program) => found.get(program)!.hundreds.at(-1)!.peakMb;
  return [
    ...[1, 2, 5, last].map(row),
    {
      figure: "own CPU of a step, last hundred",
      unit: "ms",
      sage: perStep("bundle", last),
      floor: { name: "its first hundred", value: perStep("bundle", 1) },
      aim: { ratio: 1.3 },
    },
    {
      figure: `peak memory at ${steps} steps`,
      unit: "MB",
      sage: peak("bundle"),
      floor: { name: "bare agent, built-ins", value: peak("builtins") },
      aim: { atMost: 130 },
    },
    await firstCommand(server, dir),
  ];
}

/** From the end of a reply to the next request: the first time, beside later ones, with a model that thinks for a while. */
async function firstCommand(server: ModelServer, dir: string): Promise<Row> {
  const first: number[] = [];
  const later: number[] = [];
  for (let turn = 0; turn < 7; turn++) {
    const { arrivals, ends } = await watched("bundle", "Take 6 steps and think 150 ms", server, dir);
    const gaps = arrivals.slice(1).map((at, n) => at - ends[n]!);
    first.push(gaps[0]!);
    later.push(...gaps.slice(1));
  }
  const over = Math.min(...first) - Math.min(...later);
  return { figure: "first command, over a later one", unit: "ms", sage: over, aim: { atMost: 30 } };
}

async function watched(program: Program, task: string, server: ModelServer, dir: string) {
  const { argv, cwd, env } = command(program, task, { dir, baseURL: server.baseURL });
  const [file, ...args] = argv;
  const child = spawn(file!, args, { cwd, env, stdio: "ignore" });
  await server.watch(child.pid!);
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return server.stats();
}

let built: Promise<unknown> | undefined;

export function buildBundle(): Promise<unknown> {
  return (built ??= sample({ argv: [process.execPath, join(root, "scripts/build.ts")], cwd: root }));
}

/** Every run in an empty folder; the home with its journal and compile cache is there already, as it is for a person. */
function command(program: Program, task: string, { dir, baseURL }: { dir: string; baseURL: string }): Command {
  const home = join(dir, program);
  const cwd = join(dir, "project");
  rmSync(cwd, { recursive: true, force: true });
  for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true });
  const sage = ["-p", task, "--yes", "--max-steps", "10000"];
  const script = {
    bare: ["bench/floors/bare-agent.mjs", baseURL, task],
    builtins: ["bench/floors/bare-builtins.mjs", baseURL, task],
    source: ["src/cli/main.ts", ...sage],
    bundle: ["dist/bin.cjs", ...sage],
  };
  const [file, ...args] = script[program];
  return {
    argv: [process.execPath, join(root, file!), ...args],
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      SAGE_HOME: join(home, ".sage"),
      OPENAI_BASE_URL: baseURL,
      OPENAI_API_KEY: "none",
    },
  };
}
