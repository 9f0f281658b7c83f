import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { KilledBy, Mutant } from "./mutants.ts";

/**
 * `unfit`: the mutant, or its test, is not there any more: the text to change, the file that has it, or the name of the test.
 * `skipped`: the test needs something that this machine has not.
 */
export type Verdict = { is: "killed" | "survived" | "skipped" } | { is: "unfit"; why: string };

const root = join(import.meta.dirname, "../..");
const loader = new URL("changed.ts", import.meta.url).href;

/** Runs the tests that ought to find the mistake out, in a process that loads Sage with it. */
export async function playMutant({ changes, killedBy, hangs }: Mutant): Promise<Verdict> {
  const env = { SAGE_CHANGES: JSON.stringify(changes), ...(hangs && { SAGE_SCENE_PATIENCE_MS: "1000" }) };
  const { counts, errors } = await runTests([killedBy], env);
  if (counts === undefined) return { is: "unfit", why: errors };
  if (counts.fail + counts.cancelled > 0) return { is: "killed" };
  if (counts.pass > 0) return { is: "survived" };
  if (counts.skipped > 0) return { is: "skipped" };
  return { is: "unfit", why: `${killedBy.file} has no test "${killedBy.test}"` };
}

/** Tests of one file that fail without any mutant: what they find out says nothing. */
export async function failsUnchanged(killers: readonly KilledBy[]): Promise<string | undefined> {
  const { counts, output, errors } = await runTests(killers, {});
  return counts?.fail === 0 && counts.cancelled === 0 ? undefined : `${output}${errors}`;
}

type Counts = Record<"pass" | "fail" | "cancelled" | "skipped", number>;

async function runTests(
  killers: readonly KilledBy[],
  more: NodeJS.ProcessEnv,
): Promise<{ counts: Counts | undefined; output: string; errors: string }> {
  const names = new Set(killers.map(({ test }) => test));
  const patterns = [...names].map((name) => `--test-name-pattern=${name.replaceAll(/[^\w\s]/g, "\\$&")}`);
  const flags = ["--test-timeout=60000", "--test-reporter=tap", ...patterns, `--import=${loader}`];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // it would report as one file of this run
  const child = spawn(process.execPath, [...flags, killers[0]!.file], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(output)?.[1]);
  const counts = {
    pass: count("pass"),
    fail: count("fail"),
    cancelled: count("cancelled"),
    skipped: count("skipped"),
  };
  // A file that cannot be loaded has no counts.
  return { counts: Number.isNaN(counts.fail) ? undefined : counts, output, errors };
}
