import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median, sample, startModelServer, type Command, type Row, type Sample } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const most = 300;
/** More of the short ones: the differences there are small. */
const runs = [
  { steps: 0, times: 15 },
  { steps: 20, times: 9 },
  { steps: 100, times: 7 },
  { steps: most, times: 5 },
];
const programs = ["bare", "source", "bundle"] as const;

type Program = (typeof programs)[number];
type Measured = Sample & { startMs: number };

/** The whole command against a model that costs nothing, beside the least an agent can be. */
export async function cli(dir: string): Promise<Row[]> {
  await sample({ argv: [process.execPath, join(root, "scripts/build.ts")], cwd: root });
  await using server = await startModelServer();
  const measured: Record<Program, Map<number, Measured[]>> = { bare: new Map(), source: new Map(), bundle: new Map() };
  const once = async (program: Program, steps: number): Promise<Measured> => {
    const found = await sample(command(program, steps, { dir, baseURL: server.baseURL }));
    const { requests, firstRequestAt } = await server.stats();
    if (requests !== steps + 1) throw new Error(`${program} made ${requests} requests instead of ${steps + 1}`);
    return { ...found, startMs: firstRequestAt! - found.startedAt };
  };
  for (const program of programs) await once(program, 0); // fills the compile cache
  for (const { steps, times } of runs) {
    for (const program of programs) measured[program].set(steps, []);
    for (let turn = 0; turn < times; turn++) {
      for (const program of programs) measured[program].get(steps)!.push(await once(program, steps));
    }
  }

  const of = (program: Program, steps: number, pick: (one: Measured) => number) =>
    median(measured[program].get(steps)!.map(pick));
  const figures = (
    figure: string,
    unit: string,
    value: (program: Program) => number,
    aim: NonNullable<Row["aim"]>,
  ): Row[] => {
    const floor = { name: "bare agent", value: value("bare") };
    const row = (program: Program): Row => ({ figure: `${figure}, ${program}`, unit, sage: value(program), floor });
    return [row("source"), { ...row("bundle"), aim }];
  };
  const perStep = (steps: number, pick: (one: Measured) => number) => (program: Program) =>
    (of(program, steps, pick) - of(program, 0, pick)) / steps;
  return [
    ...figures("start to first request", "ms", (program) => of(program, 0, (one) => one.startMs), { ratio: 1.5 }),
    ...runs.slice(1).flatMap(({ steps }) => [
      ...figures(
        `a step of ${steps}`,
        "ms",
        perStep(steps, (one) => one.wallMs),
        { ratio: 1.8 },
      ),
      ...figures(
        `CPU of a step of ${steps}`,
        "ms",
        perStep(steps, (one) => one.cpuMs),
        { ratio: 1.8 },
      ),
    ]),
    ...figures("peak memory at 20 steps", "MB", (program) => of(program, 20, (one) => one.peakMb), { atMost: 90 }),
  ];
}

/** Every run in an empty folder; the home with its journal and compile cache is there already, as it is for a person. */
function command(program: Program, steps: number, { dir, baseURL }: { dir: string; baseURL: string }): Command {
  const home = join(dir, program);
  const cwd = join(dir, "project");
  rmSync(cwd, { recursive: true, force: true });
  for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true });
  const task = `Take ${steps} steps`;
  const sage = ["-p", task, "--yes", "--max-steps", `${most + 1}`];
  const script = {
    bare: ["bench/floors/bare-agent.mjs", baseURL, task],
    source: ["src/cli/main.ts", ...sage],
    bundle: ["dist/bin.mjs", ...sage],
  };
  const [file, ...args] = script[program];
  return {
    argv: [process.execPath, join(root, file!), ...args],
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      SAGE_HOME: join(home, ".sage"),
      XDG_CACHE_HOME: join(home, ".cache"),
      OPENAI_BASE_URL: baseURL,
      OPENAI_API_KEY: "none",
    },
  };
}
