import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Settings } from "../../../config/settings/settings.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { reason } from "../../../protocol/reasons/reason.ts";

/** The address of the page; `undefined` where anybody on the way could read along. */
export type Place = {
  tls: { cert: string; key: string } | undefined;
  /** Addresses of the page, the one for people who are elsewhere first. */
  origins: ((port: number) => string[]) | undefined;
};

const here = ["127.0.0.1", "localhost", "[::1]"];
const everywhere = ["0.0.0.0", "::"];

/** On this machine always; elsewhere only by https, ours or that of a proxy before us. */
export function placeOf(host: string, { tls, web }: NonNullable<Settings["serve"]>, folder: string): Place {
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
