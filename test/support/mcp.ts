import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createServerMemory } from "../../src/mcp/memory.ts";
import type { ServerDefinition } from "../../src/mcp/server.ts";
import { httpTransport } from "../../src/mcp/http.ts";
import { createServers, type Servers, type ServersParts } from "../../src/mcp/servers.ts";

/** The code of our own server: one file that needs no other. */
export const program = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

export type ListedTool = { name: string; description?: string; inputSchema?: unknown; annotations?: object };

/** A tool as our server lists it. */
export const tool = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: "object", properties: {} },
  ...more,
});

/** The definition of our own server, with these tools. */
export function hostile(
  dir: string,
  tools: readonly ListedTool[],
  more: Partial<ServerDefinition> & { env?: Record<string, string>; code?: string } = {},
): ServerDefinition {
  const { env = {}, code = program, ...rest } = more;
  const list = `${dir}/${rest.name ?? "bad"}-tools.json`;
  writeFileSync(list, JSON.stringify(tools));
  const args = ["--disable-warning=ExperimentalWarning", code, list, `${dir}/calls.log`];
  return {
    name: "bad",
    source: "user",
    file: "settings.json",
    transport: { type: "stdio", command: process.execPath, args, env },
    timeoutMs: 10_000,
    startupTimeoutMs: 10_000,
    reads: [],
    ...rest,
  };
}

/** Has our server list these tools from now on. */
export function listNow(dir: string, tools: readonly ListedTool[], name = "bad"): void {
  writeFileSync(`${dir}/${name}-tools.json`, JSON.stringify(tools));
}

/** Calls that reached our server. */
export function calls(dir: string): string[] {
  try {
    return readFileSync(`${dir}/calls.log`, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

/** Servers that remember in a file of this folder. */
export function serversIn(
  dir: string,
  ...given: (ServerDefinition | Pick<ServersParts, "http" | "start">)[]
): Servers & AsyncDisposable {
  const definitions = given.filter((one) => "transport" in one);
  const { http, start } = Object.assign({}, ...given.filter((one) => !("transport" in one))) as Partial<ServersParts>;
  const path = `${dir}/mcp.json`;
  const read = () => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const memory = createServerMemory({ read, change: (edit) => writeFileSync(path, edit(read())) });
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const servers = createServers({
    definitions,
    cwd: dir,
    env,
    version: "test",
    memory,
    ...(start && { start }),
    http: http ?? (async (definition) => httpTransport(definition)),
  });
  return { ...servers, [Symbol.asyncDispose]: () => servers.close() };
}
