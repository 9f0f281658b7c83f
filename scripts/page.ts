// npm run page: the page of `sage serve`, in dist/web or the folder that is named. From source, the first `serve` runs this.
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown, type OutputChunk, type Plugin } from "rolldown";
import { parseSync, Visitor } from "rolldown/utils";

const root = join(import.meta.dirname, "..");
const source = join(root, "src/surfaces/web/page");
const languages = ["en", "zh"] as const;
const neverSent = join(root, "src/texts/reasons/start.ts");

/** Kilobytes after gzip. A page that grows beyond them is not built. */
const limits = { first: 60, all: 160 };

export type PageFile = { file: string; size: number; zipped: number };

/** Builds the page into a folder, whole or not at all. `entry` is the program and `version` that of Sage; tests bring their own. */
export async function buildPage(
  dir: string,
  { entry = join(source, "main.tsx"), version = ownVersion() }: { entry?: string; version?: string } = {},
): Promise<{ files: PageFile[]; first: number; packages: string[] }> {
  const { chunks, packages } = await bundled(entry, version);
  const main = chunks.find(({ isEntry }) => isEntry);
  if (!main) throw new Error("the page has no program");
  const style = squeezed(readFileSync(join(source, "style.css"), "utf8"));
  const icon = readFileSync(join(source, "icon.svg"), "utf8").trim();
  const assets = new Map<string, string>(chunks.map(({ fileName, code }) => [basename(fileName), code]));
  const named = (name: string, extension: string, content: string) => {
    const file = `${name}-${hash("sha256", content).slice(0, 8)}.${extension}`;
    assets.set(file, content);
    return file;
  };
  const html = readFileSync(join(source, "index.html"), "utf8")
    .replace("STYLE", named("style", "css", style))
    .replace("ICON", named("icon", "svg", icon))
    .replace("MAIN", basename(main.fileName));
  const fresh = `${dir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(join(fresh, "assets"), { recursive: true });
  writeFileSync(join(fresh, "index.html"), html);
  for (const [file, content] of assets) writeFileSync(join(fresh, "assets", file), content);
  rmSync(dir, { recursive: true, force: true });
  renameSync(fresh, dir);
  const files = [["index.html", html] as const, ...assets].map(([file, content]) => ({
    file,
    size: Buffer.byteLength(content),
    zipped: gzipSync(content, { level: 9 }).length,
  }));
  return { files, first: firstLoad(files, main), packages };
}

/** Bytes that a browser has to fetch before anything can be done: the page, its style, its program, and one language. */
function firstLoad(files: readonly PageFile[], main: OutputChunk): number {
  const needed = [/^index\.html$/, /^style-/, /^words-zh-/, /^words-en-/];
  const zipped = (wanted: (file: string) => boolean) =>
    files.filter(({ file }) => wanted(file)).map((one) => one.zipped);
  const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
  const program = [main.fileName, ...main.imports].map((file) => basename(file));
  const [html, style, ...words] = needed.map((pattern) => sum(zipped((file) => pattern.test(file))));
  return sum(zipped((file) => program.includes(file))) + (html ?? 0) + (style ?? 0) + Math.max(...words);
}

function ownVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}

async function bundled(entry: string, version: string): Promise<{ chunks: OutputChunk[]; packages: string[] }> {
  await using build = await rolldown({
    cwd: root,
    input: { main: entry },
    platform: "browser",
    transform: {
      define: { "process.env.NODE_ENV": '"production"', SAGE_VERSION: JSON.stringify(version) },
    },
    plugins: [oneLanguage(), lexerOnly()],
    checks: { bundlerTimings: false }, // a busy machine is no news
  });
  const { output } = await build.generate({
    format: "es",
    minify: true,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
  });
  const chunks = output.filter((one) => one.type === "chunk");
  const packages = chunks.flatMap(({ moduleIds }) => moduleIds).flatMap((id) => packageOf(id) ?? []);
  return { chunks, packages: [...new Set(packages)].sort() };
}

function packageOf(id: string): string | undefined {
  return /^(?:\0)?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1];
}

/**
 * Everything that `words-zh.ts` imports from `texts/` is there a second time, with the Chinese tables alone, and the same for English:
 * a browser fetches one language. Other importers of `texts/` get no table at all. `sentences.ts` writes reasons and fetches their
 * tables after the first drawing; reasons that no host sends are left out. In `texts/` a table is an object that is called `en` or
 * `zh`, as a constant or as a property.
 */
function oneLanguage(): Plugin {
  return {
    name: "one language",
    resolveId: {
      order: "pre",
      async handler(specifier, importer = "", options) {
        if (!specifier.startsWith(".")) return null;
        const lang = /(?:words|reasons)-(en|zh)\.ts$|\?lang=(\w+)$/.exec(importer)?.slice(1).find(Boolean) ?? "none";
        const found = await this.resolve(specifier, importer.replace(/\?.*/, ""), { ...options, skipSelf: true });
        if (!found || !/[\\/]src[\\/]texts[\\/]/.test(found.id)) return found;
        const later =
          found.id === join(root, "src/texts/shared/sentence.ts") && !/reasons-(?:en|zh)\.ts$/.test(importer);
        return later ? join(source, "words/sentences.ts") : `${found.id}?lang=${lang}`;
      },
    },
    load: {
      filter: { id: /\?lang=/ },
      handler(id) {
        const [file = "", lang] = id.split("?lang=");
        const unread = languages.filter((language) => language !== lang || file === neverSent);
        return { code: withoutTables(readFileSync(file, "utf8"), unread, file), moduleType: "ts" };
      },
    },
  };
}

function withoutTables(code: string, gone: readonly string[], file: string): string {
  const tables: { start: number; end: number }[] = [];
  const drop = (name: string | undefined, value: { type: string; start: number; end: number } | null | undefined) => {
    if (name !== undefined && gone.includes(name) && value?.type === "ObjectExpression") tables.push(value);
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => drop(id.type === "Identifier" ? id.name : undefined, init),
    Property: ({ key, value }) => drop(key.type === "Identifier" ? key.name : undefined, value),
  }).visit(parseSync(file, code).program);
  const outermost = tables.filter((one) => !tables.some((all) => all.start < one.start && all.end >= one.end));
  return outermost
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => `${text.slice(0, start)}({} as never)${text.slice(end)}`, code);
}

/**
 * The page uses marked's lexer and draws the tokens itself. The end of marked's module builds `marked()` and with it the parser and the
 * renderer; a bundler keeps them, because assignments to a function's properties are side effects. 10 kB are saved without them.
 */
function lexerOnly(): Plugin {
  return {
    name: "the lexer of marked alone",
    transform: {
      filter: { id: /[\\/]marked[\\/]lib[\\/]marked\.esm\.js$/ },
      handler(code) {
        const lexer = /export\{.*?(\w+) as Lexer\b/.exec(code)?.[1];
        const end = code.search(/var (\w+)=new \w+;function (\w+)\(\w+,\w+\)\{return \1\.parse\(/);
        if (lexer === undefined || end < 0) throw new Error("marked has changed: look for the end of its classes anew");
        return { code: `${code.slice(0, end)}export{${lexer} as Lexer};`, map: null };
      },
    },
  };
}

function squeezed(css: string): string {
  return css
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .replace(/;}/g, "}")
    .replace(/: /g, ":")
    .trim();
}

/** Says what is too large; empty when nothing is. */
export function tooLarge({ files, first }: { files: readonly PageFile[]; first: number }): string {
  const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  const all = files.reduce((sum, { zipped }) => sum + zipped, 0);
  return [
    ...(first > limits.first * 1000 ? [`the first load is ${kB(first)}; the limit is ${limits.first} kB`] : []),
    ...(all > limits.all * 1000 ? [`all of it is ${kB(all)}; the limit is ${limits.all} kB`] : []),
  ].join("; ");
}

if (import.meta.main) {
  const { files, first } = await buildPage(resolve(process.argv[2] ?? join(root, "dist/web")));
  if (process.argv[2] === undefined) {
    for (const { file, zipped } of files) console.log(`${file.padEnd(32)} ${(zipped / 1000).toFixed(1)} kB`);
    console.log(`first load ${(first / 1000).toFixed(1)} kB`);
    const problem = tooLarge({ files, first });
    if (problem !== "") {
      console.error(`page: ${problem}`);
      process.exitCode = 1;
    }
  }
}
