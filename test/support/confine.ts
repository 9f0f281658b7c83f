import { spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { probe } from "../../src/confine/probe.ts";
import type { Blocked, Confined } from "../../src/protocol/confine.ts";
import { problemText } from "../../src/texts/reasons/confine.ts";

/** Why commands cannot be confined on this machine; false where they can. With SAGE_TEST_CONFINE=1 that fails the run. */
export async function cannotConfine(): Promise<string | false> {
  const state = mkdtempSync(join(tmpdir(), "sage-probe-"));
  try {
    const probed = await probe(state, homedir());
    if (probed.ok) return false;
    const why = `commands cannot be confined here: ${problemText(probed, "en")}`;
    if (process.env["SAGE_TEST_CONFINE"] === "1") throw new Error(why);
    return why;
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

/** An ordinary user: this one, or where the tests run as root one that nobody else is. */
export const ordinary = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : undefined;

/** A workspace, a home and Sage's state side by side, which belong to the ordinary user, or to the one who runs the tests. */
export function confinedPlace({
  mine = false,
  within = tmpdir(),
}: { mine?: boolean; within?: string | undefined } = {}): {
  dir: string;
  root: string;
  home: string;
  state: string;
} & Disposable {
  const dir = realpathSync(mkdtempSync(join(within, "sage-confine-")));
  const [root, home, state] = ["work", "home", "home/.sage"].map((name) => join(dir, name)) as [string, string, string];
  for (const folder of [root, home, state]) mkdirSync(folder, { mode: 0o700 });
  if (!mine) own(dir, root, home, state);
  return { dir, root, home, state, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

export function own(...paths: string[]): void {
  if (ordinary) for (const path of paths) chownSync(path, ordinary.uid, ordinary.gid);
}

export type Inside = {
  root: string;
  home: string;
  state: string;
  commands: { line: string; as?: Partial<Confined>; allowed?: string[] }[];
};
export type Seen = { said: string; code: number | string; blocked: Blocked[]; failed?: string };

/** Runs commands confined, one after the other, in a process of the ordinary user. */
export async function runInside(inside: Inside): Promise<Seen[]> {
  const child = spawn(process.execPath, [new URL("../confine/inside.ts", import.meta.url).pathname], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: inside.root,
    env: { PATH: process.env["PATH"], HOME: inside.home, SAGE_HOME: inside.state, CANARY_OF_PARENT: "parent-canary" },
    ...ordinary,
  });
  child.stdin.end(JSON.stringify(inside));
  return JSON.parse(await text(child.stdout)) as Seen[];
}
