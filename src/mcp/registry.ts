import { type OfferedTool, type ToolRegistry, offerOf } from "../tools/registry.ts";
import type { Tool } from "../tools/definition/tool.ts";
import type { Servers } from "./servers.ts";
import { reason } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";

const SEARCH_TOOL = "ToolSearch";
const MAX_FOUND = 20;
const FOUND = 5;
const MAX_LINE_LENGTH = 200;

const none: ReadonlySet<string> = new Set();

/** An agent's tools with its servers'. Above `deferAbove` the model is told names, and the rest of those it searched for. */
export function withServers(
  base: ToolRegistry,
  servers: Servers,
  { deferAbove, isIn = () => true }: { deferAbove: number; isIn?: (name: string) => boolean },
): ToolRegistry {
  let made: { of: readonly Tool[]; tools: readonly Tool[]; search: Tool | undefined } | undefined;
  let offered: { of: object; loaded: number; offers: readonly OfferedTool[] } | undefined;
  const now = () => {
    const of = servers.tools();
    if (made?.of === of) return made;
    const tools = of.filter(({ name }) => isIn(name));
    return (made = { of, tools, search: tools.length > deferAbove ? createToolSearch(tools) : undefined });
  };
  const list = () => {
    const { tools, search } = now();
    return [...base.list(), ...(search ? [search] : []), ...tools];
  };
  return {
    get(name) {
      const { search } = now();
      return base.get(name) ?? (name === search?.name ? search : isIn(name) ? servers.tool(name) : undefined);
    },
    names: () => list().map(({ name }) => name),
    list,
    filterByNames: (names) =>
      withServers(base.filterByNames(names), servers, {
        deferAbove,
        isIn: (name) => isIn(name) && names.some((pattern) => covers(pattern, name)),
      }),
    clone: () => withServers(base.clone(), servers, { deferAbove, isIn }),
    register: base.register,
    ready: servers.ready,
    offers(loaded = none) {
      const current = now();
      if (offered?.of === current && offered.loaded === loaded.size) return offered.offers;
      const { tools, search } = current;
      const shown = search ? [search, ...tools.filter(({ name }) => loaded.has(name))] : tools;
      offered = { of: current, loaded: loaded.size, offers: [...base.offers(), ...shown.map(offerOf)] };
      return offered.offers;
    },
  };
}

/** A tool by its name, or all of a server: `mcp__github`, `mcp__github__*`. */
function covers(given: string, name: string): boolean {
  return given === name || name.startsWith(`${given.replace(/(__)?\*$/, "")}__`);
}

const inputSchema = z.strictObject({
  query: z.string().min(1).describe("Words to look for in names and descriptions, or whole names, separated by spaces"),
  limit: z.number().int().min(1).max(MAX_FOUND).default(FOUND).describe("How many tools to bring in at most"),
});
type Input = z.infer<typeof inputSchema>;

/** Brings tools in that the model knows by name only: from the next step on they can be called. */
function createToolSearch(tools: readonly Tool[]): Tool<Input> {
  const names = tools.map(({ name }) => name);
  return {
    name: SEARCH_TOOL,
    description: [
      "Brings in tools of MCP servers. You know them by name only; before you call one, search for it here. From your next step on the tools that were found can be called like any other.",
      `There are: ${names.join(", ")}`,
    ].join("\n\n"),
    inputSchema,
    effect: "reads",
    checkPermissions: () => ({ behavior: "allow", reason: reason("lists-tools", {}) }),
    async execute({ query, limit }) {
      const found = best(tools, query, limit);
      if (found.length === 0) return { ok: false, text: `No tool matches "${query}".` };
      const lines = found.map(({ name, description }) => `- ${name}: ${firstLine(description)}`);
      return {
        ok: true,
        text: `You can call ${found.length === 1 ? "this tool" : "these tools"} from now on:\n${lines.join("\n")}`,
        loaded: found.map(({ name }) => name),
      };
    },
  };
}

/** Whole names first, then those with most of the words; words in a name count more than those in a description. */
function best(tools: readonly Tool[], query: string, limit: number): Tool[] {
  const words = query
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((word) => word !== "");
  const scored = tools.map((tool) => {
    const [name, description] = [tool.name.toLowerCase(), tool.description.toLowerCase()];
    const score = words.reduce(
      (sum, word) => sum + (name === word ? 100 : name.includes(word) ? 3 : description.includes(word) ? 1 : 0),
      0,
    );
    return { tool, score };
  });
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return found.slice(0, limit).map(({ tool }) => tool);
}

function firstLine(description: string): string {
  return (description.split("\n")[0] ?? "").slice(0, MAX_LINE_LENGTH).toWellFormed();
}
