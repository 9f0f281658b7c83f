import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown, type Plugin } from "rolldown";

const root = join(import.meta.dirname, "..");

/** Packages that stay outside of the bundle, and are therefore installed beside it. */
export const unbundled = {
  /** Finds its program by its own place in node_modules. */
  ripgrep: "@vscode/ripgrep",
  /** Six megabytes that only Feishu needs. */
  feishu: "@larksuiteoapi/node-sdk",
  /** A library of the operating system's keychain; required by name when a key is kept there. */
  keyring: "@napi-rs/keyring",
} as const;

/**
 * Bundles these entries of `src` into a folder: one file each, and beside it what is loaded lazily. Returns the packages that are
 * in it, as folders.
 */
export async function bundle(
  dir: string,
  entries: Record<string, string>,
  { minify }: { minify: boolean },
): Promise<string[]> {
  await using build = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external: Object.values(unbundled),
    transform: {
      define: { "process.env.NODE_ENV": '"production"' },
      inject: { Headers: [join(root, "scripts/headers.ts"), "Headers"] },
    },
    plugins: [descriptions()],
    checks: { eval: false }, // the runtime of web-tree-sitter has two, for programs that are not ours
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await build.write({ dir, ...names, minify });
  addGrammar(dir);
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []);
  return [...new Set(packages)].toSorted();
}

/** Puts the text of a tool's .md where `describe("…")` would read it: the bundle needs no files beside it. */
function descriptions(): Plugin {
  return {
    name: "descriptions",
    transform: {
      filter: { id: /[\\/]src[\\/]tools[\\/][^\\/]+\.ts$/ },
      handler(code, id) {
        // Not `.describe("…")`, which is zod's.
        return code.replaceAll(/(?<![.\w$])describe\("([\w-]+)"\)/g, (_, name: string) =>
          JSON.stringify(readFileSync(join(dirname(id), `${name}.md`), "utf8").trim()),
        );
      },
    },
  };
}

/** The shell grammar is loaded from these files. */
function addGrammar(dir: string): void {
  for (const name of ["web-tree-sitter", "tree-sitter-bash"])
    copyFileSync(join(root, "node_modules", name, `${name}.wasm`), join(dir, `${name}.wasm`));
}
