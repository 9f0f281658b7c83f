import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { packageEntries } from "../entries.ts";
import { build } from "./build.ts";
import { publishedManifest, type Manifest } from "./manifest.ts";

const root = join(import.meta.dirname, "../..");

/** Writes the package as it is published into a folder: `npm pack` or `npm publish` there takes all of it. */
export async function stage(dir: string, { repository }: { repository?: string } = {}): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  await build(join(dir, "dist"));
  dropUnused(
    join(dir, "dist/types"),
    packageEntries().map(({ types }) => types),
  );
  for (const file of ["LICENSE", ...linked("README.md")]) copy(file, dir);
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  const manifest = publishedManifest({
    ...own,
    ...(repository !== undefined && { repository: { type: "git", url: repository } }),
  });
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** A page, and every file in the repository to which it or one of those links. */
export function linked(page: string): string[] {
  const found = new Set<string>();
  const follow = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith(".md")) return;
    const links = readFileSync(join(root, file), "utf8").matchAll(/\]\(((?!https?:|#)[^)#]+)/g);
    for (const [, link = ""] of links) follow(posix.join(posix.dirname(file), link));
  };
  follow(page);
  return [...found].toSorted();
}

function copy(file: string, dir: string): void {
  const to = join(dir, file);
  mkdirSync(dirname(to), { recursive: true });
  if (statSync(join(root, file)).isDirectory()) cpSync(join(root, file), to, { recursive: true });
  else copyFileSync(join(root, file), to);
}

/** Takes out declarations that nothing exported needs: they name libraries which are not installed with the package. */
function dropUnused(types: string, entrances: readonly string[]): void {
  const used = new Set<string>();
  const follow = (file: string) => {
    if (used.has(file)) return;
    used.add(file);
    for (const [, from = ""] of readFileSync(join(types, file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g))
      follow(posix.join(posix.dirname(file), from.replace(/\.ts$/, ".d.ts")));
  };
  entrances.forEach(follow);
  for (const file of globSync("**/*.d.ts", { cwd: types }))
    if (!used.has(file.replaceAll("\\", "/"))) rmSync(join(types, file));
}
