import { offerOf, type OfferedTool, type ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/definition/tool.ts";
import { createToolSearch } from "./search.ts";
import type { Servers } from "./servers.ts";

const none: ReadonlySet<string> = new Set();

/**
 * The tools of an agent together with those of its servers, as these are at the moment. With more than `deferAbove` of a server's
 * tools the model is told their names, and of those that it searched for the rest.
 */
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
        isIn: (name) => isIn(name) && names.some((one) => covers(one, name)),
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
