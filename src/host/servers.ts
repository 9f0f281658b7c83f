import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Home } from "../config/home.ts";
import { changeFile } from "../config/locked-file.ts";
import { childEnv } from "../config/secrets.ts";
import { version } from "../config/version.ts";
import type { Servers } from "../mcp/servers.ts";
import { sentence } from "../texts/reasons.ts";
import type { ToolRegistry } from "../tools/registry.ts";

const DEFER_ABOVE = 40;
/** Servers that settings no longer name are left to the calls that still use them. */
const RETIRE_MS = 600_000;

export type OutsideParts = { home: Home; env: NodeJS.ProcessEnv; cwd: string };

/** Servers of this process, by the folder they work in: settings are read anew for every turn of a daemon, and servers stay. */
const opened = new Map<string, { key: string; servers: Promise<Servers> }>();

/** Adds the tools of a folder's MCP servers to an agent's own. Nothing is loaded or started before a turn begins. */
export function outsideTools(config: Config, parts: OutsideParts): (base: ToolRegistry) => Promise<ToolRegistry> {
  return async (base) => {
    const [{ withServers }, servers] = await Promise.all([import("../mcp/registry.ts"), openServers(config, parts)]);
    return withServers(base, servers, { deferAbove: config.settings.mcpDeferAbove ?? DEFER_ABOVE });
  };
}

/** The servers of a folder; one for each definition in this process. */
export function openServers({ servers: definitions, trust }: Config, parts: OutsideParts): Promise<Servers> {
  const key = JSON.stringify([parts.home.dir, trust.digest, definitions]);
  const before = opened.get(trust.root);
  if (before?.key === key) return before.servers;
  if (before) setTimeout(() => void before.servers.then((old) => old.close()), RETIRE_MS).unref();
  const servers = makeServers(definitions, trust.root, parts);
  opened.set(trust.root, { key, servers });
  return servers;
}

async function makeServers(
  definitions: Config["servers"],
  root: string,
  { home, env, cwd }: OutsideParts,
): Promise<Servers> {
  const [{ createServers }, { createServerMemory }] = await Promise.all([
    import("../mcp/servers.ts"),
    import("../mcp/memory.ts"),
  ]);
  const path = join(home.dir, "mcp.json");
  const memory = createServerMemory({ read: () => textOf(path), change: (edit) => changeFile(path, edit) });
  return createServers({
    definitions,
    cwd,
    env: { ...childEnv(env, root), SAGE_INSIDE: "1" },
    version,
    memory,
    sentence: (why) => sentence(why, "en"),
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // nothing is known yet
  }
}
