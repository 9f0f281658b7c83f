import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "..");

const checks = {
  // Several checkers look at the same types several times, and tests run beside this.
  types: ["node_modules/typescript/bin/tsc", "--checkers", "1"],
  "types of the page": ["node_modules/typescript/bin/tsc", "-p", "test/surfaces/web/fake"],
  lint: ["node_modules/oxlint/bin/oxlint"],
  habits: ["scripts/ratchet.ts"],
  format: ["node_modules/oxfmt/bin/oxfmt", "--list-different"],
};

/** Runs every check at once and prints only what failed. */
export async function check(): Promise<boolean> {
  const results = await Promise.all(Object.entries(checks).map(([name, command]) => run(name, command)));
  const failed = results.filter((result) => !result.ok);
  for (const { name, output } of failed) console.error(`\n── ${name} ──\n${output.trim()}`);
  if (failed.some(({ name }) => name === "format")) console.error("\nnpm run format mends the format.");
  return failed.length === 0;
}

async function run(name: string, command: string[]): Promise<{ name: string; ok: boolean; output: string }> {
  const child = spawn(process.execPath, command, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { GOGC: "300", ...process.env }, // both compilers would spend a tenth of their time on freeing memory
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { name, ok: code === 0, output: stdout + stderr };
}

if (import.meta.main) process.exitCode = (await check()) ? 0 : 1;
