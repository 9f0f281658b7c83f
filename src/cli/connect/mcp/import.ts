import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { succeed, exitCodes } from "../../process/stdout.ts";
import { commandLine, readServers } from "../../../config/settings/servers.ts";
import { readSmallFile } from "../../../config/files/small-file.ts";
import { projectRoot } from "../../../config/trust/trust.ts";
import { oneLine } from "../../../base/visible.ts";
import { reason, type Reason, SageError } from "../../../protocol/reasons/reason.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { agrees, checkApprover } from "../../host/journal.ts";
import { readFlags } from "../../process/flags.ts";
import { save, serversIn } from "./change.ts";

const MAX_FILE_BYTES = 64 * 1024 * 1024; // Claude Code keeps more than settings there

type Found = { name: string; entry: ReturnType<typeof readServers>["servers"][string]; from: string };

/** Takes over the servers of Claude Code, or of a file in its form, into the person's own settings. Shown first, whole. */
export async function importServers(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, {
    yes: { type: "boolean" },
    "dry-run": { type: "boolean" },
  });
  const texts = mcpTexts(lang);
  const [file] = positionals;
  const path = file === undefined ? join(homedir(), ".claude.json") : resolve(file);
  const { found, problems } = serversOf(path);
  for (const why of problems) console.error(`sage: ${oneLine(sentence(why, lang))}`);
  const own = serversIn("user");
  const fresh = found.filter(({ name }) => !Object.hasOwn(own, name));
  for (const { name } of found.filter((server) => !fresh.includes(server))) console.log(texts.skipped(oneLine(name)));
  if (fresh.length === 0) return succeed(texts.nothingToImport);
  for (const { name, entry, from } of fresh) {
    const named = Object.keys(entry.env ?? entry.headers ?? {});
    const how = entry.command === undefined ? (entry.url ?? "") : commandLine(entry);
    console.log(`${texts.wouldImport(oneLine(name), oneLine(from))}: ${oneLine([how, ...named].join("  "))}`);
  }
  if (values["dry-run"]) return exitCodes.success;
  if (!values.yes && !(await agrees(texts.importAsk))) {
    console.log(texts.notImported);
    return exitCodes.needsPerson;
  }
  checkApprover();
  for (const { name, entry } of fresh) {
    const { type, command, args: given, env, url, headers } = entry;
    const kept = { type: type === "streamable-http" ? "http" : type, command, args: given, env, url, headers };
    const whole = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
    console.log(texts.added(oneLine(name), oneLine(save(name, whole, "user"))));
  }
  return exitCodes.success;
}

/** Servers that Claude Code has for every folder, and those that it keeps for this one. */
function serversOf(path: string): { found: Found[]; problems: Reason[] } {
  const text = readSmallFile(path, MAX_FILE_BYTES);
  if (text === undefined) return { found: [], problems: [] };
  let whole: { mcpServers?: unknown; projects?: Record<string, { mcpServers?: unknown } | undefined> };
  try {
    whole = JSON.parse(text) as typeof whole;
  } catch (error) {
    throw new SageError("config-invalid", reason("file-not-json", { path, problem: thrownText(error) }));
  }
  const here = [process.cwd(), projectRoot(process.cwd())];
  const lists = [whole.mcpServers, ...[...new Set(here)].map((folder) => whole.projects?.[folder]?.mcpServers)];
  const found = new Map<string, Found>();
  const problems: Reason[] = [];
  for (const list of lists.filter((each) => each !== undefined)) {
    const read = readServers(path, JSON.stringify({ mcpServers: list }));
    problems.push(...read.problems);
    for (const [name, entry] of Object.entries(read.servers)) found.set(name, { name, entry, from: path });
  }
  return { found: [...found.values()], problems };
}
