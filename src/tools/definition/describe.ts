import { readFileSync } from "node:fs";

/**
 * Text of `tools/<name>.md`, such as `files/edit`. Call it with a string literal: the bundler puts the text in its place.
 */
export function describe(name: string): string {
  return readFileSync(new URL(`../${name}.md`, import.meta.url), "utf8").trim();
}
