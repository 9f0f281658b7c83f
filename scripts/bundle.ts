import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown, type Plugin, type RolldownBuild } from "rolldown";
import { parseSync } from "rolldown/utils";

const root = join(import.meta.dirname, "..");

/** Packages that stay outside of the bundle, and are therefore installed beside it. */
export const unbundled = {
  /** Finds its program by its own place in node_modules. */
  ripgrep: "@vscode/ripgrep",
  /** A library of the operating system's keychain; required by name when a key is kept there. */
  keyring: "@napi-rs/keyring",
  /** Requires built-in modules by name: in the bundle, every start would prepare for that. */
  ws: "ws",
} as const;

/**
 * Bundles these entries of `src` into a folder: one file each, and beside it what is loaded lazily. Returns the packages that are
 * in it, as folders.
 */
export async function bundle(
  dir: string,
  programs: Record<string, string>,
  { minify }: { minify: boolean },
): Promise<string[]> {
  const entries = { ...programs, ...requiredLater };
  await using build = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external: Object.values(unbundled),
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [descriptions(), builtins(), ...requiredRooms.map(behindDoors)],
    treeshake: { propertyReadSideEffects: false },
    checks: {
      emptyImportMeta: false, // unpdf looks for files of a package that is not here, and expects that
      eval: false, // the runtime of web-tree-sitter has two, for programs that are not ours
      ineffectiveDynamicImport: false, // what is lazy for one command may be needed at once by another
    },
  });
  const groups = await hotGroups(build, entries);
  const { output } = await build.write({
    dir,
    format: "cjs", // scripts/bin.cjs keeps compiled functions of such files, and Node those of no others
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify,
    codeSplitting: { groups },
    plugins: [loadable(minify)], // of what is written alone: parsing all of it takes half of the time
  });
  addGrammar(dir);
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []);
  return [...new Set(packages)].toSorted();
}

/** Files that `sage -p` loads with a model of OpenAI's kind: the least that any run loads. */
const hotFiles = [
  "src/cli/open/run.ts",
  "src/cli/open/print/print.ts",
  "src/cli/open/read-task.ts",
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
  const early = [...run, ...library].filter((id) => requiredRooms.some(({ has }) => has(id)));
  if (early.length > 0)
    throw new Error(
      `every start would load these: import them lazily, or name a door in scripts/bundle.ts: ${early.join(", ")}`,
    );
  return [
    { name: "core", test: (id: string) => run.has(id) && library.has(id) },
    { name: "run", test: (id: string) => run.has(id) },
  ];
}

/** Code that a start does not need, in a file of its own, which the first call of one of its functions loads. */
type RequiredRoom = {
  /** Of the file. */
  name: string;
  has(id: string): boolean;
  /** Files of the room that others call. */
  doors: readonly string[];
};

const permission = join(root, "src/permission");
const texts = join(root, "src/texts");

const requiredRooms: readonly RequiredRoom[] = [
  {
    // Judging commands is a third of the code, and a start judges nothing.
    name: "judging",
    has: (id) =>
      ["shell", "programs", "suggest"].some((name) => id.startsWith(join(permission, name))) &&
      id !== join(permission, "shell/read/grammar.ts"), // loaded with the grammar, which has its own way
    doors: [
      "shell/judge/judge-shell.ts",
      "shell/judge/confinable.ts",
      "shell/suspect/meanings.ts",
      "shell/suspect/possible.ts",
      "shell/suspect/resemblance.ts",
      "shell/suspect/scripts.ts",
      "programs/table.ts",
      "programs/git/repository.ts",
      "suggest/suggest.ts",
    ].map((file) => join(permission, file)),
  },
  {
    // Sentences of all reasons in two languages are a quarter of the rest, and most runs say none.
    name: "sentences",
    has: (id) => id.startsWith(join(texts, "reasons")) || id === join(texts, "shared/sentence.ts"),
    doors: [join(texts, "shared/sentence.ts")],
  },
];

/** Files that are required by name while a program runs. */
const requiredLater = {
  zod: "src/tools/definition/zod.ts",
  ...Object.fromEntries(requiredRooms.map(({ name }) => [name, `sage:${name}`])),
};

/**
 * In the place of a function of this room, others get one that loads its file and calls it there: at once, because nothing that calls
 * it waits. An `import()` of one of the files loads it ahead of time.
 */
function behindDoors({ name, has, doors }: RequiredRoom): Plugin {
  const entry = `sage:${name}`;
  const loader = `sage:load-${name}`;
  const door = `sage:door-${name}:`;
  const nameFor = (file: string) => `door${doors.indexOf(file)}`;
  return {
    name,
    resolveId(source, importer, { kind }) {
      if (source === entry || source === loader) return source;
      if (importer === loader) return { id: source, external: true };
      const id = importer !== undefined && source.startsWith(".") ? join(dirname(importer), source) : "";
      if (!has(id) || importer === undefined || has(importer)) return null;
      if (kind === "dynamic-import") return entry;
      return doors.includes(id) ? `${door}${id}` : null;
    },
    load(id) {
      if (id === entry)
        return doors
          .map((file) => [nameFor(file), JSON.stringify(file)])
          .map(([one, from]) => `export * as ${one} from ${from}; export * from ${from};`) // as doors, and for an import()
          .join("\n");
      if (id === loader)
        return `let loaded;
          export function load() {
            return (loaded ??= require("./${name}.cjs"));
          }`;
      if (!id.startsWith(door)) return null;
      const file = id.slice(door.length);
      // Functions alone: whoever imports a constant from here learns of it when the bundle is built.
      const functions = readFileSync(file, "utf8").matchAll(/^export function (\w+)/gm);
      const calls = [...functions].map(
        ([, one]) => `export function ${one}(...args) { return load().${nameFor(file)}.${one}(...args); }`,
      );
      return [`import { load } from "${loader}";`, ...calls].join("\n");
    },
  };
}

/**
 * Built-in modules as they are: `import` makes a facade of all exports of one, which runs their getters. Those of fs, util and crypto
 * load a dozen modules that nobody needs, and the one of http loads undici.
 */
function builtins(): Plugin {
  return {
    name: "builtins",
    resolveId(source, importer) {
      if (source === "node:module" && importer?.includes("rolldown/runtime")) return requireMaker;
      return source.startsWith("node:") && source !== "node:sqlite" ? `\0${source}` : null;
    },
    load(id) {
      if (id === requireMaker)
        return 'export function createRequire(at) { return process.getBuiltinModule("node:module").createRequire(at); }';
      if (!id.startsWith("\0node:")) return null;
      const name = id.slice(1);
      const exported = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
        (one) => /^[A-Za-z_$][\w$]*$/.test(one) && one !== "default",
      );
      return loadedByCalls.includes(name) ? functionsOf(name, exported) : constantsOf(name, exported);
    },
  };
}

/**
 * The bundler's own runtime makes a `require` for packages that need one, before any other file has run: a function is there by then,
 * and a constant of ours is not.
 */
const requireMaker = "\0sage:create-require";

/** Modules of which we only call functions: the first call loads them, up to 4 ms later than a start would. */
const loadedByCalls = [
  "node:child_process",
  "node:crypto",
  "node:fs/promises",
  "node:module",
  "node:readline",
  "node:v8",
];

function functionsOf(name: string, exported: readonly string[]): string {
  const functions = exported.filter((one) => /^[a-z]/.test(one));
  const doors = functions.map((one) => `export function ${one}(...args) { return load().${one}(...args); }`);
  const load = `let module; function load() { return (module ??= process.getBuiltinModule("${name}")); }`;
  return [load, ...doors].join("\n");
}

function constantsOf(name: string, exported: readonly string[]): string {
  const lines = exported.map((one) => `const _${one} = /* @__PURE__ */ module.${one}; export { _${one} as ${one} };`);
  return [`const module = process.getBuiltinModule("${name}");`, "export default module;", ...lines].join("\n");
}

/** Makes files that scripts/bin.cjs can load, and Node itself. */
function loadable(minified: boolean): Plugin {
  return {
    name: "loadable",
    renderChunk: (code, { fileName }) => withPlainExports(fileName, code),
    generateBundle(_, files) {
      for (const file of Object.values(files))
        if (file.type === "chunk") {
          const code = escaped(withoutImports(file.fileName, file.code));
          file.code = minified ? inLines(file.fileName, code) : code;
        }
      this.emitFile({ type: "asset", fileName: "import.cjs", source: "module.exports = (name) => import(name);\n" });
    },
  };
}

/**
 * Each statement in a line of its own. Node prints the line of an error that nobody caught: of a file that is one line, its message would
 * be lost in 40 kB.
 */
function inLines(name: string, code: string): string {
  const starts = parseSync(name, code).program.body.map(({ start }) => start);
  return starts.map((start, i) => code.slice(i === 0 ? 0 : start, starts[i + 1])).join("\n");
}

/** Exports as values, where the bundler writes a getter for each: what is declared once is the same for good. */
function withPlainExports(name: string, code: string): string {
  const once = new Set(
    parseSync(name, code).program.body.flatMap((statement) => {
      if (statement.type === "VariableDeclaration" && statement.kind === "const")
        return statement.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
      const isNamed = statement.type === "FunctionDeclaration" || statement.type === "ClassDeclaration";
      return isNamed && statement.id ? [statement.id.name] : [];
    }),
  );
  const getter =
    /Object\.defineProperty\(exports, (["'])([\w$]+)\1, \{\s*enumerable: true,\s*get: function \(\) \{\s*return ([\w$]+);\s*\}\s*\}\);/g;
  return code.replaceAll(getter, (whole, _, exported: string, local: string) =>
    once.has(local) ? `exports.${exported} = ${local};` : whole,
  );
}

/** Packages outside of the bundle are imported by a file that Node itself loads: a script of ours would warn of an experiment. */
function withoutImports(name: string, code: string): string {
  if (!code.includes("import(")) return code;
  const { module } = parseSync(name, code);
  return module.dynamicImports.reduceRight(
    (rest, { start }) => `${rest.slice(0, start)}require("./import.cjs")${rest.slice(start + "import".length)}`,
    code,
  );
}

/** Characters beyond ASCII as escapes: Node reads such a file faster, and holds it in half the memory. */
function escaped(code: string): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // A character with a backslash before it is itself; one after an escaped backslash is no part of that.
  return code.replaceAll(/(\\\\)|\\?([^\0-\x7f])/g, (found, pair: string | undefined, unit: string) =>
    pair === undefined ? escape(unit) : found,
  );
}

/** Puts the text of a tool's .md where `describe("…")` would read it: the bundle needs no files beside it. */
function descriptions(): Plugin {
  return {
    name: "descriptions",
    transform: {
      filter: { id: /[\\/]src[\\/]tools[\\/].+\.ts$/ },
      handler(code) {
        // Not `.describe("…")`, which is zod's.
        return code.replaceAll(/(?<![.\w$])describe\("([\w/-]+)"\)/g, (_, name: string) =>
          JSON.stringify(readFileSync(join(root, "src/tools", `${name}.md`), "utf8").trim()),
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
