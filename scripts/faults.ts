// npm run test:faults                             every fault test, for long, with a seed that is printed
// npm run test:faults -- --seed 7 --rounds 2000   again, or longer
// npm run test:faults -- test/faults/simulation.test.ts
// npm run test:faults -- --soak 60                one process that lives for an hour beside one that is killed again and again
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  options: { seed: { type: "string" }, rounds: { type: "string", default: "500" }, soak: { type: "string" } },
  allowPositionals: true,
});
const seed = values.seed ?? String(randomInt(1_000_000));
const root = join(import.meta.dirname, "..");
const files =
  positionals.length > 0 ? positionals : globSync("test/**/*.test.ts", { cwd: root }).filter(isAboutFaults).toSorted();
console.log(`npm run test:faults -- --seed ${seed} --rounds ${values.rounds} plays this again`);
const work =
  values.soak === undefined ? ["--test", "--test-concurrency=2", ...files] : ["test/faults/soak.ts", values.soak];
const child = spawn(process.execPath, work, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, SAGE_FAULTS_SEED: seed, SAGE_FAULTS_ROUNDS: values.rounds },
});
child.on("exit", (code) => {
  if (code !== 0) console.error(`\nfailed with --seed ${seed} --rounds ${values.rounds}`);
  process.exitCode = code ?? 1;
});

/** Tests that play as many rounds as are asked for: crashes, whole stories, and properties. */
function isAboutFaults(file: string): boolean {
  return (
    /^test\/(faults|stories)\//.test(file) ||
    /faults\/rounds|support\/properties/.test(readFileSync(join(root, file), "utf8"))
  );
}
