import { join } from "node:path";

const bundle = process.env["SAGE_TEST_BUNDLE"];

/** Programs begin as `sage` does that is installed: with functions that an earlier one has compiled. */
const files = { sage: "bin.cjs", runner: "bin-runner.cjs" };

/**
 * A program of ours as a file to start: from the bundle that `npm test` made once, which is ready in a third of the time, or
 * its source, where a test file is run by itself.
 */
export function bundled(name: keyof typeof files, source: string): string {
  return bundledAs(files[name], source);
}

/** The same by the name of its file in the bundle. */
export function bundledAs(file: string, source: string): string {
  return bundle === undefined ? join(import.meta.dirname, "../..", source) : join(bundle, file);
}
