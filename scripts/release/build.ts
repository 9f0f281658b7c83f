import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../bundle.ts";
import { bundleName, packageEntries } from "../entries.ts";
import { buildPage, tooLarge } from "../page.ts";
import { libraryEntrance } from "./library.ts";

const root = join(import.meta.dirname, "../..");

/** Writes the command, the page, the library and its types into a folder, and lists the programs in it. */
export async function build(dist: string): Promise<{ file: string; size: number }[]> {
  rmSync(dist, { recursive: true, force: true });
  const entries = packageEntries();
  const library = Object.fromEntries(entries.map((entry) => [bundleName(entry), entry.source]));
  const packages = await bundle(dist, { sage: "src/cli/main.ts", ...library }, { minify: true });
  const page = await buildPage(join(dist, "web"));
  const problem = tooLarge(page);
  if (problem !== "") throw new Error(`the page is too large: ${problem}`);
  writeCommand(dist);
  for (const entry of entries) writeFileSync(join(dist, entry.file), libraryEntrance(dist, bundleName(entry)));
  writeFileSync(
    join(dist, "LICENSES.txt"),
    licences([...new Set([...packages, ...page.packages]), join(root, "node_modules/tree-sitter-bash")]),
  );
  emitTypes(join(dist, "types"));
  const files = globSync("*.{cjs,mjs}", { cwd: dist }).sort();
  return files.map((file) => ({ file, size: statSync(join(dist, file)).size }));
}

/** `sage`, which keeps compiled code: that of these files, and not of others with the same names. */
function writeCommand(dist: string): void {
  const digest = createHash("sha256");
  for (const file of globSync("*.cjs", { cwd: dist }).sort()) digest.update(readFileSync(join(dist, file)));
  const command = readFileSync(join(root, "scripts/bin.cjs"), "utf8");
  const named = command.replace('build = "unknown"', `build = "${digest.digest("hex").slice(0, 16)}"`);
  writeFileSync(join(dist, "bin.cjs"), named, { mode: 0o755 });
  // Services and hooks that version 0.1.0 has installed start this file.
  writeFileSync(join(dist, "bin.mjs"), 'import "./bin.cjs";\n', { mode: 0o755 });
}

/** Licences of the libraries that are in the bundle, as they ask for. */
function licences(packages: readonly string[]): string {
  const texts = packages.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const [file] = globSync("{LICENSE,LICENCE,license}{,.md,.txt}", { cwd: folder });
    return `${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim()}`;
  });
  return `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** Declarations of the library, with their comments. Types are checked by `npm run check`. */
export function emitTypes(dir: string): void {
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "scripts/tsconfig.sdk.json", "--noCheck", "--outDir", dir];
  const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the declarations could not be written:\n${stdout}`);
}
