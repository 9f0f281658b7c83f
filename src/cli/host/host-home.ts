import { createAnchors } from "../../config/home/anchors.ts";
import type { Home } from "../../config/home/home.ts";
import type { HostHome } from "../../host/commands/parts.ts";

export function hostHome(home: Home, env: NodeJS.ProcessEnv): HostHome {
  const { settings, output } = home;
  return { settings, output, dir: env["SAGE_HOME"], anchors: () => createAnchors(home, env) };
}
