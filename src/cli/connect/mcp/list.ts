import { printJson, exitCodes } from "../../process/stdout.ts";
import { type Config, loadConfig } from "../../../config/config.ts";
import { sageHome } from "../../../config/home/home.ts";
import { withKeys } from "../../../config/home/keys.ts";
import { commandLine } from "../../../config/settings/servers.ts";
import { openServers } from "../../../host/assembly/servers.ts";
import type { ServerDefinition } from "../../../mcp/server.ts";
import { oneLine } from "../../../base/visible.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { Lang } from "../../../texts/language.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { noWords, readFlags, readFlagsOnly } from "../../process/flags.ts";

/** Servers by file, those of a folder that is not trusted too. */
export async function list(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("mcp list", args, { json: { type: "boolean" } });
  const { servers, trust, warnings } = configHere();
  const counting = servers.map(({ name, source, file, transport }) => ({
    name,
    source,
    file,
    counts: true,
    ...shown(transport),
  }));
  const waiting = Object.entries(trust.servers?.servers ?? {}).flatMap(([name, { command, args: given, url }]) =>
    trust.state === "trusted" || trust.state === "nothing-to-trust"
      ? []
      : [
          {
            name,
            source: "project",
            file: trust.servers?.path ?? "",
            counts: false,
            how: command === undefined ? (url ?? "") : commandLine({ command, args: given }),
          },
        ],
  );
  const all = [...counting, ...waiting];
  if (values.json) return printJson(all);
  const texts = mcpTexts(lang);
  if (all.length === 0) console.log(texts.none);
  for (const { name, file, how, counts } of all)
    console.log(`${oneLine(name)}  ${oneLine(how)}  (${oneLine(file)}${counts ? "" : `; ${texts.untrusted}`})`);
  for (const why of warnings) console.error(`sage: ${oneLine(sentence(why, lang))}`);
  return exitCodes.success;
}

export async function test(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, { json: { type: "boolean" } });
  const [name, ...more] = positionals;
  noWords("mcp test", more, t);
  const config = configHere();
  if (name !== undefined) serverNamed(config, name);
  const texts = mcpTexts(lang);
  const tried = await tryServers(config, lang, name);
  if (values.json) printJson(tried);
  else if (tried.length === 0) console.log(texts.none);
  else
    for (const { server, tools, prompts, ms, problem } of tried) {
      if (problem !== undefined) console.log(`✗ ${texts.fails(server, oneLine(problem))}`);
      else
        console.log(
          `✓ ${texts.works(server, tools.length, prompts, ms)}\n${tools.map((tool) => `  ${tool}\n`).join("")}`.trimEnd(),
        );
    }
  return tried.every(({ problem }) => problem === undefined) ? exitCodes.success : exitCodes.failure;
}

type Tried = { server: string; tools: string[]; prompts: number; ms: number; problem?: string };

/** Each server that counts here, or the one of this name: what it offers, or why it cannot be had. */
export async function tryServers(config: Config, lang: Lang, name?: string): Promise<Tried[]> {
  const home = sageHome(process.env);
  const chosen = { ...config, servers: config.servers.filter((server) => name === undefined || server.name === name) };
  const servers = await openServers(chosen, { home, env: withKeys(process.env, home) });
  try {
    return await Promise.all(
      servers.list.map(async (line) => {
        const from = performance.now();
        await line.start().catch(() => {});
        const { problem, definition } = line;
        return {
          server: definition.name,
          tools: problem ? [] : line.tools().map((tool) => tool.name),
          prompts: problem ? 0 : line.prompts.length,
          ms: Math.round(performance.now() - from),
          ...(problem && { problem: sentence(problem, lang) }),
        };
      }),
    );
  } finally {
    await servers.close();
  }
}

export function serverNamed({ servers }: Config, name: string): ServerDefinition {
  const found = servers.find((server) => server.name === name);
  if (!found) throw new SageError("config-invalid", reason("server-missing", { server: name }));
  return found;
}

export function configHere(): Config {
  const home = sageHome(process.env);
  return loadConfig(home, process.cwd(), withKeys(process.env, home));
}

/** Without variables and headers: they may hold secrets. */
function shown(transport: ServerDefinition["transport"]): { how: string } {
  return { how: transport.type === "http" ? transport.url : commandLine(transport) };
}
