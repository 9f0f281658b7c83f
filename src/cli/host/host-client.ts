import type { Home } from "../../config/home/home.ts";
import type { Settings } from "../../config/settings/settings.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Config } from "../../config/config.ts";
import type { Named } from "../../protocol/host/about.ts";
import type { Host, SessionSummary } from "../../protocol/host/host.ts";
import type { Sender } from "../../protocol/sender.ts";

export type HostClient = {
  host: Host & { close(): Promise<void> };
  by: string;
  /** The surface that the host records, where it is the host that says so. */
  surface?: string;
  /** Names the host on the command line: `--host box `, or nothing. */
  flag: string;
  /** Sage's folder on this machine, and the person's settings in it. */
  home: Home;
  settings: Settings;
  /** The folder of this machine from which paths that the person types start. */
  cwd: string;
  /** Loads the model of a session that somebody is about to continue, where that happens here. */
  ready(session: string): Promise<unknown>;
  look(session: string): Promise<SessionScreen>;
  /** Set where sessions work on this machine. */
  here?: { config: Config; store: Store };
};

/** A session as a screen shows it around its conversation. */
export type SessionScreen = {
  /** Its folder, on the machine of the host. */
  cwd: string;
  model: string;
  /** Tokens that fit into a prompt of a model. */
  window(model: string): number;
  /** How commands are confined; absent where they are not. */
  sandbox?: "contain" | "autoAllow";
  /** Custom commands and skills that can be typed by name. */
  invocable: readonly Named[];
  /** The same from MCP servers, once they are known. */
  prompts(): Promise<readonly Named[]>;
};

export function senderAt({ by, surface }: Pick<HostClient, "by" | "surface">, own: string): Sender {
  return { by, surface: surface ?? own };
}

/** Undefined where the host does not tell. */
export async function findSession(host: Host, session: string): Promise<SessionSummary | undefined> {
  const reply = await host.send({ type: "sessions", session });
  return reply.ok ? reply.sessions[0] : undefined;
}
