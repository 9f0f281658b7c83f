import { join } from "node:path";

const bundle = process.env["SAGE_TEST_BUNDLE"];

/**
 * A program of ours as a file to start: from the bundle that `npm test` made once, which is ready in a third of the time, or
 * its source, where a test file is run by itself.
 */
export function bundled(name: "sage" | "runner" | "sdk", source: string): string {
  return bundle === undefined ? join(import.meta.dirname, "../..", source) : join(bundle, `${name}.cjs`);
}
