import { sageHome, type Home } from "./home.ts";
import { withKeys } from "./keys.ts";
import { readPolicy, underPolicy } from "../settings/policy.ts";
import { readSettings, type Settings } from "../settings/settings.ts";

/** The person's own part of every run: where state lives, their settings, and the environment with the keys they kept. */
export type Installation = { home: Home; settings: Settings; env: NodeJS.ProcessEnv };

/** Read once per run: later changes take effect in the next one. */
export function readInstallation(env: NodeJS.ProcessEnv): Installation {
  const home = sageHome(env);
  return { home, settings: underPolicy(readSettings(home.settings), readPolicy()), env: withKeys(env, home) };
}
