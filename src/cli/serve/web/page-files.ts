import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PageFiles } from "../../../surfaces/web/index.ts";

const moduleFolder = import.meta.dirname;
const isSource = import.meta.url.endsWith(".ts");
const root = join(moduleFolder, "../../../..");

/** The page as it was built with the program. From source it is built now, which takes a second; undefined where it cannot be. */
export function readPage(env: NodeJS.ProcessEnv): PageFiles | undefined {
  const folder = env["SAGE_PAGE"] ?? (isSource ? built() : join(moduleFolder, "web"));
  const index = join(folder, "index.html");
  if (!existsSync(index)) return undefined;
  const assets = join(folder, "assets");
  const names = existsSync(assets) ? readdirSync(assets) : [];
  return new Map([
    ["index.html", readFileSync(index)],
    ...names.map((name) => [name, readFileSync(join(assets, name))] as const),
  ]);
}

/** Rooms that the page is made of. */
const made = ["surfaces/web/page", "texts", "view", "protocol", "remote"].map((room) => join(root, "src", room));

function built(): string {
  const folder = join(root, "dist/web");
  const build = join(root, "scripts/page.ts");
  const changed = Math.max(...[build, ...made].map(newest));
  if (changed > newest(join(folder, "index.html")))
    spawnSync(process.execPath, [join(root, "scripts/run.mjs"), "scripts/page.ts"], { cwd: root });
  return folder;
}

/** When a file, or one of a folder's, was last written. */
function newest(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
