// npm run test:mutants                 every mutant of test/faults/mutants.ts, against the test that finds it out; none may survive
// npm run test:mutants -- "guest"      those whose name has this word
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { mutants, type KilledBy, type Mutant } from "../test/faults/mutants.ts";
import { failsUnchanged, playMutant } from "../test/faults/play-mutant.ts";
import { isolated } from "./isolated.ts";

const [word = ""] = process.argv.slice(2);
const played = mutants.filter(({ name }) => name.includes(word));
const home = mkdtempSync(join(tmpdir(), "sage-mutants-"));
process.env = isolated(home);
process.on("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
const counts = { killed: 0, survived: 0, skipped: 0, unfit: 0 };
const problems: string[] = [];

const ofFile = Map.groupBy(
  played.map(({ killedBy }) => killedBy),
  ({ file }) => file,
);
await inTurns([...ofFile], checkUnchanged);
await inTurns(played, play);

console.log(
  `\n${Object.entries(counts)
    .map(([verdict, n]) => `${n} ${verdict}`)
    .join(", ")}`,
);
if (played.length === 0) problems.push(`no mutant's name has "${word}"`);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

/** A test that fails anyway would kill every mutant. */
async function checkUnchanged([file, killers]: [string, KilledBy[]]): Promise<void> {
  const failure = await failsUnchanged(killers);
  if (failure !== undefined) problems.push(`${file} fails without any mutant:\n${failure}`);
}

async function play(mutant: Mutant): Promise<void> {
  const started = performance.now();
  const verdict = await playMutant(mutant);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  counts[verdict.is]++;
  console.log(`${verdict.is.padEnd(8)} ${seconds.padStart(5)} s  ${mutant.name}`);
  if (verdict.is === "survived") problems.push(`survived: ${mutant.name} (${mutant.killedBy.file})`);
  if (verdict.is === "unfit") problems.push(`unfit: ${mutant.name}: ${verdict.why}`);
}

/** As many at once as there are processors. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const workers = Array.from({ length: availableParallelism() }, async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  });
  await Promise.all(workers);
}
