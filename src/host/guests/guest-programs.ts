import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { GuestsSettings } from "../../config/settings/model-settings.ts";
import type { Home } from "../../config/home/home.ts";
import type { GuestDriver } from "../../guest/driver.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";

/** A program that can run turns in the place of Sage's loop, and how it is spoken to. */
export type GuestProgram = {
  name: string;
  protocol: "claude" | "codex" | "acp";
  command: string;
  args: readonly string[];
  mode?: string;
  env?: Readonly<Record<string, string>>;
};

const known: Record<string, Omit<GuestProgram, "name">> = {
  claude: { protocol: "claude", command: "claude", args: [] },
  codex: { protocol: "codex", command: "codex", args: [] },
  gemini: { protocol: "acp", command: "gemini", args: ["--acp"], mode: "default" },
  qwen: { protocol: "acp", command: "qwen", args: ["--acp"], mode: "default" },
  opencode: { protocol: "acp", command: "opencode", args: ["acp"] },
};

/** Every agent that can be named: those that Sage knows, and those of the settings, which may also change the former. */
export function guestPrograms(settings: GuestsSettings = {}): GuestProgram[] {
  return [...new Set([...Object.keys(known), ...Object.keys(settings)])].map((name) => {
    const { command, args, mode, env } = settings[name] ?? {};
    return {
      name,
      ...(known[name] ?? { protocol: "acp", command: name, args: [] }),
      ...(command !== undefined && { command }),
      ...(args && { args }),
      ...(mode !== undefined && { mode }),
      ...(env && { env }),
    };
  });
}

export function guestProgram(name: string, settings?: GuestsSettings): GuestProgram {
  const programs = guestPrograms(settings);
  const found = programs.find((program) => program.name === name);
  if (found) return found;
  throw new SageError(
    "config-invalid",
    reason("guest-unknown", { agent: name, known: programs.map((program) => program.name) }),
  );
}

/** Sage's folder for what outlives a session of a guest. */
export function guestsDir({ dir }: Pick<Home, "dir">): string {
  return join(dir, "guests");
}

/** `dir`: Sage's folder for what outlives a session, such as Codex's app-server. */
export async function driverOf(
  program: GuestProgram,
  { dir, env }: { dir: string; env: NodeJS.ProcessEnv },
): Promise<GuestDriver> {
  const { name, args, mode } = program;
  const command = findProgram(program.command, env) ?? program.command;
  const more = mode === undefined ? {} : { mode };
  switch (program.protocol) {
    case "codex":
      return (await import("../../guest/codex/codex.ts")).codexDriver({ name, command, args, dir, ...more });
    case "acp":
      return (await import("../../guest/acp/acp.ts")).acpDriver({ name, command, args, ...more });
    case "claude":
      return (await import("../../guest/claude/claude.ts")).claudeDriver({ name, command, args, ...more });
    default:
      return program.protocol satisfies never;
  }
}

/** Path of a program. Relative folders in PATH are skipped: a project could put a program there. */
export function findProgram(command: string, env: NodeJS.ProcessEnv): string | undefined {
  if (command.includes("/")) return isAbsolute(command) && isProgram(command) ? command : undefined;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, command)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
