import { readdirSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";
import type { ProtectedKind } from "../../protocol/reasons/permission.ts";

/**
 * Kind of protected path, or undefined: a write there is asked about whatever rule or mode allows it. Files that do not
 * exist are protected as well, because creating one is the attack. Names that belong below the home directory count at
 * any depth, because people keep those very files in repositories and link them.
 */
export function protectedKind(path: string, sageHome?: string): ProtectedKind | undefined {
  const folded = fold(path);
  if (sageHome !== undefined && `${folded}/`.startsWith(`${fold(sageHome)}/`)) return "sage-state";
  const names = folded.split("/");
  for (const [at, name] of names.entries()) {
    const found = index.get(name)?.find(({ rest }) => rest.every((part, n) => fits(part, names[at + 1 + n])));
    if (found) return found.kind;
    const begun = beginnings.find(({ text }) => name.startsWith(text));
    if (begun) return begun.kind;
  }
  return undefined;
}

/** A folder at this path would make names below it protected ones: `.github` is none, and `.github/instructions` is. */
export function mayBeginProtected(path: string): boolean {
  const names = fold(path).split("/");
  return names.some((name, at) => {
    const further = names.slice(at + 1);
    return index
      .get(name)
      ?.some(({ rest }) => further.length < rest.length && further.every((next, n) => fits(rest[n] ?? "", next)));
  });
}

/** Kinds of files that hold secrets: reading them is not free where the workspace is the whole home folder. */
export function isPrivate(path: string, sageHome?: string): boolean {
  const kind = protectedKind(path, sageHome);
  return kind === "credentials" || kind === "sage-state" || kind === "sage-settings";
}

/** Private files and folders as they lie below the home folder. */
export function privatePlaces(): readonly string[] {
  return privateNames;
}

/** A folder below the home folder in which protected files have their place, or one with such files right in it. */
export function holdsProtected(folder: string, home: string): boolean {
  const within = fold(folder);
  const base = fold(home);
  const isPlace = Object.values(places).some((all) => all.some((place) => `${base}${place}`.startsWith(`${within}/`)));
  return isPlace || namesIn(folder).some((name) => protectedKind(`${folder}/${name}`) !== undefined);
}

function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? []; // a file, or not to be looked into
}

/** Like `protectedKind`, for a path inside a folder that is removed: only kinds that cannot be restored, or that guard. */
export function lostKind(path: string, sageHome?: string): ProtectedKind | undefined {
  const kind = protectedKind(path, sageHome);
  return kind !== undefined && irreplaceable.has(kind) ? kind : undefined;
}

/** A place that ends in a slash is a whole name, a file or a directory; any other is how a name begins. */
function placeList(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((place) => place !== "")
    .map((place) => `/${place}`);
}

const places: Record<Exclude<ProtectedKind, "sage-state">, string[]> = {
  "sage-settings": placeList(".sage/ .mcp.json/ .cache/sage/"),
  instructions: placeList(`
    agents.md/ agent.md/ agents.override.md/ claude.md/ claude.local.md/ gemini.md/ qwen.md/ crush.md/ warp.md/
    .cursorrules/ .windsurfrules/ .clinerules .roorules .goosehints/ .rules/ .kilocode/ .junie/
    .github/copilot-instructions.md/ .github/instructions/ .github/prompts/ .github/chatmodes/ .github/agents/
  `),
  "agent-settings": placeList(`
    .claude/ .claude.json/ .codex/ .cursor/ .gemini/ .windsurf/ .cline/ .roo/ .continue/ .aider .opencode/ opencode.json
    .amp/ .kiro/ .qwen/ .trae/ .augment/ .goose/ .crush/ crush.json/ .crush.json/ .zencoder/ .openhands/
    .config/opencode/ .config/goose/ .config/crush/ .config/amp/ .config/github-copilot/ library/application\u0020support/claude/
  `).map((place) => place.replace("\\u0020", " ")),
  credentials: placeList(`
    .ssh/ .gnupg/ .aws/ .azure/ .config/gcloud/ .config/gh/ .config/hub/ .config/glab-cli/ .netrc/ _netrc/ .npmrc/ .pypirc/
    .git-credentials/ .docker/config.json/ .config/containers/auth.json/ .kube/ .vault-token/ .terraformrc/ .terraform.d/
    .bash_history/ .zsh_history/ .node_repl_history/ .python_history/ .psql_history/ .mysql_history/
    .pgpass/ .my.cnf/ .mylogin.cnf/ .s3cfg/ .boto/ .config/rclone/ .password-store/ .config/op/ .config/sops/ .age/
    .cargo/credentials .gem/credentials/ .bundle/config/ .composer/auth.json/ .config/composer/auth.json/ .nuget/nuget/
    .m2/settings .gradle/gradle.properties/ .hex/ .condarc/ .databrickscfg/ .heroku/ .config/doctl/ .fly/ .config/netlify/
    .vercel/auth.json/ .config/configstore/ .wrangler/ .config/stripe/ .config/helm/ .local/share/keyrings/
    library/keychains/ .mozilla/ .config/google-chrome/ .config/chromium/ .electrum/ .bitcoin/ .ethereum/
  `),
  git: placeList(`
    .git/ git~1/ .gitmodules/ .gitconfig/ .gitattributes/ .config/git/ .husky/ .githooks/ .lefthook lefthook.y .lefthook-local
    .pre-commit-config.yaml/ .pre-commit-config.yml/ etc/gitconfig/ .hg/hgrc .hgrc/ .config/hg/ .jj/repo/config .config/jj/ .sl/config
  `),
  "shell-start": placeList(`
    .bashrc/ .bash_profile/ .bash_login/ .bash_logout/ .bash_aliases/ .bash_completion/ .profile/ .login/ .cshrc/ .tcshrc/
    .kshrc/ .mkshrc/ .zshrc/ .zshrc.local/ .zprofile/ .zshenv/ .zlogin/ .zlogout/ .zsh/ .oh-my-zsh/ .config/zsh/ .envrc/
    .direnvrc/ .config/direnv/ .config/fish/ .config/nushell/ .config/powershell/ .config/starship.toml/ .inputrc/
    .xinitrc/ .xprofile/ .xsession .xsessionrc/ .pam_environment/ .config/environment.d/ .tmux.conf/ .config/tmux/ .screenrc/
    etc/profile etc/bash.bashrc/ etc/bashrc/ etc/zsh etc/environment/ etc/fish/
  `),
  "system-start": placeList(`
    etc/cron var/spool/cron var/spool/at/ .config/systemd/user/ .local/share/systemd/user/ library/launchagents/
    library/launchdaemons/ etc/systemd/ .config/autostart/ .local/share/applications/ .local/share/dbus-1/ etc/ld.so.preload/
    etc/ld.so.conf etc/rc.local/ etc/init.d/ etc/sudoers etc/passwd/ etc/shadow/ etc/pam.d/ etc/udev/ etc/hosts/
  `),
  "tool-settings": placeList(`
    .vscode/ .vscode-server/ .idea/ .devcontainer/ .devcontainer.json/ .fleet/ .zed/ .config/zed/ .helix/ .config/helix/
    .config/code/user/ .nvim/ .nvimrc/ .nvim.lua/ .exrc/ .vimrc/ .gvimrc/ .vim/ .config/nvim/ .emacs/ .emacs.d/
    .config/emacs/ .dir-locals.el/ .nanorc/ .cargo/config .yarnrc .pnpmrc/ .ripgreprc/ .curlrc/ .wgetrc/ .psqlrc/ .sqliterc/
    .irbrc/ .pryrc/ .pythonrc .gdbinit/ .lldbinit/ .rprofile/ .ghci/ .iex.exs/ .config/pip/ .pip/ pip.conf/ .pdbrc/
    .gradle/init .mailcap/ .lesskey/ .lessfilter/ .ackrc/ .config/bat/ .mise. mise.toml/ mise.local.toml/ .mise/ mise/config.toml/ .config/mise .tool-versions/ .asdfrc/
    .local/bin/ .bazelrc/ .config/ghostty/ .config/kitty/ .config/alacritty/ .wezterm.lua/ .hammerspoon/
  `),
};

/** Places by their first name; and single names of which only the beginning counts. */
const index = new Map<string, { kind: ProtectedKind; rest: readonly string[] }[]>();
const beginnings: { kind: ProtectedKind; text: string }[] = [];
for (const [kind, list] of Object.entries(places) as [ProtectedKind, string[]][])
  for (const place of list) {
    const isWhole = place.endsWith("/");
    const names = place.split("/").filter((name) => name !== "");
    const [first = "", ...rest] = names;
    if (!isWhole && rest.length === 0) beginnings.push({ kind, text: first });
    else
      index.set(first, [
        ...(index.get(first) ?? []),
        { kind, rest: isWhole ? rest : [...rest.slice(0, -1), `${rest.at(-1)}*`] },
      ]);
  }

function fits(expected: string, name: string | undefined): boolean {
  if (!expected.endsWith("*")) return expected === name;
  return name?.startsWith(expected.slice(0, -1)) === true;
}

const privateNames = [...places.credentials, "/.sage/"]
  .filter((place) => place.endsWith("/"))
  .map((place) => place.slice(1, -1));

const irreplaceable: ReadonlySet<ProtectedKind> = new Set(["sage-state", "sage-settings", "credentials", "git"]);

/** Case, composition, invisible characters, trailing dots and stream names do not tell files apart on every disk. */
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
