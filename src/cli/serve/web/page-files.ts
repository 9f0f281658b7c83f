import { thrownText } from "../../../texts/shared/error.ts";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { PageFiles } from "../../../surfaces/web/index.ts";
import type { Settings } from "../../../config/settings/settings.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";

const moduleFolder = import.meta.dirname;
const isSource = import.meta.url.endsWith(".ts");
const root = join(moduleFolder, "../../../..");

/** The page as it was built with the program. From source it is built now, which takes a second; undefined where it cannot be. */
export function readPage(env: NodeJS.ProcessEnv): PageFiles | undefined {
  const folder = env["SAGE_PAGE"] ?? (isSource ? built() : join(moduleFolder, "web"));
  const index = join(folder, "index.html");
  if (!existsSync(index)) return undefined;
  const assets = join(folder, "assets");
  const names = existsSync(assets) ? readdirSync(assets) : [];
  return new Map([
    ["index.html", readFileSync(index)],
    ...names.map((name) => [name, readFileSync(join(assets, name))] as const),
  ]);
}

/** Rooms that the page is made of. */
const made = ["surfaces/web/page", "texts", "view", "protocol", "remote"].map((room) => join(root, "src", room));

function built(): string {
  const folder = join(root, "dist/web");
  const build = join(root, "scripts/page.ts");
  const changed = Math.max(...[build, ...made].map(newest));
  if (changed > newest(join(folder, "index.html")))
    spawnSync(process.execPath, [join(root, "scripts/run.mjs"), "scripts/page.ts"], { cwd: root });
  return folder;
}

/** When a file, or one of a folder's, was last written. */
function newest(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** The address of the page; `undefined` where anybody on the way could read along. */
type PageAddress = {
  tls: { cert: string; key: string } | undefined;
  /** Addresses of the page, the one for people who are elsewhere first. */
  origins: ((port: number) => string[]) | undefined;
};

const here = ["127.0.0.1", "localhost", "[::1]"];
const everywhere = ["0.0.0.0", "::"];

/** On this machine always; elsewhere only by https, ours or that of a proxy before us. */
export function pageAddress(host: string, { tls, web }: NonNullable<Settings["serve"]>, folder: string): PageAddress {
  const certificate = tls && { cert: read(resolve(folder, tls.cert)), key: read(resolve(folder, tls.key)) };
  const named = (web?.origins ?? []).map((origin) => new URL(origin).origin);
  const scheme = certificate ? "https" : "http";
  const hostname = host.includes(":") ? `[${host}]` : host;
  if (!isLoopback(host) && !certificate && !named.some((origin) => origin.startsWith("https:")))
    return { tls: undefined, origins: undefined };
  return {
    tls: certificate,
    origins: (port) => {
      const names = [...(certificate && !everywhere.includes(host) && !isLoopback(host) ? [hostname] : []), ...here];
      return [...new Set([...named, ...names.map((name) => new URL(`${scheme}://${name}:${port}`).origin)])];
    },
  };
}

export function isLoopback(host: string): boolean {
  return ["127.0.0.1", "localhost", "::1"].includes(host);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new SageError("config-invalid", reason("file-unusable", { path, problem: thrownText(error) }));
  }
}
