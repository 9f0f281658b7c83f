import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { posix, sep } from "node:path";
import { test } from "node:test";
import { parseSync, Visitor } from "rolldown/utils";

const root = new URL("../", import.meta.url);

const heart = [
  "protocol",
  "processes",
  "journal",
  "input",
  "permission",
  "tools",
  "models",
  "context",
  "hooks",
  "guest",
];
const host = [...heart, "view", "agent", "mcp", "config", "confine", "remote"];

/** Rooms that import each other: `base` is open to everybody. */
const doors: Record<string, string[]> = {
  base: [],
  protocol: [],
  texts: ["protocol"],
  view: ["protocol", "texts"],
  remote: ["protocol"],
  processes: ["protocol"],
  journal: ["protocol", "processes"],
  input: ["protocol", "processes", "journal"],
  permission: ["protocol"],
  tools: ["protocol", "processes", "permission"],
  confine: ["protocol", "processes", "permission", "tools"],
  models: ["protocol"],
  context: ["protocol"],
  hooks: ["protocol", "processes"],
  guest: ["protocol", "processes", "mcp"],
  agent: heart,
  mcp: ["protocol", "processes", "tools"],
  config: ["protocol", "processes", "permission", "tools", "context", "hooks", "mcp"],
  archive: host,
  host: [...host, "archive"],
  sdk: [...host, "texts", "host", "archive"],
  "surfaces/*": ["protocol", "texts", "view", "remote"],
  cli: [...host, "texts", "host", "archive", "sdk", "surfaces/*"],
};

/** Sentences are made at the edge. These files alone make them below it: a model, or a hook of the person, reads English. */
const writers = [
  "src/agent/call/judge/results.ts",
  "src/agent/call/perform/recover.ts",
  "src/agent/inquiry/converse.ts",
  "src/agent/subagent/delegate.ts",
  "src/agent/turn/spinning.ts",
  "src/hooks/hooks.ts",
  "src/input/channel.ts",
  "src/mcp/mentions.ts",
  "src/mcp/tool.ts",
  "src/tools/ask/ask-user.ts",
  "src/tools/files/read.ts",
  "src/tools/web/web-fetch.ts",
  "src/tools/web/web-search.ts",
];

/** Rooms that must run in a browser. */
const browser = ["base", "protocol", "texts", "view", "remote"];

/** A folder with more files wants folders whose names show the order. */
const MAX_FILES = 15;

/** Small enough to read at once: a feature that does not fit belongs in another room. */
const oneScreen = ["src/agent/turn/loop.ts", "src/agent/turn/executor.ts", "src/agent/call/call.ts"];

const sources = globSync("src/**/*.{ts,mts,tsx,js,mjs}", { cwd: root }).map((path) => path.replaceAll(sep, "/"));

test("every room imports only through its doors", () => {
  assert.deepEqual(
    sources.flatMap((path) => trespasses(path, read(path))),
    [],
  );
});

test("sentences are made at the edge, and below it by a few files that write for the model", () => {
  const below = sources.filter((path) => !doorsOf(roomOf(path) ?? "").includes("texts") && roomOf(path) !== "texts");
  const edges = below.flatMap((path) =>
    scan(path, read(path)).imports.flatMap((specifier) => {
      const target = specifier === undefined ? undefined : resolve(path, specifier);
      return target !== undefined && roomOf(target) === "texts" ? [path] : [];
    }),
  );
  assert.deepEqual([...new Set(edges)].sort(), writers);
  assert.ok(edges.length < 15, `${edges.length} imports of texts below the edge`);
});

test("people read the reason of an error, never its message, which is a code", () => {
  const edge = sources.filter((path) => /^src\/(view|surfaces|cli)\//.test(path) && path !== "src/cli/main.ts");
  const readers = edge.filter((path) =>
    /\bmessageOf\b[^}]*\} from "[./]*protocol\/reasons\/error\.ts"/.test(read(path)),
  );
  assert.deepEqual(readers, []);
});

test("tests take properties from one door, which sets the seed", () => {
  const tests = globSync("test/**/*.ts", { cwd: root }).map((path) => path.replaceAll(sep, "/"));
  const direct = tests.filter((path) => /^import .* from "fast-check";$/m.test(read(path)));
  assert.deepEqual(direct, ["test/support/properties.ts"]);
});

test("folders of one room import each other in one direction only", () => {
  assert.deepEqual(backEdges(sources.flatMap((path) => folderEdges(path, read(path)))), []);
});

test("two folders that import each other are named with the files that do it", () => {
  const edges = [
    ...folderEdges("src/agent/call/perform.ts", 'import { a } from "../turn/loop.ts";'),
    ...folderEdges("src/agent/turn/loop.ts", 'import { b } from "../call/call.ts"; import { c } from "./turn.ts";'),
  ];
  assert.deepEqual(backEdges(edges), [
    "src/agent/call → src/agent/turn → src/agent/call: src/agent/call/perform.ts imports src/agent/turn/loop.ts",
  ]);
});

test("no file imports itself in a circle, types aside", () => {
  const imports = new Map(sources.map((path) => [path, valueImports(path, read(path))]));
  assert.deepEqual(circles(imports), []);
});

test("no file of protocol or base needs itself to be read, types included", () => {
  const leaves = sources.filter((path) => /^src\/(protocol|base)\//.test(path));
  const imports = new Map(
    leaves.map((path) => [path, scan(path, read(path)).imports.flatMap((target) => resolve(path, target ?? "") ?? [])]),
  );
  assert.deepEqual(circles(imports), []);
});

test("a circle is named with every file on the way, and neither a type nor a later import makes one", () => {
  const files = {
    "src/agent/turn/loop.ts": 'import { run } from "../call/call.ts"; import type { Host } from "../../host/host.ts";',
    "src/agent/call/call.ts": 'export { judge } from "./judge.ts"; import { type Turn, end } from "../turn/turn.ts";',
    "src/agent/call/judge.ts": 'import { loop } from "../turn/loop.ts"; import { a } from "./judge.ts";',
    "src/agent/turn/turn.ts": 'const lazy = () => import("../call/call.ts"); export type { A } from "./loop.ts";',
    "src/host/host.ts": 'import { loop } from "../agent/turn/loop.ts";',
  };
  const imports = new Map(Object.entries(files).map(([path, source]) => [path, valueImports(path, source)]));
  assert.deepEqual(circles(imports), [
    "src/agent/turn/loop.ts → src/agent/call/call.ts → src/agent/call/judge.ts → src/agent/turn/loop.ts",
    "src/agent/call/judge.ts → src/agent/call/judge.ts",
  ]);
});

test("a folder holds at most fifteen files", () => {
  const counts = new Map<string, number>();
  for (const path of globSync("src/**/*.*", { cwd: root })) {
    const folder = posix.dirname(path.replaceAll(sep, "/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const full = [...counts].flatMap(([folder, count]) => (count > MAX_FILES ? [`${folder} has ${count} files`] : []));
  assert.deepEqual(full, []);
});

test("a file fits on a few screens, the loop and one call on one each", () => {
  const tooLong = sources.flatMap((path) => {
    const limit = oneScreen.includes(path) ? 110 : 400;
    const text = read(path).trimEnd();
    const lines = (oneScreen.includes(path) ? text.replace(/^import [^;]*;\n/gm, "") : text).split("\n").length;
    return lines > limit ? [`${path} has ${lines} lines; the limit is ${limit}`] : [];
  });
  assert.deepEqual(tooLong, []);
});

test("a trespass is named with what the room may import, whatever form the import takes", () => {
  const may =
    "agent may import: base, protocol, processes, journal, input, permission, tools, models, context, hooks, guest";
  const source = `
    import { host } from "../../host/host.ts";
    import type { Panel } from "../../surfaces/terminal/view.ts";
    export * from "../../cli/main.ts";
    export { start } from "../../sdk/index.ts";
    const lazy = () => import("../../mcp/client.ts");
    let typed: import("../../archive/receipts.ts").Receipt;
    // import { nothing } from "../../cli/comment.ts";
    const text = 'import { nothing } from "../../cli/string.ts"';
    import { judge } from "../../permission/judge.ts";
    import { z } from "zod";
    import { helper } from "./helper.ts";
  `;
  assert.deepEqual(
    trespasses("src/agent/turn/executor.ts", source),
    [
      "src/host/host.ts",
      "src/surfaces/terminal/view.ts",
      "src/cli/main.ts",
      "src/sdk/index.ts",
      "src/mcp/client.ts",
      "src/archive/receipts.ts",
    ].map((target) => `src/agent/turn/executor.ts imports ${target}; ${may}`),
  );
});

test("a surface sees protocol, texts, view, remote and itself, never another surface", () => {
  const source = `
    import "../../../protocol/index.ts";
    import "../../../texts/en.ts";
    import "../view.ts";
    import "../../terminal/view.ts";
  `;
  assert.deepEqual(trespasses("src/surfaces/plain/parts/row.ts", source), [
    "src/surfaces/plain/parts/row.ts imports src/surfaces/terminal/view.ts; surfaces/plain may import: base, protocol, texts, view, remote",
  ]);
});

test("back doors are shut: outside of src, our own package, computed paths, node in protocol", () => {
  const source = `
    import "../../test/support/sage.ts";
    import "../../bench/measure.ts";
    import version from "../../package.json" with { type: "json" };
    import "sage-agent";
    import "node:fs";
    const lazy = (name: string) => import(\`../\${name}/index.ts\`);
  `;
  assert.deepEqual(trespasses("src/protocol/fact.ts", source), [
    "src/protocol/fact.ts imports test/support/sage.ts; src imports nothing outside of src",
    "src/protocol/fact.ts imports bench/measure.ts; src imports nothing outside of src",
    "src/protocol/fact.ts imports src/sdk/index.ts; protocol may import: base",
    "src/protocol/fact.ts imports node:fs; protocol must run in a browser",
    "src/protocol/fact.ts imports a computed path; write the paths out, so that the doors can be checked",
  ]);
});

test("no default exports, no index.ts but at an entrance, no file outside of a room", () => {
  assert.deepEqual(trespasses("src/agent/index.ts", "export default 1;"), [
    "src/agent/index.ts: index.ts belongs only in sdk and each surface",
    "src/agent/index.ts has a default export; name it",
  ]);
  assert.deepEqual(trespasses("src/input/channel.ts", "const a = 1; export { a as default };"), [
    "src/input/channel.ts has a default export; name it",
  ]);
  for (const path of ["src/main.ts", "src/surfaces/shared.ts", "src/utils/array.ts"]) {
    assert.deepEqual(trespasses(path, ""), [`${path} is in no room`]);
  }
  for (const path of ["src/sdk/index.ts", "src/surfaces/plain/index.ts"]) {
    assert.deepEqual(trespasses(path, ""), []);
  }
});

function trespasses(path: string, source: string): string[] {
  const room = roomOf(path);
  if (room === undefined) return [`${path} is in no room`];
  const { imports, hasDefaultExport } = scan(path, source);
  const found = imports.flatMap((specifier) => trespass(path, room, specifier));
  if (posix.basename(path) === "index.ts" && !isEntrance(path)) {
    found.push(`${path}: index.ts belongs only in sdk and each surface`);
  }
  if (hasDefaultExport) found.push(`${path} has a default export; name it`);
  return found;
}

/** Files whose code has to be there before that of `path` runs. */
function valueImports(path: string, source: string): string[] {
  const { program } = parseSync(path, source);
  const specifiers: string[] = [];
  new Visitor({
    ImportDeclaration: (node) => void (node.importKind !== "type" && specifiers.push(node.source.value)),
    ExportAllDeclaration: (node) => void (node.exportKind !== "type" && specifiers.push(node.source.value)),
    ExportNamedDeclaration: (node) =>
      void (node.source && node.exportKind !== "type" && specifiers.push(node.source.value)),
  }).visit(program);
  return specifiers.flatMap((specifier) => resolve(path, specifier) ?? []);
}

/** Every way that leads back to where it began, found by looking along each import once. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const follow = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) found.push([...way.slice(at), path].join(" → "));
    if (at >= 0 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) follow(next, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) follow(path, []);
  return found;
}

type Edge = { from: string; to: string; path: string; target: string };

/** Imports from one folder of a room into another. */
function folderEdges(path: string, source: string): Edge[] {
  // The command line's root dispatches to its commands and holds what they share: main.ts alone imports them.
  if (path === "src/cli/main.ts") return [];
  const from = posix.dirname(path);
  return scan(path, source).imports.flatMap((specifier) => {
    const target = specifier === undefined ? undefined : resolve(path, specifier);
    if (target === undefined || roomOf(target) !== roomOf(path)) return [];
    const to = posix.dirname(target);
    return to === from ? [] : [{ from, to, path, target }];
  });
}

/** Every folder that can be reached from itself, with one file on the way. */
function backEdges(edges: readonly Edge[]): string[] {
  const folders = [...new Set(edges.map(({ from }) => from))].sort();
  const found = new Map<string, string>();
  for (const start of folders) {
    const way = wayBack(start, edges);
    const name = way && [...new Set(way.map(({ from }) => from))].sort().join(" ");
    if (way?.[0] && name !== undefined && !found.has(name))
      found.set(name, `${[start, ...way.map(({ to }) => to)].join(" → ")}: ${way[0].path} imports ${way[0].target}`);
  }
  return [...found.values()];
}

function wayBack(start: string, edges: readonly Edge[]): Edge[] | undefined {
  const queue: Edge[][] = edges.filter(({ from }) => from === start).map((edge) => [edge]);
  const seen = new Set<string>();
  for (let way = queue.shift(); way; way = queue.shift()) {
    const end = way.at(-1)?.to ?? start;
    if (end === start) return way;
    if (seen.has(end)) continue;
    seen.add(end);
    for (const edge of edges) if (edge.from === end) queue.push([...way, edge]);
  }
  return undefined;
}

function trespass(path: string, room: string, specifier: string | undefined): string[] {
  if (specifier === undefined) {
    return [`${path} imports a computed path; write the paths out, so that the doors can be checked`];
  }
  if (browser.includes(room) && specifier.startsWith("node:")) {
    return [`${path} imports ${specifier}; ${room} must run in a browser`];
  }
  const target = resolve(path, specifier);
  if (target === undefined || target === "package.json") return [];
  if (!target.startsWith("src/")) return [`${path} imports ${target}; src imports nothing outside of src`];
  const other = roomOf(target);
  const allowed = writers.includes(path) ? [...doorsOf(room), "texts"] : doorsOf(room);
  if (other === room || other === "base" || (other !== undefined && allowed.includes(wildcard(other)))) return [];
  return [`${path} imports ${target}; ${room} may import: ${["base", ...allowed].join(", ")}`];
}

/** Every specifier of a static, type or dynamic import; undefined for a dynamic one that cannot be read off the page. */
function scan(path: string, source: string): { imports: (string | undefined)[]; hasDefaultExport: boolean } {
  const { program, module, errors } = parseSync(path, source);
  assert.deepEqual(errors, [], `${path} does not parse`);
  const imports: (string | undefined)[] = [];
  new Visitor({
    ImportDeclaration: (node) => void imports.push(node.source.value),
    ExportAllDeclaration: (node) => void imports.push(node.source.value),
    ExportNamedDeclaration: (node) => void (node.source && imports.push(node.source.value)),
    TSImportType: (node) => void imports.push(node.source.value),
    ImportExpression({ source: from }) {
      if (from.type === "Literal" && typeof from.value === "string") imports.push(from.value);
      else if (from.type === "TemplateLiteral" && from.quasis[0]?.value.raw.startsWith(".")) imports.push(undefined);
    },
  }).visit(program);
  const exported = module.staticExports.flatMap((statement) => statement.entries);
  const hasDefaultExport = exported.some(
    ({ exportName }) => exportName.kind === "Default" || exportName.name === "default",
  );
  return { imports, hasDefaultExport };
}

/** Path from the repository's root, or undefined for what is not ours. */
function resolve(path: string, specifier: string): string | undefined {
  if (specifier === "sage-agent") return "src/sdk/index.ts";
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

function roomOf(path: string): string | undefined {
  const [, first = "", second, ...deeper] = path.split("/");
  const room = first === "surfaces" && deeper.length > 0 ? `surfaces/${second}` : first;
  return second !== undefined && wildcard(room) in doors ? room : undefined;
}

function doorsOf(room: string): string[] {
  return doors[wildcard(room)] ?? [];
}

function wildcard(room: string): string {
  return room.startsWith("surfaces/") ? "surfaces/*" : room;
}

function isEntrance(path: string): boolean {
  return /^src\/(sdk|surfaces\/[^/]+)\/index\.ts$/.test(path);
}

function read(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}
