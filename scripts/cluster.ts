// npm run test:cluster                         gateways, workers and a PostgreSQL that are killed and frozen; the seed is printed
// npm run test:cluster -- --seed 7 --rounds 20
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { play } from "../test/faults/cluster.ts";

const { values } = parseArgs({ options: { seed: { type: "string" }, rounds: { type: "string", default: "10" } } });
const seed = Number(values.seed ?? randomInt(1_000_000));
console.log(`npm run test:cluster -- --seed ${seed} --rounds ${values.rounds} plays this again`);
const { found, ...figures } = await play({
  ...{ seed, rounds: Number(values.rounds), gateways: 2, sessions: 8, faults: 12, longestMs: 15_000 },
  tell: (line) => console.log(line),
});
console.log(JSON.stringify(figures));
for (const one of found) console.log(one);
process.exit(found.length === 0 ? 0 : 1);
