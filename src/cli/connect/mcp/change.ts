import { existsSync } from "node:fs";
import { join } from "node:path";
import { succeed } from "../../process/stdout.ts";
import { sageHome } from "../../../config/home/home.ts";
import { changeFile, lockIn } from "../../../config/files/locked-file.ts";
import { serversSchema } from "../../../config/settings/servers.ts";
import { changeSettings, readSettings } from "../../../config/settings/settings.ts";
import { readSmallFile } from "../../../config/files/small-file.ts";
import { mayBeTrusted, projectTrust, trust } from "../../../config/trust/trust.ts";
import { ServerFailure } from "../../../mcp/server.ts";
import { oneLine } from "../../../base/visible.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { misfits } from "../../../protocol/reasons/misfit.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { checkApprover } from "../../host/journal.ts";
import { readFlags, usage } from "../../process/flags.ts";

type Entry = Record<string, unknown>;
type McpFile = { mcpServers?: Record<string, Entry> } & Record<string, unknown>;

const options = {
  env: { type: "string", multiple: true },
  header: { type: "string", multiple: true },
  to: { type: "string" },
} as const;

/** Into the person's own settings, or into the folder's `.mcp.json`. */
export async function add(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const texts = mcpTexts(lang);
  const [name, what, ...rest] = positionals;
  if (name === undefined || what === undefined) throw usage(texts.addHow);
  checkApprover();
  const place = readPlace(values.to, t);
  const pairs = (given: readonly string[] | undefined, between: RegExp) =>
    Object.fromEntries(
      (given ?? []).map((pair) => {
        const [, key, value] = between.exec(pair) ?? [];
        if (key === undefined || value === undefined) throw usage(texts.addHow);
        return [key, value];
      }),
    );
  const isAddress = /^https?:\/\//.test(what) && rest.length === 0;
  const env = pairs(values.env, /^(\w+)=([^]*)$/);
  const headers = pairs(values.header, /^([\w-]+):\s*([^]*)$/);
  const entry: Entry = isAddress
    ? { type: "http", url: what, ...(values.header && { headers }) }
    : { command: what, ...(rest.length > 0 && { args: rest }), ...(values.env && { env }) };
  if (isAddress) await checkAddress(what);
  return succeed(texts.added(oneLine(name), oneLine(save(name, entry, place))));
}

export async function remove(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, { to: options.to });
  const texts = mcpTexts(lang);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw usage(texts.removeHow);
  checkApprover();
  const places = values.to === undefined ? (["user", "project"] as const) : [readPlace(values.to, t)];
  const found = places.find((place) => Object.hasOwn(serversIn(place), name));
  if (found === undefined) throw new SageError("config-invalid", reason("server-missing", { server: name }));
  const file = change(found, (servers) =>
    Object.fromEntries(Object.entries(servers).filter(([other]) => other !== name)),
  );
  return succeed(texts.removed(oneLine(name), oneLine(file)));
}

/** Reject an address that could never be connected to before it is saved. An address with a variable is checked later. */
async function checkAddress(url: string): Promise<void> {
  if (url.includes("${")) return;
  const { secureAddress } = await import("../../../mcp/http.ts");
  try {
    secureAddress({ url });
  } catch (error) {
    throw error instanceof ServerFailure ? new SageError("config-invalid", error.reason) : error;
  }
}

export function save(name: string, entry: Entry, place: "user" | "project"): string {
  const checked = serversSchema.safeParse({ [name]: entry });
  if (!checked.success) throw new SageError("config-invalid", misfits(checked.error, { [name]: entry }));
  return change(place, (servers, path) => {
    if (Object.hasOwn(servers, name))
      throw new SageError("config-invalid", reason("server-there", { server: name, path }));
    return { ...servers, [name]: entry };
  });
}

export function serversIn(place: "user" | "project"): Record<string, unknown> {
  const home = sageHome(process.env);
  if (place === "user") return readSettings(home.settings).mcpServers ?? {};
  const path = folderFile(projectTrust(home.trust, process.cwd()).root);
  return existsSync(path) ? (parsed(path, readSmallFile(path) ?? "").mcpServers ?? {}) : {};
}

function change(
  place: "user" | "project",
  edit: (servers: Record<string, Entry>, path: string) => Record<string, Entry>,
): string {
  const home = sageHome(process.env);
  if (place === "user") {
    changeSettings(home.settings, (settings) => ({
      ...settings,
      mcpServers: edit(settings.mcpServers ?? {}, home.settings),
    }));
    return home.settings;
  }
  const before = projectTrust(home.trust, process.cwd());
  const path = folderFile(before.root);
  changeFile(
    path,
    (text) => {
      const file = parsed(path, text);
      return `${JSON.stringify({ ...file, mcpServers: edit(file.mcpServers ?? {}, path) }, undefined, 2)}\n`;
    },
    lockIn(home.dir),
  );
  // A person who changes a trusted file through Sage has seen it: do not ask for trust again.
  const wasOpen = before.state === "trusted" || before.state === "nothing-to-trust";
  const now = projectTrust(home.trust, process.cwd());
  if (wasOpen && mayBeTrusted(now.root) && now.state !== "nothing-to-trust") trust(home.trust, now);
  return path;
}

function folderFile(root: string): string {
  return join(root, ".mcp.json");
}

/** A file that cannot be read as JSON is somebody's work in progress: never overwritten. */
function parsed(path: string, text: string): McpFile {
  try {
    return text.trim() === "" ? {} : (JSON.parse(text) as McpFile);
  } catch (error) {
    throw new SageError("config-invalid", reason("file-not-json", { path, problem: thrownText(error) }));
  }
}

function readPlace(
  given: string | undefined,
  t: { expected(flag: string, what: string, given: string): string },
): "user" | "project" {
  if (given === undefined || given === "user") return "user";
  if (given === "project") return "project";
  throw usage(t.expected("--to", "user, project", given));
}
