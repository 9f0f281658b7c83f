import { execFile } from "node:child_process";
import { findProgram, type GuestProgram } from "./guest-programs.ts";

/** A listed program on this machine; without a path it is not installed. */
export type InstalledAgent = {
  name: string;
  protocol: GuestProgram["protocol"];
  path?: string;
  version?: string;
  keeps: "exact" | "carried";
};

/** Claude Code keeps a call that waits from this version on. */
export const leastClaude = "2.1.89";
const ASKING_MS = 15_000;

export function installedAgents(programs: readonly GuestProgram[], env: NodeJS.ProcessEnv): Promise<InstalledAgent[]> {
  return Promise.all(
    programs.map(async ({ name, protocol, command }) => {
      const path = findProgram(command, env);
      const version = path === undefined ? undefined : await versionOf(path, env);
      return {
        name,
        protocol,
        ...(path !== undefined && { path }),
        ...(version !== undefined && { version }),
        keeps: keepsExactly(protocol, version) ? "exact" : "carried",
      };
    }),
  );
}

function keepsExactly(protocol: GuestProgram["protocol"], version: string | undefined): boolean {
  if (protocol === "claude") return version === undefined || !isOlder(version, leastClaude);
  return protocol === "codex";
}

export function isOlder(version: string, least: string): boolean {
  const [left, right] = [version, least].map((each) => each.split(".").map(Number));
  for (const [n, number] of (right ?? []).entries()) if (left?.[n] !== number) return (left?.[n] ?? 0) < number;
  return false;
}

/** Programs tell their version in a line of their own making; the number in it is taken. */
function versionOf(path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(path, ["--version"], { env, timeout: ASKING_MS, encoding: "utf8" }, (_, stdout) =>
      resolve(/\d+\.\d+\.\d+/.exec(stdout)?.[0]),
    ).stdin?.end();
  });
}
