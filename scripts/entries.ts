// Entries of the published package, as package.json names them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** `name`: "." is the main one. `source` and `types` by their paths in the repository and among the emitted declarations. */
export type PackageEntry = { name: string; source: string; types: string; file: string };

export function packageEntries(): PackageEntry[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, { "sage-source": string; types: string; default: string }>;
  };
  return Object.entries(exports).map(([path, { "sage-source": source, types, default: file }]) => ({
    name: path === "." ? path : path.slice("./".length),
    source: source.slice("./".length),
    types: types.slice("./dist/types/".length),
    file: file.slice("./dist/".length),
  }));
}

/** The bundle of an entry, beside its entrance. */
export function bundleName({ name }: Pick<PackageEntry, "name">): string {
  return name === "." ? "sdk" : `sdk-${name}`;
}
