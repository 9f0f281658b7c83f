// npm run ratchet            counts habits that the house is giving up; part of `npm run check`
// npm run ratchet -- --list  names each place
// npm run ratchet -- --save  lowers the limits to today's counts; a limit never rises
// Files and lines have a budget instead, for all that is planned, which --save leaves alone.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";

const root = join(import.meta.dirname, "..");
const file = join(import.meta.dirname, "ratchet.json");
const MAX_FUNCTION_LINES = 100;
const budgets = new Set(["source files", "lines of source"]);

/** Places by habit. Counts may fall and never rise. */
export type Findings = Record<Habit, string[]>;
type Habit =
  | "comments that begin with What, Who, One, Those, So or Whether"
  | "locals called `one`"
  | "spreads that only steer the formatter"
  | "functions of one name in several files"
  | "limits called MOST_, LONGEST_, LARGEST_, PATIENCE_ or LOOK_"
  | "globals that are shadowed"
  | "functions over 100 lines"
  | "source files"
  | "lines of source";

type Source = { path: string; text: string };

export function readSources(): Source[] {
  return globSync("src/**/*.{ts,tsx}", { cwd: root })
    .map((path) => path.replaceAll(sep, "/"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

export function findHabits(sources: readonly Source[]): Findings {
  const findings: Findings = {
    "comments that begin with What, Who, One, Those, So or Whether": [],
    "locals called `one`": [],
    "spreads that only steer the formatter": [],
    "functions of one name in several files": [],
    "limits called MOST_, LONGEST_, LARGEST_, PATIENCE_ or LOOK_": [],
    "globals that are shadowed": [],
    "functions over 100 lines": [],
    "source files": [],
    "lines of source": [],
  };
  const definitions = new Map<string, string[]>();
  for (const { path, text } of sources) {
    findings["source files"].push(path);
    const starts = lineStarts(text);
    const lineOf = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1;
    const add = (habit: Habit, offset: number) => findings[habit].push(`${path}:${lineOf(offset)}`);
    for (let line = 1; line < starts.length; line++) findings["lines of source"].push(`${path}:${line}`);
    const { program, comments } = parseSync(path, text);
    for (const { value, start } of comments) {
      if (/^[\s*]*(?:What|Who|One|Those|So|Whether)\b(?! that\b.*\?)/.test(value))
        add("comments that begin with What, Who, One, Those, So or Whether", start);
    }
    const nameLocal = (pattern: Node | null | undefined): void => {
      for (const { name, start } of boundNames(pattern)) {
        if (name === "one") add("locals called `one`", start);
        if (name === "Object" || name === "File") add("globals that are shadowed", start);
      }
    };
    const measure = (node: Node): void => {
      for (const parameter of node["params"] as Node[]) nameLocal(parameter);
      const lines = lineOf(node.end) - lineOf(node.start) + 1;
      if (lines > MAX_FUNCTION_LINES) add("functions over 100 lines", node.start);
    };
    new Visitor({
      FunctionDeclaration(node) {
        measure(node as unknown as Node);
        const name = node.id?.name ?? "";
        if (name.endsWith("Of"))
          definitions.set(name, [...(definitions.get(name) ?? []), `${path}:${lineOf(node.start)}`]);
        if (name === "Object" || name === "File") add("globals that are shadowed", node.start);
      },
      FunctionExpression: (node) => measure(node as unknown as Node),
      ArrowFunctionExpression: (node) => measure(node as unknown as Node),
      VariableDeclarator: ({ id, start }) => {
        nameLocal(id as unknown as Node);
        if (id.type === "Identifier" && /^(?:MOST|LONGEST|LARGEST|PATIENCE|LOOK)(?:_|$)/.test(id.name))
          add("limits called MOST_, LONGEST_, LARGEST_, PATIENCE_ or LOOK_", start);
      },
      ImportSpecifier: ({ local }) => nameLocal(local as unknown as Node),
      TSTypeAliasDeclaration({ id }) {
        if (id.name === "Object" || id.name === "File") add("globals that are shadowed", id.start);
      },
      SpreadElement({ argument, start }) {
        if (argument.type === "ArrayExpression" || argument.type === "ObjectExpression")
          add("spreads that only steer the formatter", start);
      },
    }).visit(program);
  }
  for (const [, places] of definitions)
    if (new Set(places.map((place) => place.split(":")[0])).size > 1)
      findings["functions of one name in several files"].push(...places.slice(1));
  return findings;
}

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

/** Names that a pattern binds, in its defaults' places, too. */
function boundNames(pattern: Node | null | undefined): { name: string; start: number }[] {
  if (!pattern) return [];
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern["name"] as string, start: pattern.start }];
    case "ObjectPattern":
      return (pattern["properties"] as Node[]).flatMap((property) =>
        boundNames((property["value"] ?? property["argument"]) as Node),
      );
    case "ArrayPattern":
      return (pattern["elements"] as (Node | null)[]).flatMap(boundNames);
    case "AssignmentPattern":
      return boundNames(pattern["left"] as Node);
    case "RestElement":
      return boundNames(pattern["argument"] as Node);
    default:
      return [];
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Counts above their limits, as lines to print. */
export function risen(findings: Findings, limits: Record<string, number>): string[] {
  return Object.entries(findings).flatMap(([habit, places]) => {
    const limit = limits[habit] ?? 0;
    return places.length > limit ? [`${habit}: ${places.length}, and there may be ${limit}`] : [];
  });
}

if (import.meta.main) {
  const limits = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
  const findings = findHabits(readSources());
  if (process.argv.includes("--save")) {
    const lower = Object.fromEntries(
      Object.entries(findings).map(([habit, places]) => [
        habit,
        budgets.has(habit) ? limits[habit] : Math.min(places.length, limits[habit] ?? places.length),
      ]),
    );
    writeFileSync(file, `${JSON.stringify(lower, undefined, 2)}\n`);
  }
  if (process.argv.includes("--list"))
    for (const [habit, places] of Object.entries(findings))
      if (!budgets.has(habit)) console.log([habit, ...places.map((place) => `  ${place}`)].join("\n"));
  if (process.argv.includes("--count"))
    for (const [habit, places] of Object.entries(findings))
      console.log(`${String(places.length).padStart(7)}  ${habit}`);
  const lines = risen(findings, limits);
  if (lines.length > 0) console.error(`${lines.join("\n")}\nnpm run ratchet -- --list names each place.`);
  process.exitCode = lines.length > 0 ? 1 : 0;
}
