import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../base/attempt.ts";
import type { Config } from "../../config/config.ts";
import { sageHome, type Home } from "../../config/home/home.ts";
import { keptKey, saveKey } from "../../config/home/keys.ts";
import { changeFile } from "../../config/files/locked-file.ts";
import { childEnv } from "../../config/secrets/secrets.ts";
import { version } from "../../config/version.ts";
import { startServers } from "./confining.ts";
import type { TokenStore } from "../../mcp/oauth.ts";
import type { ServerDefinition } from "../../mcp/server.ts";
import type { Servers } from "../../mcp/servers.ts";
import type { Outside } from "./outside.ts";

const DEFER_ABOVE = 40;
/** Servers that settings no longer name are left to the calls that still use them. */
const RETIRE_MS = 600_000;

/** Without a home they are an embedder's own: what is learned of them is not kept, and a login is where the person's are. */
type OutsideParts = { home?: Home; env: NodeJS.ProcessEnv; opened?: OpenedServers | undefined };

type ServersConfig = Pick<Config, "servers" | "sandbox" | "rules"> & {
  settings: Pick<Config["settings"], "mcpDeferAbove">;
  trust: Pick<Config["trust"], "root" | "digest">;
};

export function outsideOf(config: ServersConfig, parts: OutsideParts): Outside {
  const { servers: definitions, settings } = config;
  return {
    async tools(base) {
      const [{ withServers }, servers] = await Promise.all([
        import("../../mcp/registry.ts"),
        openServers(config, parts),
      ]);
      return withServers(base, servers, { deferAbove: settings.mcpDeferAbove ?? DEFER_ABOVE });
    },
    expand(text, message, place) {
      if (!mayMention(text, definitions)) return undefined;
      return Promise.all([import("../../mcp/mentions.ts"), openServers(config, parts)]).then(([mentions, servers]) =>
        mentions.mentionsServer(text, definitions) ? mentions.expandMentions(servers, text, message, place) : message,
      );
    },
    async commands() {
      const [{ promptCommands }, servers] = await Promise.all([
        import("../../mcp/mentions.ts"),
        openServers(config, parts),
      ]);
      return promptCommands(servers);
    },
  };
}

/** A first look, which costs nothing. */
function mayMention(text: string, servers: readonly ServerDefinition[]): boolean {
  return servers.some(({ name }) => text.includes(`@${name}:`) || text.trimStart().startsWith(`/mcp__${name}__`));
}

/** Servers by the folder they work in: settings are read anew for every turn of a daemon, and servers stay. */
export type OpenedServers = Map<string, { key: string; servers: Promise<Servers> }>;

const openedHere: OpenedServers = new Map();

/** The servers of a folder; one for each definition in this process. */
export function openServers(config: ServersConfig, parts: OutsideParts): Promise<Servers> {
  const { servers: definitions, trust } = config;
  const { home, opened = openedHere } = parts;
  const key = JSON.stringify([home?.dir, trust.digest, definitions, config.sandbox]);
  const before = opened.get(trust.root);
  if (before?.key === key) return before.servers;
  if (before) setTimeout(() => void before.servers.then((old) => old.close()).catch(() => {}), RETIRE_MS).unref();
  const servers = makeServers(config, parts);
  const own = { key, servers };
  opened.set(trust.root, own);
  servers.catch(() => opened.get(trust.root) === own && opened.delete(trust.root)); // the next turn tries again
  return servers;
}

/** Ends servers that were started here; those of a command line or a daemon end with their process. */
export async function closeServers(opened: OpenedServers = openedHere): Promise<void> {
  const all = [...opened.values()];
  opened.clear();
  await Promise.all(all.map(({ servers }) => servers.then((made) => made.close()).catch(() => {})));
}

async function makeServers(
  { servers: definitions, trust: { root }, sandbox, rules }: ServersConfig,
  { home, env }: OutsideParts,
): Promise<Servers> {
  const [{ createServers }, { createServerMemory }] = await Promise.all([
    import("../../mcp/servers.ts"),
    import("../../mcp/memory.ts"),
  ]);
  let learned = "";
  const inMemory = { read: () => learned, change: (edit: (text: string) => string) => void (learned = edit(learned)) };
  const path = home && join(home.dir, "mcp.json");
  const inFile = path !== undefined && {
    read: () => attempt(() => readFileSync(path, "utf8")) ?? "",
    change: (edit: (text: string) => string) => changeFile(path, edit),
  };
  const memory = createServerMemory(inFile || inMemory);
  return createServers({
    definitions,
    // Folder of the trusted files, whichever folder of the project a session works in.
    cwd: root,
    env: { ...childEnv(env, root), SAGE_INSIDE: "1" },
    ...(home && { home: home.dir }),
    version,
    ...(sandbox.mode !== "off" && {
      start: startServers(sandbox, { root, state: (home ?? sageHome(env)).dir, rules }),
    }),
    memory,
    async http(definition) {
      const [{ httpTransport }, { keptLogin }] = await Promise.all([
        import("../../mcp/http.ts"),
        import("../../mcp/oauth.ts"),
      ]);
      return httpTransport(
        definition,
        keptLogin(definition, tokenStore(definition, { home: home ?? sageHome(env), env })),
      );
    },
  });
}

/** Tokens of a server are kept with the person's keys: in the keychain, or in a file that only they can read. */
export function tokenStore(
  { name, transport }: ServerDefinition,
  { home, env }: { home: Home; env: NodeJS.ProcessEnv },
): TokenStore {
  const address = transport.type === "http" ? transport.url : "";
  const variable = `SAGE_MCP_TOKEN_${hash("sha256", `${name}\n${address}`, "hex").slice(0, 16).toUpperCase()}`;
  const place: NodeJS.ProcessEnv = env["SAGE_KEYS"] === undefined ? {} : { SAGE_KEYS: env["SAGE_KEYS"] };
  return {
    read: () => keptKey(home, {}, variable),
    write: (text) => void saveKey(home, place, variable, text),
  };
}
