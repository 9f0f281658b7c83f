import { readFileSync } from "node:fs";

/** Text of `tools/<name>.md`. Call it with a literal, such as `files/edit`: the bundler puts the text in its place. */
export function describe(name: string): string {
  return readFileSync(new URL(`../${name}.md`, import.meta.url), "utf8").trim();
}
