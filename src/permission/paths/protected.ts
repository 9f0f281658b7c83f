/**
 * Why a write to this absolute path must be asked about whatever rule or mode allows it, or undefined. Files that do
 * not exist are protected as well: creating one is the attack. What belongs below the home directory counts at any
 * depth, because people keep those very files in repositories and link them.
 */
export function protectedReason(path: string, sageHome?: string): string | undefined {
  const folded = `/${fold(path)}/`;
  if (sageHome !== undefined && folded.startsWith(`/${fold(sageHome)}/`)) return "Sage's own state";
  return Object.keys(places).find((reason) => places[reason]?.some((place) => folded.includes(place)));
}

/** As `protectedReason`, of what lies somewhere in a folder that is removed: only what cannot be had again, or guards. */
export function lossReason(path: string, sageHome?: string): string | undefined {
  const reason = protectedReason(path, sageHome);
  return reason !== undefined && guarding.has(reason) ? reason : undefined;
}

/** A place that ends in a slash is a whole name, a file or a directory; any other is how a name begins. */
const places: Record<string, string[]> = {
  "Sage's own settings": ["/.sage/", "/.mcp.json/"],
  "instructions that agents follow": [
    ...[
      "/agents.md/",
      "/claude.md/",
      "/gemini.md/",
      "/.cursorrules/",
      "/.windsurfrules/",
      "/.github/copilot-instructions.md/",
    ],
  ],
  "settings of another agent": ["/.claude/", "/.codex/", "/.cursor/", "/.gemini/"],
  "keys and credentials": ["/.ssh/", "/.gnupg/", "/.aws/", "/.config/gh/", "/.netrc/", "/.npmrc/", "/.pypirc/"],
  "git runs programs named here": [
    ...["/.git/", "/git~1/", "/.gitmodules/", "/.gitconfig/", "/.config/git/", "/.husky/", "/.pre-commit-config.yaml/"],
  ],
  "run by the shell when it starts": [
    ...["/.bashrc/", "/.bash_profile/", "/.bash_login/", "/.bash_logout/", "/.bash_aliases/", "/.profile/"],
    ...["/.zshrc/", "/.zprofile/", "/.zshenv/", "/.zlogin/", "/.zlogout/", "/.envrc/", "/.config/fish/"],
    ...["/etc/profile", "/etc/bash.bashrc/", "/etc/bashrc/", "/etc/zsh"],
  ],
  "started by the system": [
    ...["/etc/cron", "/var/spool/cron", "/.config/systemd/user/", "/.local/share/systemd/user/"],
    ...["/library/launchagents/", "/library/launchdaemons/", "/etc/systemd/"],
    ...["/.config/autostart/", "/etc/ld.so.preload/"],
  ],
  "configures programs that tools run": [
    ...["/.vscode/", "/.idea/", "/.devcontainer/", "/.cargo/config", "/.yarnrc", "/.ripgreprc/"],
  ],
};

const guarding = new Set([
  "Sage's own state",
  "Sage's own settings",
  "keys and credentials",
  "git runs programs named here",
]);

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
