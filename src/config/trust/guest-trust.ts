import { hash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { MAX_STATE_BYTES, readSmallFile } from "../files/small-file.ts";
import { changeTrusted, mayBeTrusted, projectRoot, readTrusted } from "./trust.ts";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";

/** Files of a folder by which other agents start programs or change what they ask about. An agent that is driven follows them unasked. */
const own = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".mcp.json",
  ".codex/config.toml",
  ".codex/hooks.json",
  ".gemini/settings.json",
  ".qwen/settings.json",
  "opencode.json",
  "opencode.jsonc",
  ".opencode/opencode.json",
  ".opencode/opencode.jsonc",
  ".opencode/package.json",
];

/** The same for folders: plugins and scripts are run, and the head of a subagent, a skill or a command may name hooks, tools and modes. */
const ownFolders = [
  ".claude/agents",
  ".claude/commands",
  ".claude/hooks",
  ".claude/skills",
  ".codex/hooks",
  ".codex/rules",
  ".codex/skills",
  ".gemini/extensions",
  ".gemini/hooks",
  ".qwen/extensions",
  ...["agent", "command", "plugin", "tool", "skill"].flatMap((what) => [`.opencode/${what}`, `.opencode/${what}s`]),
];

const MAX_FILES = 1_000;
const DEEPEST = 10;

export type GuestTrust = {
  root: string;
  state: "nothing-to-trust" | "trusted" | "untrusted" | "changed";
  files: { path: string; text: string }[];
};

/** May other agents follow a folder's own settings? Only while those are, to the letter, what the person trusted. */
export function guestTrust(trustFile: string, cwd: string): GuestTrust {
  const root = projectRoot(cwd);
  const files = foldersTo(root, cwd).flatMap((folder) =>
    [...own.map((name) => join(folder, name)), ...ownFolders.flatMap((name) => filesBelow(join(folder, name)))].flatMap(
      (path) => {
        const text = readSmallFile(path, MAX_STATE_BYTES);
        return text === undefined ? [] : [{ path, text }];
      },
    ),
  );
  const before = readTrusted(trustFile)[entry(root)];
  if (files.length === 0) return { root, state: "nothing-to-trust", files };
  return { root, files, state: !before ? "untrusted" : before.digest === filesDigest(files) ? "trusted" : "changed" };
}

export function trustGuests(trustFile: string, { root, files }: GuestTrust): void {
  if (!mayBeTrusted(root)) throw new SageError("config-invalid", reason("folder-too-wide", { folder: root }));
  const texts = Object.fromEntries(files.map(({ path, text }) => [path, text]));
  changeTrusted(trustFile, (all) => ({
    ...all,
    [entry(root)]: { digest: filesDigest(files), at: Date.now(), files: texts },
  }));
}

/** Beside the folder's entry for Sage's own settings: each is trusted for itself. */
const entry = (root: string): string => `agents:${root}`;

function filesDigest(files: GuestTrust["files"]): string {
  return hash("sha256", JSON.stringify(files), "base64url");
}

/** In a fixed order, links followed as an agent would. A folder that nobody could look through is not passed over. */
function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const walk = (path: string, depth: number): void => {
    const kind = statSync(path, { throwIfNoEntry: false });
    if (kind === undefined) return;
    if (!kind.isDirectory()) found.push(path);
    else for (const name of readdirSync(path).sort()) walk(join(path, name), depth + 1);
    if (found.length > MAX_FILES || depth > DEEPEST)
      throw new SageError("config-invalid", reason("file-unreadable", { path: folder, problem: "too many files" }));
  };
  try {
    walk(folder, 0);
  } catch (error) {
    if (error instanceof SageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTDIR")
      throw new SageError("config-invalid", reason("file-unreadable", { path: folder, problem: messageOf(error) }));
  }
  return found;
}

function foldersTo(root: string, cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (folder === root || folder === dirname(folder)) return folders.reverse();
  }
}
