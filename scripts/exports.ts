// node scripts/run.mjs scripts/exports.ts           names every export of src/ that no other file reads
// node scripts/run.mjs scripts/exports.ts --mend    takes the word `export` from their declarations
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { parseSync, Visitor, type ESTree } from "rolldown/utils";
import { packageEntries } from "./entries.ts";

const root = join(import.meta.dirname, "..");
/** Readers beside src/ itself. */
const READERS = "{src,test,bench,scripts,examples}/**/*.{ts,tsx,mts,mjs}";
/** Files with readers that no import shows. */
const entrances = [
  ...packageEntries().map(({ source }) => source), // embedders
  "src/base/z.ts", // declarations of the library, which name the classes of its schemas
  "src/surfaces/web/page/words/sentences.ts", // the bundle of the page, in place of texts/shared/sentence.ts
];

export type Source = { path: string; text: string };

export function readEverything(): Source[] {
  return globSync(READERS, { cwd: root })
    .map((path) => path.replaceAll(sep, "/"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Exports that no file but their own imports, as `file: name`. */
export function exportsWithoutReader(sources: readonly Source[]): string[] {
  const read = new Set<string>();
  const exported: { path: string; name: string }[] = [];
  for (const source of sources) {
    const { program } = parseSync(source.path, source.text);
    for (const name of importedBy(source, program)) read.add(name);
    if (!source.path.startsWith("src/") || entrances.includes(source.path)) continue;
    for (const name of exportedBy(program)) exported.push({ path: source.path, name });
  }
  return exported.map(({ path, name }) => `${path}: ${name}`).filter((entry) => !read.has(entry));
}

/** Imports of a file. `import * as` and `import()` may read every name that occurs in its text. */
function importedBy({ path, text }: Source, program: ESTree.Program): Set<string> {
  const found = new Set<string>();
  const words = () => text.match(/[\w$]+/g) ?? [];
  const add = (from: string, names: Iterable<string>) => {
    if (!from.startsWith(".")) return;
    const target = posix.join(posix.dirname(path), from);
    for (const name of names) found.add(`${target}: ${name}`);
  };
  new Visitor({
    ImportDeclaration({ source, specifiers }) {
      const isNamed = specifiers.every(({ type }) => type === "ImportSpecifier");
      add(
        source.value,
        isNamed ? specifiers.map((each) => nameOf((each as ESTree.ImportSpecifier).imported)) : words(),
      );
    },
    ExportNamedDeclaration({ source, specifiers }) {
      if (source)
        add(
          source.value,
          specifiers.map(({ local }) => nameOf(local)),
        );
    },
    ExportAllDeclaration: ({ source }) => add(source.value, words()),
    ImportExpression({ source }) {
      if (source.type === "Literal" && typeof source.value === "string") add(source.value, words());
    },
    TSImportType: ({ source }) => add(source.value, words()),
  }).visit(program);
  return found;
}

function exportedBy({ body }: Pick<ESTree.Program, "body">): string[] {
  return body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    const { declaration, specifiers } = statement;
    if (!declaration) return specifiers.map(({ exported }) => nameOf(exported));
    if (declaration.type === "VariableDeclaration") return declaration.declarations.flatMap(({ id }) => boundBy(id));
    return "id" in declaration && declaration.id?.type === "Identifier" ? [declaration.id.name] : [];
  });
}

function boundBy(pattern: ESTree.BindingPattern): string[] {
  if (pattern.type === "Identifier") return [pattern.name];
  if (pattern.type !== "ObjectPattern") return [];
  return pattern.properties.flatMap((each) => (each.type === "Property" ? boundBy(each.value) : []));
}

function nameOf(name: ESTree.ModuleExportName): string {
  return name.type === "Literal" ? name.value : name.name;
}

function mend({ path, text }: Source, unread: ReadonlySet<string>): void {
  const starts = parseSync(path, text).program.body.flatMap((statement) => {
    if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return [];
    const names = exportedBy({ body: [statement] });
    return names.every((name) => unread.has(`${path}: ${name}`)) ? [statement.start] : [];
  });
  let mended = text;
  for (const start of starts.reverse()) mended = mended.slice(0, start) + mended.slice(start + "export ".length);
  if (mended !== text) writeFileSync(join(root, path), mended);
}

if (import.meta.main) {
  const sources = readEverything();
  const unread = exportsWithoutReader(sources);
  if (process.argv.includes("--mend")) for (const source of sources) mend(source, new Set(unread));
  console.log(unread.join("\n"));
}
