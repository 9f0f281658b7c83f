// npm run test:cluster                         gateways, workers and a PostgreSQL that are killed until 500 were; the seed is printed
// npm run test:cluster -- --seed 7 --kills 100
// npm run test:cluster -- --seed 7 --round 12  one round again: the same plan, as close as processes can repeat it
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { play } from "../test/faults/cluster/play.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, kills: { type: "string", default: "500" }, round: { type: "string" } },
});
const seed = Number(values.seed ?? randomInt(1_000_000));
console.log(`npm run test:cluster -- --seed ${seed} --kills ${values.kills} plays this again`);
const { found, counts, ...figures } = await play({
  ...{ seed, rounds: 1, gateways: 2, workers: 3, sessions: 9, faults: 30, paceMs: 600 },
  ...(values.round === undefined ? { kills: Number(values.kills) } : { from: Number(values.round) }),
  tell: (line) => console.log(line),
});
for (const one of found) console.log(one);
console.log(`${JSON.stringify({ seed, ...figures, ...counts })} ${found.length} found`);
process.exit(found.length === 0 ? 0 : 1);
