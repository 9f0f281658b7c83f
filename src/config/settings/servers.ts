import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ContentFile } from "../../context/content.ts";
import { MAX_SERVER_NAME_LENGTH, serverNamePattern, type ServerDefinition } from "../../mcp/server.ts";
import { reason, type Reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import { misfits } from "../../protocol/reasons/misfit.ts";
import * as z from "../../base/z.ts";
import { changedScript, scriptsIn } from "../files/hook-files.ts";
import { readSmallFile } from "../files/small-file.ts";

const CALL_MS = 300_000;
const STARTUP_MS = 30_000;

const serverName = z.string().max(MAX_SERVER_NAME_LENGTH).regex(serverNamePattern, "server-name");
const strings = z.record(z.string(), z.string());
const milliseconds = z
  .number()
  .int()
  .positive()
  .max(24 * 3_600_000);

const server = {
  type: z.string().optional().describe("stdio for a command, http for a URL; told by which of the two there is"),
  command: z.string().min(1).optional().describe("A program; it is started without a shell"),
  args: z.array(z.string()).optional(),
  env: strings.optional().describe("Variables for it; ${NAME} and ${NAME:-otherwise} stand for variables of your own"),
  url: z.string().min(1).optional().describe("Address of a server that speaks streamable HTTP"),
  headers: strings.optional().describe("Headers of each request; ${NAME} as above"),
  oauth: z
    .strictObject({
      clientId: z.string().optional().describe("Where the server does not register clients by itself"),
      scope: z.string().optional(),
      callbackPort: z.number().int().min(1).max(65_535).optional().describe("Port of this machine to come back to"),
    })
    .optional(),
  disabled: z.boolean().optional(),
  timeoutMs: milliseconds.optional().describe("How long a call may go without a sign of life; 5 minutes by default"),
  startupTimeoutMs: milliseconds.optional().describe("30 seconds by default"),
};
const ownServer = z
  .strictObject({
    ...server,
    reads: z
      .array(z.string())
      .optional()
      .describe("Tools that only read, by your word: `*` stands for anything. They run again after a crash"),
  })
  .superRefine(oneWay);

/** `mcpServers` of the person's own settings. */
export const serversSchema = z.record(serverName, ownServer);

/** Keys that other programs put beside ours are passed over. */
const fileSchema = z.object({ mcpServers: z.record(z.string(), z.unknown()).optional() });
const fileServer = z.object(server).superRefine(oneWay);

export type OwnServers = z.infer<typeof serversSchema>;
type Entry = z.infer<typeof ownServer>;

/** `.mcp.json` of a folder, as found: none of its servers is started before the person trusted the folder. */
export type ServersFile = {
  path: string;
  text: string;
  servers: Record<string, Entry>;
  /** Files of the folder that their commands name. */
  scripts: ContentFile[];
  problems: Reason[];
};

export function readServersFile(root: string, read = readSmallFile): ServersFile | undefined {
  const path = join(root, ".mcp.json");
  const text = read(path);
  if (text === undefined) return undefined;
  const { servers, problems } = readServers(path, text);
  const commands = Object.values(servers).flatMap((server) =>
    server.command === undefined ? [] : [commandLine(server)],
  );
  return { path, text, servers, scripts: scriptsIn(commands, root), problems };
}

/** Servers as `.mcp.json` of Sage or of another program lists them. One that cannot be understood is told, and no more. */
export function readServers(path: string, text: string): { servers: Record<string, Entry>; problems: Reason[] } {
  let listed: Record<string, unknown>;
  try {
    const parsed = fileSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return { servers: {}, problems: [unfit(path, misfits(parsed.error, JSON.parse(text)))] };
    listed = parsed.data.mcpServers ?? {};
  } catch (error) {
    return { servers: {}, problems: [reason("file-not-json", { path, problem: messageOf(error) })] };
  }
  const servers: Record<string, Entry> = {};
  const problems: Reason[] = [];
  for (const [name, entry] of Object.entries(listed)) {
    const named = serverName.safeParse(name);
    const read = fileServer.safeParse(entry);
    const error = named.error ?? read.error;
    if (error) problems.push(unfit(path, leftOut(name, misfits(error, named.success ? entry : name))));
    else if (read.data && !read.data.disabled) servers[name] = read.data;
  }
  return { servers, problems };
}

/** A server of each name: the person's own first, then those of a trusted folder. */
export function loadServers(
  own: OwnServers | undefined,
  settingsFile: string,
  project: { root: string; servers: ServersFile | undefined } | undefined,
  env: NodeJS.ProcessEnv,
): { servers: ServerDefinition[]; warnings: Reason[] } {
  const servers = new Map<string, ServerDefinition>();
  const warnings: Reason[] = [];
  const add = (name: string, make: () => ServerDefinition) => {
    try {
      if (servers.has(name)) throw new SageError("config-invalid", reason("server-taken", { server: name }));
      servers.set(name, make());
    } catch (error) {
      warnings.push(leftOut(name, (error as { reason: Reason }).reason));
    }
  };
  for (const [name, entry] of Object.entries(own ?? {}))
    if (!entry.disabled) add(name, () => definitionOf(name, entry, { source: "user", file: settingsFile }, env));
  const { servers: file, root = "" } = project ?? {};
  for (const [name, { reads: _, ...entry }] of Object.entries(file?.servers ?? {}))
    add(name, () => ({
      ...definitionOf(name, entry, { source: "project", file: file?.path ?? "" }, env),
      changed: () => changedScript(file?.scripts ?? [], root),
    }));
  return { servers: [...servers.values()], warnings };
}

function definitionOf(
  name: string,
  entry: Entry,
  place: Pick<ServerDefinition, "source" | "file">,
  env: NodeJS.ProcessEnv,
): ServerDefinition {
  const {
    command,
    args = [],
    url = "",
    headers = {},
    oauth,
    timeoutMs = CALL_MS,
    startupTimeoutMs = STARTUP_MS,
  } = entry;
  const given = (text: string) => expanded(text, env);
  const each = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, given(text)]));
  return {
    name,
    ...place,
    timeoutMs,
    startupTimeoutMs,
    reads: entry.reads ?? [],
    transport:
      command === undefined
        ? { type: "http", url: given(url), headers: each(headers), ...(oauth && { oauth: known(oauth) }) }
        : {
            type: "stdio",
            command: programPath(given(command), place.file),
            args: args.map(given),
            env: each(entry.env ?? {}),
          },
  };
}

/** A relative path means a file beside the settings, and never one of that name in the repository that somebody works in. */
function programPath(command: string, file: string): string {
  const own = command.startsWith("~/") ? join(homedir(), command.slice(2)) : command;
  return own.includes("/") ? resolve(dirname(file), own) : own;
}

export function commandLine({
  command = "",
  args = [],
}: {
  command?: string | undefined;
  args?: readonly string[] | undefined;
}): string {
  return [command, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

/** `${NAME}` and `${NAME:-otherwise}`. A variable that is missing is an error: half a secret is none. */
function expanded(text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, otherwise?: string) => {
    const value = env[variable] || otherwise;
    if (value === undefined) throw new SageError("config-invalid", reason("server-variable", { variable }));
    return value;
  });
}

function oneWay(
  { command, url, type }: { command?: string | undefined; url?: string | undefined; type?: string | undefined },
  context: Parameters<Parameters<z.Schema["superRefine"]>[0]>[1],
): void {
  const because = (why: Reason) => context.addIssue({ code: "custom", params: { why } });
  if ((command === undefined) === (url === undefined)) because(reason("server-form", {}));
  const fits = command === undefined ? ["http", "streamable-http"] : ["stdio"];
  if (type !== undefined && !fits.includes(type)) because(reason("server-kind", { kind: type }));
}

function known<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function leftOut(server: string, problem: Reason): Reason {
  return reason("server-left-out", { server, problem });
}

function unfit(path: string, problem: Reason): Reason {
  return reason("in-file", { path, problem });
}
