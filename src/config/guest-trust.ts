import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import { LARGEST_STATE, readSmallFile } from "./small-file.ts";
import { changeTrusted, mayBeTrusted, projectRoot, readTrusted } from "./trust.ts";
import { reason } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";

/** Files of a folder by which other agents start programs or change what they ask about. An agent that is driven follows them unasked. */
const own = [
  ...[".claude/settings.json", ".claude/settings.local.json", ".mcp.json"],
  ...[".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json"],
  ...["opencode.json", "opencode.jsonc", ".opencode/opencode.json"],
];

export type GuestTrust = {
  root: string;
  state: "nothing-to-trust" | "trusted" | "untrusted" | "changed";
  files: { path: string; text: string }[];
};

/** May other agents follow a folder's own settings? Only while those are, to the letter, what the person trusted. */
export function guestTrust(trustFile: string, cwd: string): GuestTrust {
  const root = projectRoot(cwd);
  const files = foldersTo(root, cwd).flatMap((folder) =>
    own.flatMap((name) => {
      const text = readSmallFile(join(folder, name), LARGEST_STATE);
      return text === undefined ? [] : [{ path: join(folder, name), text }];
    }),
  );
  const before = readTrusted(trustFile)[entry(root)];
  if (files.length === 0) return { root, state: "nothing-to-trust", files };
  return { root, files, state: !before ? "untrusted" : before.digest === digestOf(files) ? "trusted" : "changed" };
}

export function trustGuests(trustFile: string, { root, files }: GuestTrust): void {
  if (!mayBeTrusted(root)) throw errorBecause("config-invalid", reason("folder-too-wide", { folder: root }));
  const texts = Object.fromEntries(files.map(({ path, text }) => [path, text]));
  changeTrusted(trustFile, (all) => ({
    ...all,
    [entry(root)]: { digest: digestOf(files), at: Date.now(), files: texts },
  }));
}

/** Beside the folder's entry for Sage's own settings: each is trusted for itself. */
export const entry = (root: string): string => `agents:${root}`;

function digestOf(files: GuestTrust["files"]): string {
  return hash("sha256", JSON.stringify(files), "base64url");
}

function foldersTo(root: string, cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (folder === root || folder === dirname(folder)) return folders.reverse();
  }
}
