import { realpathSync } from "node:fs";
import type { GuestsSettings } from "../../config/settings/model-settings.ts";
import { guestTrust } from "../../config/trust/guest-trust.ts";
import type { Home } from "../../config/home/home.ts";
import type { GuestDriver } from "../../guest/driver.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { driverOf, guestProgram, guestsDir } from "./guest-programs.ts";

/** Tells `sage hook`, if the person has installed it in the agent's settings, that Sage already gets these requests. */
const GUEST_MARK = "SAGE_GUEST";
/** Sage asks for it before it answers, trusts or changes rules: no command of a guest does that for the person. */
const INSIDE_MARK = "SAGE_INSIDE";

/** An agent that runs sessions in Sage's place, and the environment that it is started with. */
export type GuestParts = { driver: GuestDriver; env: NodeJS.ProcessEnv };

/** The agent of a name. Refused in a folder whose settings it would follow and nobody trusted. */
export async function guestOf(
  name: string,
  { cwd, home, env, settings = {} }: { cwd: string; home: Home; env: NodeJS.ProcessEnv; settings?: GuestsSettings },
): Promise<GuestParts> {
  const program = guestProgram(name, settings);
  const { state, root, files } = guestTrust(home.trust, realpathSync(cwd));
  if (state !== "trusted" && state !== "nothing-to-trust")
    throw new SageError(
      "config-invalid",
      reason("guest-untrusted", { agent: name, folder: root, files: files.map(({ path }) => path) }),
    );
  const driver = await driverOf(program, { dir: guestsDir(home), env });
  return { driver, env: { ...guestEnv(env), ...program.env, [GUEST_MARK]: "1", [INSIDE_MARK]: home.dir } };
}

/** The person's own, without Sage's variables: an agent needs its own login, and none of ours. */
function guestEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(SAGE|FEISHU)_/.test(name)));
}
