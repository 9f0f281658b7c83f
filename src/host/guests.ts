import { realpathSync } from "node:fs";
import type { GuestsSettings } from "../config/guests.ts";
import { guestTrust } from "../config/guest-trust.ts";
import type { Home } from "../config/home.ts";
import type { GuestDriver } from "../guest/driver.ts";
import { reason } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

/** An agent that runs sessions in Sage's place, and the environment that it is started with. */
export type GuestParts = { driver: GuestDriver; env: NodeJS.ProcessEnv };

/** The agent of a name. Refused in a folder whose settings it would follow and nobody trusted. */
export async function guestOf(
  name: string,
  { cwd, home, env, settings = {} }: { cwd: string; home: Home; env: NodeJS.ProcessEnv; settings?: GuestsSettings },
): Promise<GuestParts> {
  const { env: added = {} } = settings[name] ?? {};
  const { state, root, files } = guestTrust(home.trust, realpathSync(cwd));
  if (state !== "trusted" && state !== "nothing-to-trust")
    throw errorBecause(
      "config-invalid",
      reason("guest-untrusted", { agent: name, folder: root, files: files.map(({ path }) => path) }),
    );
  return { driver: await driverOf(name, settings), env: { ...guestEnv(env), ...added } };
}

async function driverOf(name: string, settings: GuestsSettings): Promise<GuestDriver> {
  const { command, args = [], mode } = settings[name] ?? {};
  if (name === "claude") {
    const { claudeDriver } = await import("../guest/claude.ts");
    return claudeDriver({ command: command ?? "claude", args, mode: mode ?? "default" });
  }
  throw errorBecause("config-invalid", reason("guest-unknown", { agent: name, known: knownGuests(settings) }));
}

export function knownGuests(settings: GuestsSettings = {}): string[] {
  return [...new Set(["claude", ...Object.keys(settings)])];
}

/** The person's own, without Sage's variables: an agent needs its own login, and none of ours. */
export function guestEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(SAGE|FEISHU)_/.test(name)));
}
