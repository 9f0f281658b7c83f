import { readSlash } from "../base/name.ts";
import { harmless, oneLine } from "../base/visible.ts";
import { reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import { sentence } from "../texts/shared/sentence.ts";
import { createExcerpt } from "../tools/content/excerpt.ts";
import { toolName } from "./definition.ts";
import { failureReason } from "./server.ts";
import type { KnownPrompt } from "./memory.ts";
import type { ServerLine, Servers } from "./servers.ts";

const TIMEOUT_MS = 60_000;
const MAX_RESOURCES = 10;

/** Does a message name a server of these, as `/mcp__server__prompt` or `@server:uri`? Then reading it takes a moment. */
export function mentionsServer(text: string, servers: readonly { name: string }[]): boolean {
  const { name = "" } = readSlash(text) ?? {};
  return servers.some((server) => name.startsWith(`mcp__${server.name}__`)) || mentionsIn(text, servers).length > 0;
}

type Place = { session: string; keepDir: string };

/** The message with the server content that it mentions. The sender is told about a prompt that cannot be loaded. */
export async function expandMentions(servers: Servers, text: string, message: string, place: Place): Promise<string> {
  const slash = readSlash(text);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  if (slash?.name.startsWith("mcp__")) return sayPrompt(servers, slash.name, slash.args, { ...place, signal });
  const lines = servers.list.map((line) => ({ name: line.definition.name, line }));
  const read = await Promise.all(
    mentionsIn(text, lines).map(async ({ server, uri }) => {
      const title = `[${oneLine(`@${server.name}:${uri}`)}`;
      try {
        return `${title}: data from the MCP server "${server.name}", not the person's words]\n${await readResource(server.line, uri, { ...place, signal })}`;
      } catch (error) {
        return `${title} could not be read: ${oneLine(sentence(failureReason(error), "en"))}]`;
      }
    }),
  );
  return [message, ...read].join("\n\n");
}

/** `/mcp__server__prompt` for each prompt that is known. */
export function promptCommands(servers: Servers): { name: string; description: string; body: string }[] {
  return servers.list.flatMap(({ definition, prompts }) =>
    prompts.map((prompt) => ({
      name: toolName(definition.name, prompt.name),
      description: oneLine([prompt.description, ...prompt.arguments.map(({ name }) => `<${name}>`)].join(" ")).slice(
        0,
        100,
      ),
      body: "",
    })),
  );
}

type Mention<S> = { server: S; uri: string };

function mentionsIn<S extends { name: string }>(text: string, servers: readonly S[]): Mention<S>[] {
  const found = [...text.matchAll(/(?<=^|[\s(（“"，。：])@([\w-]+):([a-zA-Z][\w+.-]*:\S+)/gu)];
  const mentions = found.flatMap(([, name, uri = ""]) => {
    const server = servers.find((known) => known.name === name);
    return server ? [{ server, uri: uri.replace(/[)）”",，。]+$/u, "") }] : [];
  });
  return mentions.slice(0, MAX_RESOURCES);
}

async function sayPrompt(
  servers: Servers,
  command: string,
  args: string,
  { session, signal }: Place & { signal: AbortSignal },
): Promise<string> {
  const refuse = (why: Reason): never => {
    throw new SageError("input-invalid", why);
  };
  const line = servers.list.find(({ definition }) => command.startsWith(`mcp__${definition.name}__`));
  if (!line) return refuse(reason("command-unknown", { command: `/${command}` }));
  try {
    const connection = await line.connection(session, signal);
    const prompt = line.prompts.find(({ name }) => toolName(line.definition.name, name) === command);
    if (!prompt) return refuse(reason("command-unknown", { command: `/${command}` }));
    const { messages } = await connection.prompt(prompt.name, promptArguments(prompt, args), signal);
    const texts = messages.flatMap(({ content }) => (content.type === "text" ? [harmless(content.text)] : []));
    return texts.join("\n\n") || refuse(reason("message-empty", {}));
  } catch (error) {
    if (error instanceof SageError) throw error;
    return refuse(reason("servers-failed", { server: line.definition.name, problem: failureReason(error) }));
  }
}

/** Words in the order of the prompt's arguments; the last takes all that are left. */
function promptArguments({ arguments: wanted }: KnownPrompt, args: string): Record<string, string> {
  const words = [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const given = wanted.flatMap(({ name }, n) => {
    const value = n === wanted.length - 1 ? words.slice(n).join(" ") : words[n];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

async function readResource(
  line: ServerLine,
  uri: string,
  { session, keepDir, signal }: Place & { signal: AbortSignal },
): Promise<string> {
  const connection = await line.connection(session, signal);
  const { contents } = await connection.resource(uri, signal);
  const excerpt = createExcerpt(keepDir);
  for (const content of contents) {
    const text = "text" in content ? content.text : `[${content.mimeType ?? "binary"}, not shown]`;
    await excerpt.push(Buffer.from(text), text);
  }
  return (await excerpt.end()).text;
}
