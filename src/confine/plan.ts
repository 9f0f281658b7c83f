import type { Stats } from "node:fs";
import { accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { gitSettings } from "../permission/appear/appear.ts";

/** Everything that decides which files a confined command sees. Roots are real paths. */
export type Place = {
  roots: readonly string[];
  home: string;
  /** The folder of Sage's state: never to be seen. */
  sageHome: string;
  /** A home and a temporary folder of the sandbox's own, which unconfined programs never read. */
  privateHome: string;
  privateTmp: string;
  /** `PATH` of the command. */
  path: string;
  readable: readonly string[];
  writable: readonly string[];
  /** Paths below the roots that other programs obey: they stay as they are. */
  guarded: readonly string[];
  /** Files that rules keep from being read. */
  hidden: readonly string[];
  /** Sockets on which somebody listens: a read-only mount keeps nobody from connecting. */
  sockets: readonly string[];
  /** Folders below Sage's state that may be read. */
  kept: readonly string[];
  repository: "read" | "write";
};

/** Words for bwrap. `bind`: a path of this machine that is to be seen in there, for the check before the command runs. */
export type Mount = { words: readonly string[]; bind?: { from: string; to: string; writable: boolean } };

/** The mounts of a confined command, in order: later ones lie over earlier ones. */
export function planMounts(place: Place): Mount[] {
  const { home, roots, privateHome, privateTmp, sageHome } = place;
  const seen = [
    ...toolMounts(place),
    ...place.readable.filter(isReal).map((path) => bind(path, path, false)),
    ...place.writable.filter(isReal).map((path) => bind(path, path, true)),
    ...roots.map((root) => bind(root, root, true)),
  ];
  const own = [bind(privateTmp, "/tmp", true), bind(privateHome, home, true)];
  const system = systemMounts();
  const all = [...system, ...own, ...seen];
  const isSeen = (path: string) => isShown(coverOf(path, all));
  const hidden = place.hidden.filter(
    (path) => !place.hidden.some((folder) => folder !== path && isInside(folder, path)),
  );
  const points = [home, ...privatePoints(all)];
  return [
    ...system,
    // Above a home below /tmp, too: so those of /tmp come before it.
    ...own.flatMap((area) => [
      area,
      ...pins(
        points.filter((path) => coverOf(path, own) === area || path === home),
        [area],
      ),
    ]),
    ...seen,
    ...pins(
      hidden,
      roots.map((root) => bind(root, root, true)),
    ),
    ...roots.flatMap((root) => repositoryMounts(root, place.repository)),
    ...place.guarded.filter(isReal).map((path) => bind(path, path, false)),
    ...hidden.flatMap(hide),
    ...place.sockets.filter(isSeen).flatMap(hide),
    ...(isSeen(sageHome) && isFolder(sageHome) ? [{ words: ["--tmpfs", sageHome] }] : []),
    ...place.kept.filter((path) => isFolder(path) && isReal(path)).map((path) => bind(path, path, false)),
    ...(isSeen(sageHome) && isFolder(sageHome) ? [{ words: ["--remount-ro", sageHome] }] : []),
    { words: ["--remount-ro", "/"] },
  ];
}

/** Places in the private folders where something of this machine is mounted. */
export function privatePoints(mounts: readonly Mount[]): string[] {
  const binds = mounts.filter(({ bind: bound }) => bound !== undefined);
  return binds.flatMap((mount, at) => {
    const cover = coverOf(mount.bind!.to, binds.slice(0, at));
    return isShown(mount) && cover !== undefined && !isShown(cover) ? [mount.bind!.to] : [];
  });
}

/** Mounts folders above these paths over themselves, each as writable as it is: a mount point cannot be renamed, and its folder can. */
function pins(paths: readonly string[], within: readonly Mount[]): Mount[] {
  const pinned = new Map<string, Mount>();
  for (const path of paths) {
    const { from, to } = coverOf(path, within)?.bind ?? {};
    if (from === undefined || to === undefined || to === path) continue;
    const names = relative(to, dirname(path))
      .split("/")
      .filter((name) => name !== "");
    for (const at of names.keys()) {
      const inner = names.slice(0, at + 1);
      pinned.set(join(to, ...inner), bind(join(from, ...inner), join(to, ...inner), true));
    }
  }
  return [...pinned.values()];
}

/** The last mount that holds a path. */
function coverOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts.findLast(({ bind: bound }) => bound !== undefined && isInside(bound.to, path));
}

/** It shows something of this machine, and is not a private folder. */
function isShown(mount: Mount | undefined): boolean {
  return mount?.bind !== undefined && mount.bind.from === mount.bind.to;
}

export function isInside(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith("../") && !isAbsolute(rest));
}

/** A mount goes where a link leads, on both sides: a link in a repository would show whatever it names. */
function isReal(path: string): boolean {
  if (!exists(path)) return false; // asked for dozens of paths before each command: an error for each would be slow
  try {
    return realpathSync.native(path) === path;
  } catch {
    return false;
  }
}

export function exists(path: string): boolean {
  return statOf(path) !== undefined;
}

/** The git folders of a root: its own, and that of a linked worktree only if it knows this worktree too. */
export function gitFoldersOf(root: string): { own: string; common: string; admin?: string } | undefined {
  const own = join(root, ".git");
  if (!isReal(own)) return undefined;
  if (isFolder(own)) return { own, common: own };
  try {
    const named = /^gitdir: (.*)$/m.exec(readFileSync(own, "utf8"))?.[1] ?? "";
    const admin = realpathSync(resolve(root, named));
    const common = realpathSync(join(admin, readFileSync(join(admin, "commondir"), "utf8").trim()));
    const back = realpathSync(readFileSync(join(admin, "gitdir"), "utf8").trim());
    return back === own && dirname(dirname(admin)) === common ? { own, common, admin } : undefined;
  } catch {
    return undefined;
  }
}

function systemMounts(): Mount[] {
  const top = readdirSync("/").filter((name) => systemFolders.has(name));
  const resolver = realOf("/etc/resolv.conf");
  return [
    ...top.map((name): Mount => {
      const path = `/${name}`;
      const isLink = lstatSync(path).isSymbolicLink();
      return isLink ? { words: ["--symlink", readlinkSync(path), path] } : bind(path, path, false);
    }),
    { words: "--dev /dev --proc /proc --dir /run --dir /var/tmp --symlink /run /var/run".split(" ") },
    ...kernelFolders.filter(exists).map((path): Mount => ({ words: ["--ro-bind", path, path] })),
    ...kernelSecrets.filter(isReadable).map((path): Mount => ({ words: ["--ro-bind", "/dev/null", path] })),
    // Its first process ends the sandbox: through its memory and descriptors a command would take its place.
    { words: ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"] },
    ...systemParts.filter(isFolder).map((path) => bind(path, path, false)),
    ...systemSecrets.filter(isReadable).flatMap(hide),
    ...(resolver?.startsWith("/run/") ? [bind(resolver, resolver, false)] : []),
  ];
}

/** Tools that people keep below their home folder, and folders of `PATH` that would not be there otherwise. */
function toolMounts({ home, path, roots, sageHome }: Place): Mount[] {
  const tools = toolFolders.map((name) => join(home, name)).filter(isReal);
  const searched = path.split(":").filter((folder) => {
    const isShown = systemFolders.has(folder.split("/")[1] ?? "") && !isInside(home, folder);
    const isOpen = [...roots, ...tools].some((place) => isInside(place, folder)) || isInside(sageHome, folder);
    // A folder that holds the home folder or a root would show more than programs.
    const isWide = [home, ...roots].some((inner) => isInside(folder, inner));
    return isAbsolute(folder) && isFolder(folder) && isReal(folder) && !isShown && !isOpen && !isWide;
  });
  const secrets = [".config/git/credentials", ".nvm/.npmrc"].map((name) => join(home, name));
  return [...[...new Set([...tools, ...searched])].map((path) => bind(path, path, false)), ...secrets.flatMap(hide)];
}

function repositoryMounts(root: string, repository: "read" | "write"): Mount[] {
  const folders = gitFoldersOf(root);
  if (folders === undefined)
    return isReal(join(root, ".git")) ? [bind(join(root, ".git"), join(root, ".git"), false)] : [];
  const { own, common, admin } = folders;
  const isLinked = own !== common;
  const file = isLinked ? [bind(own, own, false)] : [];
  if (repository === "read") return [...file, bind(common, common, false)];
  const fixed = gitSettings.map((name) => join(common, name)).filter(isReal);
  const ownFixed = ["gitdir", "commondir", "config.worktree"].flatMap((name) => (admin ? [join(admin, name)] : []));
  // A mount point cannot be renamed away: so the folder itself is one too.
  return [
    ...file,
    bind(common, common, true),
    ...fixed.map((path) => bind(path, path, false)),
    ...(admin === undefined ? [] : [bind(admin, admin, true)]),
    ...ownFixed.filter(isReal).map((path) => bind(path, path, false)),
  ];
}

function bind(from: string, to: string, writable: boolean): Mount {
  return { words: [writable ? "--bind" : "--ro-bind", from, to], bind: { from, to, writable } };
}

/** A file reads as empty, a folder as an empty one. */
function hide(path: string): Mount[] {
  if (!isReal(path)) return [];
  return isFolder(path)
    ? [{ words: ["--tmpfs", path, "--remount-ro", path] }]
    : [{ words: ["--ro-bind", "/dev/null", path] }];
}

/** Folders of `PATH` in which no command could have put a program: the sandbox itself is started from there. */
export function trustedPath(path: string, writable: readonly string[]): string {
  const isTrusted = (folder: string) => {
    const real = isAbsolute(folder) ? realOf(folder) : undefined;
    if (real === undefined || real.split("/").includes("node_modules")) return false;
    return !writable.some((folder) => isInside(folder, real));
  };
  return path.split(":").filter(isTrusted).join(":");
}

export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() ?? false;
}

/** A secret that this user cannot open needs no mount: the confined are the same user, without any capability. */
function isReadable(path: string): boolean {
  if (!exists(path)) return false;
  return [constants.R_OK, constants.X_OK].some((way) => {
    try {
      accessSync(path, way);
      return true;
    } catch {
      return false;
    }
  });
}

/** Status of the path itself, not of its target; undefined where nothing is, or nothing may be looked at. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Top folders that hold a system's programs and their settings. Every other one is simply not there. */
const systemFolders: ReadonlySet<string> = new Set(
  "bin etc gnu lib lib32 lib64 libx32 nix opt sbin snap sys usr".split(" "),
);

/** Further folders of the system that programs read. */
const systemParts = ["/var/lib/dpkg", "/var/lib/ca-certificates", "/var/cache/fontconfig"];

/** Secrets of the system, which root could read. */
const systemSecrets = (
  "shadow shadow- gshadow gshadow- sudoers sudoers.d ssh ssl/private krb5.keytab " +
  "docker kubernetes rancher wireguard NetworkManager/system-connections openvpn"
)
  .split(" ")
  .map((name) => `/etc/${name}`);

/** Parts of /proc that belong to root even without any capability: bwrap leaves them writable to it. */
const kernelFolders = ["sys", "bus", "fs", "irq", "sysrq-trigger"].map((name) => `/proc/${name}`);
const kernelSecrets = ["kmsg", "keys", "timer_list", "kcore", "mtrr"].map((name) => `/proc/${name}`);

/** Folders below the home folder that hold programs and no secrets. Never `.cargo` or `.m2` whole: they hold credentials. */
const toolFolders = (
  ".nvm .volta .fnm .asdf .pyenv .rbenv .rustup .cargo/bin .deno/bin .bun/bin .sdkman/candidates .local/bin .local/lib " +
  ".local/share/fnm .local/share/mise .local/share/uv .local/share/pnpm go/bin go/pkg/mod .gitconfig .config/git"
).split(" ");
