import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createConfining, probeOnce } from "../src/host/assembly/confining.ts";
import { createSpawner } from "../src/tools/process/spawner.ts";
import { median, type Row } from "./measure.ts";

const rounds = 60;

/** A command in its sandbox beside the same command without one, both through a spawner, one after the other. */
export async function confined(dir: string): Promise<Row[]> {
  const state = join(dir, "confine-state");
  const probed = await probeOnce(state, homedir());
  if (!probed.ok) return [{ figure: `confined command: not possible here (${probed.problem})`, unit: "", sage: 0 }];
  const root = join(realpathSync(dir), "confined");
  mkdirSync(join(root, "src"), { recursive: true });
  for (let n = 0; n < 500; n++) writeFileSync(join(root, "src", `${n}.ts`), "");
  const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
  const place = { root, home: homedir(), state, session: "bench", kept: [], mayRead: () => () => true };
  const confining = createConfining(sandbox, { apart: false })(place);
  const spawn = createSpawner();
  const env = { PATH: process.env["PATH"] };
  const as = { repository: "read", hosts: [], writable: [] } as const;
  const run = async (isConfined: boolean): Promise<number> => {
    const from = performance.now();
    const launch = isConfined
      ? await confining.launch({ cwd: root, env, as, reach: () => ({ allowed: false }) })
      : undefined;
    const started = await spawn({ line: "true", cwd: root, env: launch?.env ?? env, noted: async () => true, launch });
    await Promise.all([text(started.output), started.ended]);
    await launch?.over();
    return performance.now() - from;
  };
  const first = await run(true);
  await run(false);
  const times: { plain: number[]; confined: number[] } = { plain: [], confined: [] };
  for (let n = 0; n < rounds; n++) {
    times.plain.push(await run(false));
    times.confined.push(await run(true));
  }
  const [plain, inside] = [median(times.plain), median(times.confined)];
  return [
    { figure: "confined command, first of a session", unit: "ms", sage: first },
    {
      figure: "confined command, median",
      unit: "ms",
      sage: inside,
      floor: { name: "plain", value: plain },
      aim: { ratio: 4 },
    },
    { figure: "confined command, more than a plain one", unit: "ms", sage: inside - plain, aim: { atMost: 15 } },
  ];
}
