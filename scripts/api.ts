// npm run api: writes docs/api.md and docs/api/ from the declarations of the exported names and their doc comments.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { format } from "oxfmt";
import { parseSync } from "rolldown/utils";
import { hiddenTypes } from "./api-types.ts";
import { packageEntries } from "./entries.ts";
import { emitTypes } from "./release/build.ts";

export type Entry = { name: string; comment: string; code: string };
export type Section = { title: string; entries: Entry[] };
/** A page of the reference: the names of one entry of the package. */
export type Page = { name: string; file: string; sections: Section[] };

const root = join(import.meta.dirname, "..");

/** Examples, or names, that the page of a name lists at most. */
const MAX_NAMED = 4;

/** Names that no example uses and no other name mentions, and their purpose. */
const reasons: Record<string, string> = {
  messageOf: "For a `catch`: the message of whatever was thrown.",
  aiSdkModel: "Any provider of the AI SDK as a model; [models.md](models.md) shows the same in settings.",
  StandardStrategy: "The default of `executeTask`; for a strategy that you choose by its name.",
  StreamingStrategy: "In the place of a loop over `execute`.",
  BatchStrategy: "For a queue: the turn stays open where a person is needed, and another process answers.",
  executionOptions: "The defaults of a run, for a program that shows them.",
  createProgress: "For a surface that shows how far a turn is.",
  neededOf: "For a surface that counts approvals.",
  offersOf: "For a surface that offers rules with an answer.",
  oneLine: "Text of a model in one line of a terminal.",
  prose: "Text of a model in a terminal, without control characters.",
  drain: "For a strategy that only looks at events.",
  builtinSubagents: "To add to them, or to leave some out.",
  createSubagentRegistry: "For an executor with other subagents than the built-in ones.",
  noHooks: "For an executor that is given an object with hooks, or none.",
  builtinTools: "To add to them, or to leave some out.",
  createToolRegistry: "For an executor with other tools than the built-in ones.",
  addUsage: "To add up the cost of several replies.",
  callsOf: "For a model of your own that looks at earlier replies.",
  textOf: "For a model of your own that looks at earlier replies.",
  openSession: "For an executor: the log that `execute`, `run` and `compact` take.",
  stepsOf: "For a journal that no `SageAgentSDK` is open on; `sage.steps` otherwise.",
  answersOf: "For a journal that no `SageAgentSDK` is open on; `sage.recording` otherwise.",
  scriptOf: "For a journal that no `SageAgentSDK` is open on; `sage.recording` otherwise.",
};

const subjects: Record<string, string> = {
  requests: "requests, answers and deadlines in full, and turns that return",
  hosts: "commands to a host and its replies; a host of your own",
  surfaces: "everything to draw a surface of your own with",
  executor: "parts of the executor: contexts, states, registries, hooks",
  tools: "everything that a tool may say and is given",
  models: "requests to models and their replies; scripts; prices",
  stores: "a store of your own, and the journal's parts",
  recordings: "steps of a session; recorded models and people; personas",
};

if (import.meta.main) {
  const { pages } = readApi();
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  mkdirSync(join(root, "docs/api"));
  for (const page of pages) writeFileSync(join(root, page.file), await apiPage(page, pages));
}

export async function apiPage(page: Page, pages: readonly Page[]): Promise<string> {
  const up = page.name === "." ? "" : "../";
  const uses = usesOf(pages);
  const blocks = await Promise.all(page.sections.map((section) => sectionText(section, { up, uses })));
  return [headOf(page, pages), ...blocks].join("\n");
}

function headOf({ name, sections }: Page, pages: readonly Page[]): string {
  const count = sections.reduce((sum, { entries }) => sum + entries.length, 0);
  if (name !== ".")
    return `# API: sage-agent/${name}

Exports of \`sage-agent/${name}\`: ${subjects[name]}. The first day needs none of them: [sage-agent](../api.md).

<!-- Generated: change the comments of the exported names and run \`npm run api\`. -->
`;
  const others = pages.flatMap((page) =>
    page.name === "." ? [] : [`| [\`sage-agent/${page.name}\`](api/${page.name}.md) | ${subjects[page.name]} |`],
  );
  return `# API

The ${count} names that \`sage-agent\` exports. How to use them: [extending.md](extending.md) and [examples/](../examples/). Words: [words.md](words.md).
Names that few programs need have entries of their own:

| entry | for |
|---|---|
${others.join("\n")}

<!-- Generated: change the comments of the exported names and run \`npm run api\`. -->
`;
}

/** Names without an example, a name that mentions them, or a reason. */
export function unexplained(pages: readonly Page[]): string[] {
  const without = [...usesOf(pages)].filter(([, { examples, partOf }]) => examples.length + partOf.length === 0);
  const idle = Object.keys(reasons).filter((name) => !without.some(([other]) => other === name));
  return [...without.flatMap(([name]) => (name in reasons ? [] : [name])), ...idle];
}

/** Where each name is met: an example, or else the names whose declarations mention it. */
function usesOf(pages: readonly Page[]): Map<string, { examples: string[]; partOf: string[] }> {
  const all = pages.flatMap(({ sections }) => sections.flatMap(({ entries }) => entries));
  const examples = globSync("examples/*.{ts,mjs}", { cwd: root })
    .toSorted()
    .map((file) => ({ file, words: new Set(readFileSync(join(root, file), "utf8").match(/[\w$]+/g)) }));
  const mentions = all.map(({ name, code }) => ({ name, words: new Set(code.match(/[\w$]+/g)) }));
  return new Map(
    all.map(({ name }) => [
      name,
      {
        examples: examples.filter(({ words }) => words.has(name)).map(({ file }) => file),
        partOf: mentions.filter((other) => other.name !== name && other.words.has(name)).map((other) => other.name),
      },
    ]),
  );
}

/** The pages, with the exported names by the headings (`// ## …`) of their entrances, in their order; and types that they mention and nobody can import. */
export function readApi(): { pages: Page[]; hidden: string[] } {
  const types = mkdtempSync(join(tmpdir(), "sage-api-"));
  try {
    emitTypes(types);
    const read = createReader();
    const entries = packageEntries();
    const pages = entries.map(({ name, source, types: emitted }) => ({
      name,
      file: name === "." ? "docs/api.md" : `docs/api/${name}.md`,
      sections: exportsBySection(source).map(({ title, names }) => ({
        title,
        entries: names.map(({ name: exported, from }) => {
          const found = read(declarationFile(join(types, dirname(emitted)), from)).find(exported);
          if (found.length === 0) throw new Error(`${exported} is exported, but ${from} does not declare it`);
          return entryOf(exported, found);
        }),
      })),
    }));
    return { pages, hidden: hiddenTypes(entries.map((entry) => join(types, entry.types))) };
  } finally {
    rmSync(types, { recursive: true, force: true });
  }
}

function exportsBySection(source: string): { title: string; names: { name: string; from: string }[] }[] {
  const { program, comments } = parse(join(root, source));
  const titles = comments.flatMap(({ type, value, start }) => {
    const title = type === "Line" && /^ ## (.+)$/.exec(value)?.[1];
    return title ? [{ title, start }] : [];
  });
  const sections = titles.map(({ title }) => ({ title, names: [] as { name: string; from: string }[] }));
  for (const node of program.body) {
    const section = sections[titles.findLastIndex(({ start }) => start < node.start)];
    if (node.type !== "ExportNamedDeclaration" || !node.source || !section)
      throw new Error(`${source}: names, each exported from its file, under a heading \`// ## …\``);
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

type Written = { up: string; uses: ReturnType<typeof usesOf> };

async function sectionText({ title, entries }: Section, written: Written): Promise<string> {
  const blocks = await Promise.all(
    entries.map(async ({ name, comment, code }) => {
      const { code: shown } = await format("api.ts", code, { printWidth: 110 });
      const about = [comment, useText(name, written)].filter((text) => text !== "").join("\n\n");
      return `### \`${name}\`\n\n${about}\n\n\`\`\`ts\n${shown}\`\`\`\n`;
    }),
  );
  return [`## ${title}\n`, ...blocks].join("\n");
}

function useText(name: string, { up, uses }: Written): string {
  const { examples = [], partOf = [] } = uses.get(name) ?? {};
  const named = (list: readonly string[]) => list.slice(0, MAX_NAMED).join(", ");
  if (examples.length > 0) return `Example: ${named(examples.map((file) => `[${basename(file)}](${up}../${file})`))}`;
  if (partOf.length > 0) return `Part of ${named(partOf.map((other) => `\`${other}\``))}.`;
  return (reasons[name] ?? "").replaceAll("](", `](${up}`);
}
