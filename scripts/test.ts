// npm test                       everything
// npm test -- test/tools         one folder, file or glob
// npm test -- --no-check         the tests alone
// npm test -- --test-only        other flags are the runner's own
import { spawn } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { bundleName, packageEntries } from "./entries.ts";
import { bundle } from "./bundle.ts";
import { check } from "./check.ts";
import { writeGroup } from "./groups.ts";
import { isolated } from "./isolated.ts";
import { againInMemory, sharedMemory } from "./memory.ts";
import { findPostgres, makeCluster } from "./postgres.ts";

const RUN_MINUTES = 20;

/** Files that need a process of their own: they change its environment or clock, load mutants, or ask what this process has loaded. */
const alone =
  /^test\/(faults|scripts|confine)\/|^test\/(doors|agent\/grammar|cli\/engine-commands|permission\/obedient|sdk\/misbehaving|stories\/fresh-clone)\.test\.ts$/;
/** Bytes of files that share a process: with more, some groups would run for minutes. Files that start programs wait for them. */
const TOGETHER_BYTES = { programs: 30_000, others: 90_000 };
/** Files that run or wait the longest. They begin first, so that none of them is left when everything else is over. */
const longest = new RegExp(
  `^test/(${[
    "scripts/release",
    "cli/(batch|permissions|serve|rewind|terminal|modules|chinese|gateways)",
    "surfaces/(web/(page|stories)|feishu/(bad-days|load|chats|chats-taken)|terminal/(panels(\\.permission)?|session|session-keys))",
    "permission/(properties|differential|injections|everyday|threats[a-z-]*)",
    "journal/(sqlite|two-processes|postgres|roles)",
    "host/cluster",
    "remote/lasting",
    "faults/(cluster|mutants|simulation|guests|boundaries|consent)",
    "mcp/servers",
    "docs/examples",
  ].join("|")})\\.test\\.ts$`,
);

/** A file that gets a process: a test file, or one that imports several. */
type Unit = { file: string; of: readonly string[] };

const root = join(import.meta.dirname, "..");
const started = performance.now();

const unchecked = process.argv.includes("--no-check");
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("-") && argument !== "--no-check");
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const found = globSync((filters.length > 0 ? filters : ["test"]).map(asGlob), { cwd: root });
const files = found.toSorted();

// A flag may name a file to write, which would be gone with a temporary folder in memory.
const inMemory = flags.length === 0 ? await againInMemory(root) : undefined;
process.exitCode = inMemory ?? (await everything());

async function everything(): Promise<number> {
  // Beside the tests, of which some wait at any time.
  const [checked, tested] = await Promise.all([unchecked || check(), files.length > 0 && runTests()]);
  if (files.length === 0) console.error(`no test file matches ${filters.join(", ")}`);
  const verdict = (ok: boolean) => (ok ? "ok" : "FAILED");
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\nsage: check ${unchecked ? "left out" : verdict(checked)}, tests ${verdict(tested)} (${seconds} s)`);
  return checked && tested ? 0 : 1;
}

function asGlob(filter: string): string {
  return statSync(join(root, filter), { throwIfNoEntry: false })?.isDirectory() ? `${filter}/**/*.test.ts` : filter;
}

async function runTests(): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), "sage-test-"));
  const bundled = files.some(startsPrograms) ? await bundleIn(home) : undefined;
  const units = filters.length === 0 ? grouped(files, home) : files.map((file) => ({ file, of: [file] }));
  const ordered = [2, 1, 0].flatMap((heavy) => inTurns(units.filter(({ of }) => weight(of) === heavy)));
  const cluster =
    filters.length === 0 && findPostgres() ? mkdtempSync(join(sharedMemory(), "sage-cluster-")) : undefined;
  if (cluster !== undefined) makeCluster(cluster); // those who need a PostgreSQL begin with a copy
  const atOnce = availableParallelism() * 3; // more than half of them wait at any time: for a screen, a clock, a person
  // `node --test` sorts files by name; only it knows what its flags mean.
  const runner =
    flags.length === 0
      ? [join(root, "scripts/in-order.ts"), String(atOnce)]
      : [
          ...["--test", `--test-concurrency=${atOnce}`],
          `--test-reporter=${new URL("reporter.ts", import.meta.url).href}`,
          ...flags,
        ];
  const child = spawn(
    process.execPath,
    ["--test-timeout=60000", `--import=${new URL("deadline.ts", import.meta.url).href}`, ...runner, ...ordered],
    {
      cwd: root,
      stdio: "inherit",
      env: {
        ...isolated(home),
        ...(bundled && { SAGE_TEST_BUNDLE: bundled }),
        ...(cluster !== undefined && { SAGE_TEST_CLUSTER: cluster }),
      },
    },
  );
  // The runner ends its files and reports; the temporary home goes when it has.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const late = setTimeout(() => {
    console.error(`\nsage: still running after ${RUN_MINUTES} minutes; the files without a line above are to blame`);
    child.kill("SIGKILL");
  }, RUN_MINUTES * 60_000);
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  clearTimeout(late);
  for (const dir of [home, cluster])
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  return code === 0;
}

function startsPrograms(file: string): boolean {
  return /support\/(cli|tmux|process|bundled-sdk)\.ts/.test(readFileSync(join(root, file), "utf8"));
}

/** Long files begin first, then files that wait for a program, a screen or a clock, and in the end files that only compute. */
function weight(of: readonly string[]): number {
  const waits = (file: string) => /^test\/(surfaces|remote|host)\//.test(file) || startsPrograms(file);
  return Math.max(...of.map((file) => (longest.test(file) ? 2 : Number(waits(file)))));
}

/** Files that start programs, then files that do not: programs that compute beside sessions that wait. */
function inTurns(units: readonly Unit[]): string[] {
  const [programs, sessions] = [true, false].map((starts) =>
    units.filter(({ of }) => (of.length === 1 || of.some(startsPrograms)) === starts),
  );
  return units.flatMap((_, n) => [programs?.[n], sessions?.[n]]).flatMap((unit) => unit?.file ?? []);
}

/** Several files in one process: loading Sage anew takes longer than most of them. */
function grouped(all: readonly string[], home: string): Unit[] {
  const isAlone = (file: string) => alone.test(file) || (startsPrograms(file) && longest.test(file));
  const together = all.filter((file) => !isAlone(file));
  const programs = together.filter(startsPrograms);
  const others = together.filter((file) => !startsPrograms(file));
  const groups = [...bySize(programs, TOGETHER_BYTES.programs), ...bySize(others, TOGETHER_BYTES.others)];
  const units = groups.map((of, n) => {
    const sources = of.map((file) => join(root, file));
    return { file: writeGroup(home, n + 1, sources), of };
  });
  return [...all.filter(isAlone).map((file) => ({ file, of: [file] })), ...units];
}

/** Neighbours, which load the same rooms, in groups of up to this many bytes. */
function bySize(all: readonly string[], most: number): string[][] {
  const groups: string[][] = [];
  let bytes = Infinity;
  for (const file of all) {
    const { size } = statSync(join(root, file));
    bytes += size;
    if (bytes > most) {
      groups.push([]);
      bytes = size;
    }
    groups.at(-1)?.push(file);
  }
  return groups;
}

/** Tests that start Sage, an example or a runner of one session start a bundle: it is ready in a third of the time. */
async function bundleIn(home: string): Promise<string> {
  const dir = join(home, "bundle");
  const library = Object.fromEntries(packageEntries().map((entry) => [bundleName(entry), entry.source]));
  const entries = { sage: "src/cli/main.ts", ...library, runner: "test/support/runner.ts" };
  await bundle(dir, entries, { minify: false });
  const kept = join(home, "kept");
  mkdirSync(kept, { mode: 0o700 });
  for (const [file, entry] of Object.entries({ "bin.cjs": "sage", "bin-runner.cjs": "runner" }))
    writeFileSync(join(dir, file), entranceTo(entry, kept));
  // Packages that are not in the bundle are looked up from where it lies.
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"), "junction");
  return dir;
}

/** `sage` as it is installed, but what it keeps compiled is in one folder for everybody: the machine of a test has a home of its own. */
function entranceTo(entry: string, home: string): string {
  const text = readFileSync(join(root, "scripts/bin.cjs"), "utf8");
  const changes = {
    'process.env.SAGE_HOME ?? join(homedir(), ".sage")': JSON.stringify(home),
    'require("./sage.cjs")': `require("./${entry}.cjs")`,
  };
  return Object.entries(changes).reduce((rest, [from, to]) => {
    if (!rest.includes(from)) throw new Error(`scripts/bin.cjs no longer has ${from}`);
    return rest.replace(from, () => to);
  }, text);
}
