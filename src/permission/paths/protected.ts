import type { ProtectedKind } from "../../protocol/index.ts";

/**
 * Kind of protected path, or undefined: a write there is asked about whatever rule or mode allows it. Files that do not
 * exist are protected as well, because creating one is the attack. Names that belong below the home directory count at
 * any depth, because people keep those very files in repositories and link them.
 */
export function protectedKind(path: string, sageHome?: string): ProtectedKind | undefined {
  const folded = `/${fold(path)}/`;
  if (sageHome !== undefined && folded.startsWith(`/${fold(sageHome)}/`)) return "sage-state";
  return kinds.find((kind) => places[kind].some((place) => folded.includes(place)));
}

/** As `protectedKind`, for a path inside a folder that is removed: only kinds that cannot be restored, or that guard. */
export function lostKind(path: string, sageHome?: string): ProtectedKind | undefined {
  const kind = protectedKind(path, sageHome);
  return kind !== undefined && irreplaceable.has(kind) ? kind : undefined;
}

/** A place that ends in a slash is a whole name, a file or a directory; any other is how a name begins. */
const places: Record<Exclude<ProtectedKind, "sage-state">, string[]> = {
  "sage-settings": ["/.sage/", "/.mcp.json/"],
  instructions: [
    ...[
      "/agents.md/",
      "/claude.md/",
      "/gemini.md/",
      "/.cursorrules/",
      "/.windsurfrules/",
      "/.github/copilot-instructions.md/",
    ],
  ],
  "agent-settings": ["/.claude/", "/.codex/", "/.cursor/", "/.gemini/"],
  credentials: ["/.ssh/", "/.gnupg/", "/.aws/", "/.config/gh/", "/.netrc/", "/.npmrc/", "/.pypirc/"],
  git: [
    ...["/.git/", "/git~1/", "/.gitmodules/", "/.gitconfig/", "/.config/git/", "/.husky/", "/.pre-commit-config.yaml/"],
  ],
  "shell-start": [
    ...["/.bashrc/", "/.bash_profile/", "/.bash_login/", "/.bash_logout/", "/.bash_aliases/", "/.profile/"],
    ...["/.zshrc/", "/.zprofile/", "/.zshenv/", "/.zlogin/", "/.zlogout/", "/.envrc/", "/.config/fish/"],
    ...["/etc/profile", "/etc/bash.bashrc/", "/etc/bashrc/", "/etc/zsh"],
  ],
  "system-start": [
    ...["/etc/cron", "/var/spool/cron", "/.config/systemd/user/", "/.local/share/systemd/user/"],
    ...["/library/launchagents/", "/library/launchdaemons/", "/etc/systemd/"],
    ...["/.config/autostart/", "/etc/ld.so.preload/"],
  ],
  "tool-settings": [...["/.vscode/", "/.idea/", "/.devcontainer/", "/.cargo/config", "/.yarnrc", "/.ripgreprc/"]],
};

const kinds = Object.keys(places) as (keyof typeof places)[];

const irreplaceable: ReadonlySet<ProtectedKind> = new Set(["sage-state", "sage-settings", "credentials", "git"]);

/**
 * Case, composition, invisible characters, trailing dots and the name of a stream do not tell files apart on every disk, so
 * a name that differs from a protected one only in these is protected too.
 */
function fold(path: string): string {
  const plain = /^[\x20-\x7e]*$/.test(path)
    ? path.toLowerCase()
    : path
        .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
        .normalize("NFC")
        .toUpperCase()
        .toLowerCase();
  return plain
    .split(/[/\\]/)
    .map((name) => name.replace(/:.*$/, "").replace(/[. ]+$/, ""))
    .filter((name) => name !== "")
    .join("/");
}
