import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, globSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown, type Plugin } from "rolldown";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const entries = { sage: "src/cli/main.ts", sdk: "src/sdk/index.ts" };

rmSync(dist, { recursive: true, force: true });
const found = Object.entries(entries).filter(
  ([, path]) => existsSync(join(root, path)) || complain(`${path} is missing`),
);
if (found.length > 0) await bundle(Object.fromEntries(found));
if (existsSync(join(dist, "sage.mjs"))) addBin();
if (existsSync(join(dist, "sdk.mjs"))) addTypes();
if (found.length > 0) addGrammar();
for (const file of globSync("dist/*.mjs", { cwd: root }).sort()) {
  console.log(`${file.padEnd(40)} ${Math.ceil(statSync(join(root, file)).size / 1024)} kB`);
}

async function bundle(input: Record<string, string>): Promise<void> {
  await using build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    // One finds its program by its own place in node_modules; the other is six megabytes that only Feishu needs.
    external: ["@vscode/ripgrep", "@larksuiteoapi/node-sdk"],
    transform: {
      define: { "process.env.NODE_ENV": '"production"' },
      inject: { Headers: [join(root, "scripts/headers.ts"), "Headers"] },
    },
    plugins: [descriptions()],
  });
  await build.write({ dir: dist, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs", minify: true });
}

/** Puts the text of a tool's .md where `describe("…")` would read it, so that the bundle needs no files beside it. */
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

function addBin(): void {
  copyFileSync(join(root, "scripts/bin.mjs"), join(dist, "bin.mjs"));
  chmodSync(join(dist, "bin.mjs"), 0o755);
}

/** What the shell grammar is loaded from, with the licences it comes under. */
function addGrammar(): void {
  for (const name of ["web-tree-sitter", "tree-sitter-bash"]) {
    copyFileSync(join(root, "node_modules", name, `${name}.wasm`), join(dist, `${name}.wasm`));
    copyFileSync(join(root, "node_modules", name, "LICENSE"), join(dist, `${name}.LICENSE`));
  }
}

function addTypes(): void {
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "scripts/tsconfig.sdk.json"];
  const { status } = spawnSync(process.execPath, tsc, { cwd: root, stdio: "inherit" });
  if (status !== 0) complain("the SDK's declarations could not be written");
}

function complain(problem: string): false {
  console.error(`build: ${problem}`);
  process.exitCode = 1;
  return false;
}
