import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The library's entrance: an old Node reads one sentence instead of the name of a built-in module that it lacks. The bundle is
 * therefore loaded only after the look at the version, and at once, so that `require("sage-agent")` works as well. To `import` a
 * built-in module would prepare every export of it, which for `node:fs` takes a quarter of the whole.
 */
export function libraryEntrance(dist: string, name: string): string {
  const names = Object.keys(createRequire(import.meta.url)(join(dist, `${name}.cjs`)) as object).toSorted();
  return `if (Number.parseInt(process.versions.node, 10) < 24)
  throw new Error(\`sage-agent needs Node 24 or newer; this is \${process.version}. See https://nodejs.org/en/download\`);
const { existsSync } = process.getBuiltinModule("node:fs");
const { createRequire } = process.getBuiltinModule("node:module");
if (!existsSync(new URL("${name}.cjs", import.meta.url)))
  throw new Error("sage-agent cannot be bundled into another file: name it as external to your bundler.");

export const {
${names.map((name) => `  ${name},\n`).join("")}} = createRequire(import.meta.url)("./${name}.cjs");
`;
}
