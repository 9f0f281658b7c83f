import type { ProtectedKind } from "../../protocol/reasons/permission.ts";
import { baseName } from "../text/tokens.ts";
import { asksConfig, subcommandAt } from "./git/git-words.ts";

/** The protected place that a command writes without naming it: scheduled jobs, hooks, settings, stored logins. */
export function placeWritten(words: readonly string[]): { place: string; kind: ProtectedKind } | undefined {
  const program = baseName(words[0] ?? "");
  const args = words.slice(1);
  if (program === "git") return gitPlace(args);
  const rows = table.get(program);
  if (rows === undefined) return undefined;
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const row = rows.find(({ when, unless }) => {
    if (unless !== undefined && args.some((arg) => unless.test(arg))) return false;
    const text = operands.join(" ");
    return when === undefined || when.test(text) || args.some((arg) => /^--?\w/.test(arg) && when.test(arg));
  });
  return row && { place: row.place, kind: row.kind };
}

type Row = { when?: RegExp; unless?: RegExp; place: string; kind: ProtectedKind };

function gitPlace(args: readonly string[]): { place: string; kind: ProtectedKind } | undefined {
  const at = subcommandAt(args);
  const rest = args.slice(at + 1);
  switch (args[at]) {
    case "config":
      return asksConfig(rest) || setsHarmless(rest) ? undefined : { place: "git config", kind: "git" };
    case "lfs":
      return /^(install|uninstall|update)$/.test(rest[0] ?? "") ? { place: ".git/hooks", kind: "git" } : undefined;
    case "flow":
      return rest[0] === "init" ? { place: ".git/config", kind: "git" } : undefined;
    case "credential":
    case "credential-store":
    case "credential-cache":
      return { place: "git credential", kind: "credentials" };
    default:
      return undefined;
  }
}

/** Sets one key that names neither a program, nor a file, nor an address. */
function setsHarmless(args: readonly string[]): boolean {
  const options = args.filter((arg) => arg.startsWith("-"));
  const [first = "", ...more] = args.filter((arg) => !arg.startsWith("-"));
  const [key = ""] = first === "set" ? more : [first];
  return options.every((arg) => /^--(global|local|add|bool|int|type=[a-z-]*)$/.test(arg)) && harmlessKey.test(key);
}

const harmlessKey =
  /^(user\.(name|email)|color\.[\w.]+|advice\.\w+|pull\.(rebase|ff)|push\.(default|autosetupremote)|init\.defaultbranch|core\.(autocrlf|eol|filemode|ignorecase|quotepath|longpaths|precomposeunicode|safecrlf)|fetch\.prune|rebase\.(autostash|autosquash)|merge\.(conflictstyle|ff)|diff\.(algorithm|colormoved)|log\.date|status\.\w+|rerere\.enabled)$/i;

const table = new Map<string, Row[]>([
  ["crontab", [{ unless: /^-l$/, place: "crontab", kind: "system-start" }]],
  ["at", [{ unless: /^-[lqcV]$/, place: "at", kind: "system-start" }]],
  ["batch", [{ place: "at", kind: "system-start" }]],
  [
    "systemctl",
    [
      {
        when: /\b(enable|link|edit|mask|set-property|import-environment|set-environment)\b/,
        place: "systemd",
        kind: "system-start",
      },
    ],
  ],
  ["systemd-run", [{ place: "systemd", kind: "system-start" }]],
  ["launchctl", [{ when: /^(load|bootstrap|enable|submit|setenv)\b/, place: "launchd", kind: "system-start" }]],
  ["loginctl", [{ when: /^enable-linger\b/, place: "systemd", kind: "system-start" }]],
  ["update-rc.d", [{ place: "/etc/init.d", kind: "system-start" }]],
  ["visudo", [{ place: "/etc/sudoers", kind: "system-start" }]],
  ...["chsh", "usermod", "useradd", "passwd", "chpasswd"].map((name): [string, Row[]] => [
    name,
    [{ place: "/etc/passwd", kind: "system-start" }],
  ]),
  ["ssh-keygen", [{ unless: /^-[lFHBEyQ]$/, place: "~/.ssh", kind: "credentials" }]],
  ["ssh-copy-id", [{ place: "~/.ssh", kind: "credentials" }]],
  [
    "gpg",
    [
      {
        when: /^--(import|gen-key|generate-key|full-generate-key|quick-gen|delete|edit-key|recv|receive)/,
        place: "~/.gnupg",
        kind: "credentials",
      },
    ],
  ],
  ...["npm", "pnpm", "yarn", "bun"].map((name): [string, Row[]] => [
    name,
    [
      { when: /^(config|c) (set|delete|rm|edit|fix)\b|^set\b/, place: ".npmrc", kind: "credentials" },
      {
        when: /^(login|adduser|add-user|logout|token (create|revoke)|npm login)\b/,
        place: ".npmrc",
        kind: "credentials",
      },
    ],
  ]),
  ...["pip", "pip3"].map((name): [string, Row[]] => [
    name,
    [{ when: /^config (set|unset|edit)\b/, place: "pip.conf", kind: "tool-settings" }],
  ]),
  [
    "gh",
    [
      {
        when: /^(auth (login|logout|refresh|setup-git|switch)|config set|alias (set|import|delete)|extension|ssh-key|gpg-key)\b/,
        place: "~/.config/gh",
        kind: "credentials",
      },
    ],
  ],
  ["glab", [{ when: /^(auth|config set|alias set)\b/, place: "~/.config/glab-cli", kind: "credentials" }]],
  ["aws", [{ when: /^(configure(?! (list|get))|sso (login|logout))\b/, place: "~/.aws", kind: "credentials" }]],
  [
    "gcloud",
    [
      {
        when: /^(auth (login|activate|revoke|application-default)|config set|init)\b/,
        place: "~/.config/gcloud",
        kind: "credentials",
      },
    ],
  ],
  ["az", [{ when: /^(login|logout|configure|config set|account set)\b/, place: "~/.azure", kind: "credentials" }]],
  [
    "docker",
    [{ when: /^(login|logout|context (create|use|update|import))\b/, place: "~/.docker", kind: "credentials" }],
  ],
  ["podman", [{ when: /^(login|logout)\b/, place: "~/.config/containers", kind: "credentials" }]],
  ["kubectl", [{ when: /^config (set|use|delete|rename|unset)/, place: "~/.kube/config", kind: "credentials" }]],
  [
    "helm",
    [
      {
        when: /^(repo (add|update|remove)|registry login|plugin install)\b/,
        place: "~/.config/helm",
        kind: "tool-settings",
      },
    ],
  ],
  ["terraform", [{ when: /^(login|logout)\b/, place: "~/.terraform.d", kind: "credentials" }]],
  ["cargo", [{ when: /^(login|logout|owner)\b/, place: "~/.cargo/credentials", kind: "credentials" }]],
  ["go", [{ when: /^-w$/, place: "~/.config/go/env", kind: "tool-settings" }]],
  ["bundle", [{ when: /^config (set|unset)\b/, place: ".bundle/config", kind: "credentials" }]],
  ["poetry", [{ when: /^config \S+ \S+/, place: "~/.config/pypoetry", kind: "tool-settings" }]],
  ["composer", [{ when: /^config \S+ \S+/, place: "~/.config/composer", kind: "tool-settings" }]],
  ["husky", [{ place: ".husky", kind: "git" }]],
  ["pre-commit", [{ when: /^(install|uninstall|init-templatedir|autoupdate)\b/, place: ".git/hooks", kind: "git" }]],
  ["lefthook", [{ when: /^(install|uninstall|add)\b/, place: ".git/hooks", kind: "git" }]],
  ["direnv", [{ when: /^(allow|edit|permit|grant)\b/, place: ".envrc", kind: "shell-start" }]],
  ["mise", [{ when: /^(trust|use|settings|config set)\b/, place: ".mise.toml", kind: "tool-settings" }]],
  ["conda", [{ when: /^(init|config)\b/, place: ".condarc", kind: "shell-start" }]],
  ["code", [{ when: /^--(install|uninstall)-extension/, place: ".vscode", kind: "tool-settings" }]],
  ...["claude", "codex", "gemini", "cursor-agent", "opencode"].map((name): [string, Row[]] => [
    name,
    [{ when: /^(mcp|config|plugin|install|update|login|logout)\b/, place: `.${name}`, kind: "agent-settings" }],
  ]),
  ["dconf", [{ when: /^(write|load|reset|update)\b/, place: "dconf", kind: "tool-settings" }]],
  ["defaults", [{ when: /^(write|delete|import)\b/, place: "defaults", kind: "tool-settings" }]],
  ["gsettings", [{ when: /^(set|reset)\b/, place: "gsettings", kind: "tool-settings" }]],
]);
