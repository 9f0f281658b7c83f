import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LINK_MS, type Devices } from "../../../surfaces/web/index.ts";
import type { ServeTexts } from "../../../texts/serve.ts";
import { accountName } from "../../account.ts";

const OPENING_MS = 30_000;

export type Inviting = {
  devices: Devices;
  origins: readonly string[];
  /** Folder of the person's own, which nobody else can read. */
  folder: string;
  /** Opens the page in the browser. */
  opens: boolean;
  env: NodeJS.ProcessEnv;
  t: ServeTexts;
};

/** Lets the person who started the daemon in: by a link that works once. It goes to them, and into no log. */
export async function inviteSelf({ devices, origins, folder, opens, env, t }: Inviting): Promise<void> {
  // Below systemd everything that is printed is kept.
  if (env["JOURNAL_STREAM"] !== undefined && !opens) return;
  const { key } = await devices.invite({ owner: `account:${accountName()}` });
  const link = linkTo(origins.find(isHere) ?? origins[0] ?? "", key);
  if (opens) open(link, folder);
  else console.log(t.page(link, LINK_MS / 60_000));
}

/** In the fragment, which no server, proxy or referrer sees. */
export function linkTo(origin: string, key: string): string {
  return `${origin}/#k=${key}`;
}

export function isHere(origin: string): boolean {
  return origin.startsWith("http://127.0.0.1:");
}

/** Other users of this machine see the arguments of every program, so the link is in a file, for as long as a browser needs. */
function open(link: string, folder: string): void {
  const file = join(folder, "open.html");
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">\n`, { mode: 0o600 });
  const program = { darwin: "open", win32: "explorer" }[process.platform as string] ?? "xdg-open";
  const child = spawn(program, [file], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // no browser here
  child.unref();
  const remove = () => rmSync(file, { force: true });
  setTimeout(remove, OPENING_MS).unref();
  process.on("exit", remove);
}
