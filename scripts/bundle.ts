import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown, type Plugin, type RolldownBuild } from "rolldown";

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
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [descriptions(), builtins()],
    treeshake: { propertyReadSideEffects: false },
    checks: {
      eval: false, // the runtime of web-tree-sitter has two, for programs that are not ours
      ineffectiveDynamicImport: false, // what is lazy for one command may be needed at once by another
    },
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const groups = await hotGroups(build, entries);
  const { output } = await build.write({
    dir,
    ...names,
    minify,
    codeSplitting: { groups },
  });
  addGrammar(dir);
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []);
  return [...new Set(packages)].toSorted();
}

/** Files that `sage -p` loads with a model of OpenAI's kind: the least that any run loads. */
const hotFiles = [
  "src/cli/commands/run.ts",
  "src/cli/run/print.ts",
  "src/cli/run/stdin.ts",
  "src/models/wire/chat.ts",
  "src/models/choice/endpoint.ts",
];

/**
 * What every run loads is in one file, for sixty small ones take 8 ms longer to read. What the library shares with it is in another
 * one: the library must not load the command line.
 */
async function hotGroups(build: RolldownBuild, entries: Record<string, string>) {
  const { output } = await build.generate({});
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
  const loadedBy = (files: readonly string[]): Set<string> => {
    const ends = files.map((file) => join(root, file));
    const loaded = new Set<string>();
    const visit = (name: string) => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const next of chunks.get(name)?.imports ?? []) visit(next);
    };
    for (const [name, { facadeModuleId }] of chunks) if (ends.includes(facadeModuleId ?? "")) visit(name);
    return new Set([...loaded].flatMap((name) => chunks.get(name)?.moduleIds ?? []));
  };
  const run = loadedBy(hotFiles);
  const library = loadedBy(["src/sdk/index.ts"]);
  for (const entry of Object.values(entries)) for (const set of [run, library]) set.delete(join(root, entry));
  return [
    { name: "core", test: (id: string) => run.has(id) && library.has(id) },
    { name: "run", test: (id: string) => run.has(id) },
  ];
}

/**
 * Built-in modules as they are: `import` makes a facade of all exports of one, which runs their getters. Those of fs, util and crypto
 * load a dozen modules that nobody needs, and the one of http loads undici.
 */
function builtins(): Plugin {
  return {
    name: "builtins",
    resolveId: (source) => (source.startsWith("node:") && source !== "node:sqlite" ? `\0${source}` : null),
    load(id) {
      if (!id.startsWith("\0node:")) return null;
      const name = JSON.stringify(id.slice(1));
      const exported = Object.keys(process.getBuiltinModule(id.slice(1)) ?? {}).filter(
        (one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== "default",
      );
      const lines = exported.map(
        (one) => `const _${one} = /* @__PURE__ */ module.${one}; export { _${one} as ${one} };`,
      );
      return [`const module = process.getBuiltinModule(${name});`, "export default module;", ...lines].join("\n");
    },
  };
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
