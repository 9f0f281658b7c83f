/** Top folders that hold a system's programs and their settings. Every other one is simply not there. */
export const systemFolders: ReadonlySet<string> = new Set(
  "bin etc gnu lib lib32 lib64 libx32 nix opt sbin snap sys usr".split(" "),
);

/** Further folders of the system that programs read. */
export const systemParts = ["/var/lib/dpkg", "/var/lib/ca-certificates", "/var/cache/fontconfig"];

/** Secrets of the system, which root could read. */
export const systemSecrets = [
  ...["shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "sudoers.d", "ssh", "ssl/private", "krb5.keytab"],
  ...["docker", "kubernetes", "rancher", "wireguard", "NetworkManager/system-connections", "openvpn"],
].map((name) => `/etc/${name}`);

/** Parts of /proc that belong to root even without any capability: bwrap leaves them writable to it. */
export const kernelFolders = ["sys", "bus", "fs", "irq", "sysrq-trigger"].map((name) => `/proc/${name}`);
export const kernelSecrets = ["kmsg", "keys", "timer_list", "kcore", "mtrr"].map((name) => `/proc/${name}`);

/** Folders below the home folder that hold programs and no secrets. Never `.cargo` or `.m2` whole: they hold credentials. */
export const toolFolders = (
  ".nvm .volta .fnm .asdf .pyenv .rbenv .rustup .cargo/bin .deno/bin .bun/bin .sdkman/candidates .local/bin .local/lib " +
  ".local/share/fnm .local/share/mise .local/share/uv .local/share/pnpm go/bin go/pkg/mod .gitconfig .config/git"
).split(" ");

/** Names in git's folder that make git run programs, or look elsewhere: read-only also where the rest may be written. */
export const gitSettings = ["config", "config.worktree", "hooks", "info", "modules", "commondir"];
