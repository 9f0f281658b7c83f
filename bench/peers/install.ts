// Others beside Sage, each installed from npm into a folder of its own that is kept for the next time: nothing of them is in this
// repository. One that cannot be installed or driven says so in its row.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Row } from "../measure.ts";

const kept = join(tmpdir(), "sage-bench-peers");

export type Peer = {
  name: string;
  /** What is installed; the first is the one that is meant. */
  packages: readonly string[];
};
/** `modules`: where its packages lie. */
type Installed = Peer & { modules: string; main: string; version: string };
type Missing = Peer & { problem: string };

/** Without their scripts: no code of theirs runs before it is measured. */
export const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

export async function install(peer: Peer): Promise<Installed | Missing> {
  const folder = join(kept, peer.name.replaceAll(/\W+/g, "-").toLowerCase());
  const modules = join(folder, "node_modules");
  const main = peer.packages[0]!.replace(/(?<=.)@.*/, ""); // without its version
  const manifest = join(modules, main, "package.json");
  try {
    if (!existsSync(manifest)) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
      await promisify(execFile)("npm", ["install", ...quietly, ...peer.packages], { cwd: folder, timeout: 300_000 });
    }
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    return { ...peer, modules, main, version };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    const told = (error as { stderr?: string }).stderr ?? (error as Error).message;
    return { ...peer, problem: `cannot be installed: ${firstLine(told)}` };
  }
}

export function firstLine(text: string): string {
  return (text.split("\n").find((line) => /\w/.test(line.replace(/npm error( code)?/, ""))) ?? "").slice(0, 90);
}

/** A row for somebody who is not measured, with the reason. */
export function unmeasured({ name, problem }: { name: string; problem: string }): Row {
  return { figure: `beside ${name}`, unit: "", sage: Number.NaN, note: problem };
}

/** Bytes of a folder in MB. */
export function sizeOf(folder: string): number {
  const bytes = (path: string): number => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isDirectory()) return found?.size ?? 0;
    return readdirSync(path).reduce((sum, name) => sum + bytes(join(path, name)), 0);
  };
  return bytes(folder) / 1_000_000;
}
