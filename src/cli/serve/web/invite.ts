import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LINK_MS, type Devices } from "../../../surfaces/web/index.ts";
import type { ServeTexts } from "../../../texts/serve/serve.ts";
import { accountName } from "../../host/account.ts";

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
  const isKept = env["JOURNAL_STREAM"] !== undefined; // below systemd, everything that is printed
  if (isKept && !opens) return;
  const { key } = await devices.invite({ owner: `account:${accountName()}` });
  const link = linkTo(origins.find(isHere) ?? origins[0] ?? "", key);
  const show = () => isKept || console.log(t.page(link, LINK_MS / 60_000));
  if (opens) open(link, { folder, env, show });
  else show();
}

/** In the fragment, which no server, proxy or referrer sees. */
export function linkTo(origin: string, key: string): string {
  return `${origin}/#k=${key}`;
}

export function isHere(origin: string): boolean {
  return origin.startsWith("http://127.0.0.1:");
}

/**
 * Other users of this machine see the arguments of every program, so the link is in a file, for as long as a browser needs. Where none
 * can be opened, as over ssh, the link is shown.
 */
function open(link: string, { folder, env, show }: Pick<Inviting, "folder" | "env"> & { show: () => void }): void {
  const file = join(folder, "open.html");
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">\n`, { mode: 0o600 });
  const program = { darwin: "open", win32: "explorer" }[process.platform as string] ?? "xdg-open";
  const child = spawn(program, [file], { stdio: "ignore", detached: true, env });
  child.on("error", show);
  child.on("exit", (code) => code === 0 || program === "explorer" || show()); // that one never ends with 0
  child.unref();
  const remove = () => {
    child.removeAllListeners("exit"); // of a browser that somebody closes
    rmSync(file, { force: true });
  };
  setTimeout(remove, OPENING_MS).unref();
  process.on("exit", remove);
}
