import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../permission/paths/canonical.ts";
import { protectedKind } from "../../permission/paths/protected.ts";
import type { ConfineMode } from "../../protocol/confine.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";
import type { SandboxSettings } from "./sandbox-schema.ts";

/** How commands are confined in a folder. */
export type Sandbox = {
  mode: ConfineMode;
  writable: readonly string[];
  readable: readonly string[];
  git: "read" | "write";
  outside: readonly string[];
};

/** Commands run as ever. */
export const noSandbox: Sandbox = { mode: "off", writable: [], readable: [], git: "read", outside: [] };

type Layer = { settings: { sandbox?: SandboxSettings | undefined }; destination: RuleDestination };

/** The person's own settings; a folder's own may only switch confinement on. Root asks as ever: much belongs to it in there, too. */
export function sandboxOf(
  layers: readonly Layer[],
  { root, state }: { root: string; state: string },
): { sandbox: Sandbox; warnings: Reason[] } {
  const own = layers.find(({ destination }) => destination === "user")?.settings.sandbox ?? {};
  const isRaised = layers.some(
    ({ settings, destination }) => destination !== "user" && settings.sandbox?.mode === "contain",
  );
  const wanted: ConfineMode = own.mode ?? "off";
  const isRoot = wanted === "autoAllow" && process.getuid?.() === 0;
  const mode: ConfineMode = (wanted === "off" && isRaised) || isRoot ? "contain" : wanted;
  return {
    sandbox: {
      mode,
      writable: (own.writable ?? []).map((path) => checked(path, { root, state, writes: true })),
      readable: (own.readable ?? []).map((path) => checked(path, { root, state, writes: false })),
      git: own.git ?? "read",
      outside: own.outside ?? [],
    },
    warnings: isRoot ? [reason("confine-root", {})] : [],
  };
}

/** Hosts and hidden files are rules: so they show up wherever rules do, and hold for tools, too. */
export function sandboxRules({ settings: { sandbox }, destination: source }: Layer): Rule[] {
  const hosts = source === "user" ? (sandbox?.allowedDomains ?? []) : [];
  return [
    ...hosts.map((host): Rule => ({ behavior: "allow", text: `Network(domain:${host})`, source })),
    ...(sandbox?.hidden ?? []).map((path): Rule => ({ behavior: "deny", text: `Read(${path})`, source })),
  ];
}

function checked(given: string, { root, state, writes }: { root: string; state: string; writes: boolean }): string {
  const named = given === "~" || given.startsWith("~/") ? join(homedir(), given.slice(1)) : given;
  const refuse = (problem: "home" | "above" | "state" | "protected" | "relative") =>
    new SageError("config-invalid", reason("sandbox-path", { path: given, problem }));
  if (!isAbsolute(named)) throw refuse("relative");
  const path = attempt(() => realpathSync(named)) ?? named;
  if (isInside(path, homedir())) throw refuse("home");
  if (path !== root && isInside(path, root)) throw refuse("above");
  if (isInside(path, state) || isInside(state, path)) throw refuse("state");
  if (writes && protectedKind(path, state) !== undefined) throw refuse("protected");
  return path;
}
