// npm run api: writes docs/api.md from the declarations of src/sdk/index.ts and their doc comments.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { format } from "oxfmt";
import { parseSync } from "rolldown/utils";
import { hiddenTypes } from "./api-types.ts";
import { emitTypes } from "./release/build.ts";

export type Entry = { name: string; comment: string; code: string };
export type Section = { title: string; entries: Entry[] };

const root = join(import.meta.dirname, "..");
const entrance = join(root, "src/sdk/index.ts");

const head = `# API

Everything that \`sage-agent\` exports, with its types. How to use it: [extending.md](extending.md) and [examples/](../examples/). Words:
[words.md](words.md).

<!-- Generated from src/sdk/index.ts: change the comments there and run \`npm run api\`. -->
`;

if (import.meta.main) writeFileSync(join(root, "docs/api.md"), await apiPage(readApi().sections));

export async function apiPage(sections: readonly Section[]): Promise<string> {
  const blocks = await Promise.all(sections.map(sectionText));
  return [head, ...blocks].join("\n");
}

/** The exported names by the headings (`// ## …`) of the entrance, in its order; and types that they mention and nobody can import. */
export function readApi(): { sections: Section[]; hidden: string[] } {
  const types = mkdtempSync(join(tmpdir(), "sage-api-"));
  try {
    emitTypes(types);
    const read = createReader();
    const sections = exportsBySection().map(({ title, names }) => ({
      title,
      entries: names.map(({ name, from }) => {
        const file = declarationFile(join(types, "sdk"), from);
        const found = read(file).find(name);
        if (found.length === 0) throw new Error(`${name} is exported, but ${from} does not declare it`);
        return entryOf(name, found);
      }),
    }));
    return { sections, hidden: hiddenTypes(join(types, "sdk/index.d.ts")) };
  } finally {
    rmSync(types, { recursive: true, force: true });
  }
}

function exportsBySection(): { title: string; names: { name: string; from: string }[] }[] {
  const { program, comments } = parse(entrance);
  const titles = comments.flatMap(({ type, value, start }) => {
    const title = type === "Line" && /^ ## (.+)$/.exec(value)?.[1];
    return title ? [{ title, start }] : [];
  });
  const sections = titles.map(({ title }) => ({ title, names: [] as { name: string; from: string }[] }));
  for (const node of program.body) {
    const section = sections[titles.findLastIndex(({ start }) => start < node.start)];
    if (node.type !== "ExportNamedDeclaration" || !node.source || !section)
      throw new Error("src/sdk/index.ts: names, each exported from its file, under a heading `// ## …`");
    for (const { exported } of node.specifiers)
      section.names.push({ name: "name" in exported ? exported.name : exported.value, from: node.source.value });
  }
  return sections;
}

type Declaration = { comment: string; code: string };

/** Finds declarations by name in emitted files, also through `export * from`. */
function createReader(): (file: string) => { find(name: string): Declaration[] } {
  const files = new Map<string, { find(name: string): Declaration[] }>();
  return function read(file) {
    const known = files.get(file);
    if (known) return known;
    const { source, program, comments } = parse(file);
    const declared = program.body.flatMap((node) => {
      if (node.type !== "ExportNamedDeclaration" || !node.declaration) return [];
      const before = comments.findLast(({ end }) => end <= node.start && source.slice(end, node.start).trim() === "");
      const comment = before?.type === "Block" ? before.value : "";
      const code = source.slice(node.start, node.end);
      return namesOf(node.declaration).map((name) => ({ name, comment, code }));
    });
    const further = program.body.flatMap((node) => (node.type === "ExportAllDeclaration" ? [node.source.value] : []));
    const reader = {
      find(name: string): Declaration[] {
        const here = declared.filter((one) => one.name === name);
        return here.length > 0
          ? here
          : further.flatMap((from) => read(declarationFile(dirname(file), from)).find(name));
      },
    };
    files.set(file, reader);
    return reader;
  };
}

function namesOf(declaration: { type: string }): string[] {
  if ("id" in declaration) return [(declaration.id as { name: string }).name];
  const { declarations = [] } = declaration as { declarations?: { id: { name: string } }[] };
  return declarations.map(({ id }) => id.name);
}

function declarationFile(folder: string, from: string): string {
  return resolve(folder, from.replace(/\.ts$/, ".d.ts"));
}

function parse(file: string) {
  const source = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  return { source, program, comments };
}

function entryOf(name: string, declarations: readonly Declaration[]): Entry {
  return {
    name,
    comment: declarations.map(({ comment }) => plain(comment)).find((text) => text !== "") ?? "",
    code: declarations
      .map(({ code }) => code.replace(/^export (declare )?/, "").replace(/^ *#private;\n/m, ""))
      .join("\n"),
  };
}

/** A doc comment without its stars. */
function plain(comment: string): string {
  return comment
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}

async function sectionText({ title, entries }: Section): Promise<string> {
  const blocks = await Promise.all(
    entries.map(async ({ name, comment, code }) => {
      const { code: shown } = await format("api.ts", code, { printWidth: 110 });
      return `### \`${name}\`\n\n${comment === "" ? "" : `${comment}\n\n`}\`\`\`ts\n${shown}\`\`\`\n`;
    }),
  );
  return [`## ${title}\n`, ...blocks].join("\n");
}
