import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PageFiles } from "../../../surfaces/web/index.ts";

const here = import.meta.dirname;
const isSource = import.meta.url.endsWith(".ts");
const root = join(here, "../../../..");

/** The page as it was built with the program. From source it is built now, which takes a second; undefined where it cannot be. */
export function readPage(env: NodeJS.ProcessEnv): PageFiles | undefined {
  const folder = env["SAGE_PAGE"] ?? (isSource ? built() : join(here, "web"));
  const index = join(folder, "index.html");
  if (!existsSync(index)) return undefined;
  const assets = join(folder, "assets");
  const names = existsSync(assets) ? readdirSync(assets) : [];
  return new Map([
    ["index.html", readFileSync(index)],
    ...names.map((name) => [name, readFileSync(join(assets, name))] as const),
  ]);
}

function built(): string {
  const build = join(root, "scripts/page.ts");
  if (existsSync(build)) spawnSync(process.execPath, [join(root, "scripts/run.mjs"), build], { cwd: root });
  return join(root, "dist/web");
}
