// npm run test:cluster                         gateways, workers and a PostgreSQL that are killed until 500 were; the seed is printed
// npm run test:cluster -- --seed 7 --kills 100
// npm run test:cluster -- --seed 7 --round 12  one round again: the same plan, as close as processes can repeat it
// npm run test:cluster -- --mutants            a cluster with a mistake in it is found out
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { clusterMutants } from "../test/faults/cluster/mutants.ts";
import { play, type PlayOptions } from "../test/faults/cluster/play.ts";

const { values } = parseArgs({
  options: {
    ...{ seed: { type: "string" }, kills: { type: "string", default: "500" }, round: { type: "string" } },
    mutants: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? randomInt(1_000_000));
const size = { seed, rounds: 1, gateways: 2, workers: 3, sessions: 9, faults: 45, paceMs: 500 };
const tell = (line: string) => console.log(line);
process.exit((await (values.mutants ? playMutants() : playKills())) ? 0 : 1);

async function playKills(): Promise<boolean> {
  const much: Partial<PlayOptions> =
    values.round === undefined ? { kills: Number(values.kills) } : { from: Number(values.round) };
  tell(`npm run test:cluster -- --seed ${seed} --kills ${values.kills} plays this again`);
  const { found, counts, ...figures } = await play({ ...size, ...much, tell });
  tell(`${JSON.stringify({ seed, ...figures, ...counts })} ${found.length} found`);
  return found.length === 0;
}

async function playMutants(): Promise<boolean> {
  let survived = 0;
  for (const mutant of clusterMutants) {
    const { patienceMs = 120_000, name } = mutant;
    const { found } = await play({ ...size, rounds: 3, gateways: 1, mutant, patienceMs });
    const [first = "  SURVIVED"] = found.flatMap((one) =>
      one.split("\n").filter((line) => /^I\d+:|ended by/.test(line)),
    );
    if (found.length === 0) survived++;
    tell(`a cluster that ${name}: ${first}`);
  }
  return survived === 0;
}
