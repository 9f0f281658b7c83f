import { sageHome } from "../../config/home/home.ts";
import { withKeys } from "../../config/home/keys.ts";
import { createRedaction, type Redaction } from "../../config/secrets/redact.ts";

/** Takes out what the environment calls secret, and the keys that Sage keeps for the person. */
export function ownRedaction(env: NodeJS.ProcessEnv): Redaction {
  return createRedaction(withKeys(env, sageHome(env)));
}
