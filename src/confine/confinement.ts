import { randomBytes, createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync, mkdirSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { Blocked, Confined } from "../protocol/confine.ts";
import type { Launch } from "../tools/process/spawn.ts";
import { createNetwork } from "./network/net.ts";
import {
  isInside,
  planMounts,
  realOf,
  trustedPath,
  type Mount,
  exists,
  isFolder,
  privatePoints,
  statOf,
} from "./plan.ts";
import { createProxy, type HostVerdict } from "./network/proxy.ts";
import { createStatus } from "./status.ts";
import { fixedPaths, type FilePolicy, type Survey } from "./survey.ts";
import { createSurveys, writeNote } from "./surveys.ts";
import { seccompFilter } from "./seccomp.ts";

/** The sandbox of one session. */
export type Confinement = {
  /** Prepares the start of one command. Rejects when it cannot be confined: then it must not run. */
  launch(command: ConfinedCommand): Promise<Launch>;
  /** A file that was written by somebody else while commands run. */
  wrote(path: string): void;
  close(): void;
};

type ConfinedCommand = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  as: Confined;
  /** May it reach this host? Asked for each connection. */
  reach(host: string, port: number): HostVerdict;
};

type ConfinementParts = {
  roots: readonly string[];
  home: string;
  /** The folder of Sage's state. */
  sageHome: string;
  /** Sandboxes of the same key share a home: one for each workspace, or for each session where people must be kept apart. */
  key: string;
  readable: readonly string[];
  writable: readonly string[];
  /** Folders of Sage's state that the session may read. */
  kept: readonly string[];
  policy: FilePolicy;
  /** Told when it has run nothing for a while. */
  rested?(): void;
};

const MAX_BLOCKED = 20;
/** Networks of sessions that run nothing are given back. */
const IDLE_MS = 10 * 60_000;
/** Descriptors that `Launch` names. */
const bwrap = "bwrap --args 6 --json-status-fd 3 --block-fd 7 --seccomp 8 --".split(" ");

/** A command that runs. `keep` writes its note anew. */
type Running = { blocked: Blocked[]; command: ConfinedCommand; keep(): void };

export function createConfinement(given: ConfinementParts): Confinement {
  // Resolves links first, as everywhere else: a home folder may be a link.
  const [home, sageHome] = [realOf(given.home) ?? given.home, realOf(given.sageHome) ?? given.sageHome];
  const parts = { ...given, home, sageHome };
  const { roots, policy } = parts;
  const folder = stateFolder(parts);
  const surveys = createSurveys(folder.runs, roots, policy);
  const running = new Set<Running>();
  const accept = createProxy({ judge: judgeFor(running), refused: refuseFor(running) });
  const network = createNetwork(accept, () => trustedPath(process.env["PATH"] ?? "", [...roots, ...parts.writable]));
  /** Files that others wrote while a command ran. */
  const others = new Set<string>();
  let idle: NodeJS.Timeout | undefined;

  return {
    close: network.close,
    wrote(path) {
      if (running.size === 0 || others.has(path) || !roots.some((root) => isInside(root, path))) return;
      others.add(path);
      for (const { keep } of running) keep(); // after a kill it is known too
    },
    async launch(command) {
      clearTimeout(idle);
      const [before, { enter, port }] = await Promise.all([surveys.before(), network.open()]);
      const since = Date.now();
      const mounts = mountsFor(command, before);
      prepare(mounts, home, folder);
      const id = `${process.pid}-${randomBytes(6).toString("hex")}`;
      const [args, note] = [join(folder.runs, `${id}.args`), join(folder.runs, `${id}.json`)];
      writeFileSync(args, argumentsFor(mounts, command), { mode: 0o600 });
      const noted = () => ({ since, before: { ...before, guarded: [...before.guarded, ...others] } });
      const mine: Running = { blocked: [], command, keep: () => writeNote(note, noted()) };
      mine.keep();
      running.add(mine);
      const status = createStatus(mounts);
      return {
        words: [...enter, ...bwrap],
        args,
        filter: folder.filter,
        env: {
          ...command.env,
          PATH: trustedPath(command.env["PATH"] ?? "", [...roots, ...parts.writable, ...command.as.writable]),
          HOME: home,
          ...environment(port),
        },
        heard: status.heard,
        inner: status.inner,
        async over() {
          await status.dead();
          running.delete(mine);
          restLater();
          rmSync(args, { force: true });
          const aside = await surveys.after(noted(), note);
          if (running.size === 0) others.clear();
          return { blocked: [...mine.blocked, ...aside], ...status.failure() };
        },
      };
    },
  };

  function mountsFor({ env, as }: ConfinedCommand, before: Survey): Mount[] {
    return planMounts({
      ...parts,
      privateHome: folder.home,
      privateTmp: folder.tmp,
      path: env["PATH"] ?? "",
      writable: [...parts.writable, ...as.writable],
      guarded: fixedPaths(before, roots),
      hidden: before.hidden,
      sockets: listeningSockets(before.sockets),
      repository: as.repository,
    });
  }

  function restLater(): void {
    clearTimeout(idle);
    if (running.size > 0) return;
    idle = setTimeout(() => {
      if (running.size > 0) return;
      network.close();
      parts.rested?.();
    }, IDLE_MS).unref();
  }
}

/** A host is open when one of the commands that run may reach it: connections do not tell whose they are. */
function judgeFor(running: ReadonlySet<Running>): (host: string, port: number) => HostVerdict {
  return (host, port) => {
    const verdicts = [...running].map(({ command }) =>
      command.as.hosts.includes(host) ? ({ allowed: true, named: true } as const) : command.reach(host, port),
    );
    const allowed = verdicts.filter((verdict) => verdict.allowed);
    return allowed.find(({ named }) => named) ?? allowed[0] ?? { allowed: false };
  };
}

function refuseFor(running: ReadonlySet<Running>): (host: string, port: number, final: boolean) => void {
  return (host, port, final) => {
    for (const { blocked } of running) {
      const isTold = blocked.some((known) => known.kind === "host" && known.host === host && known.port === port);
      if (isTold || blocked.length >= MAX_BLOCKED) continue;
      blocked.push({ kind: "host", host, port, ...(final && { final }) });
    }
  };
}

/** Words for bwrap, as its `--args` reads them. */
function argumentsFor(mounts: readonly Mount[], { env, cwd }: ConfinedCommand): string {
  const words = [...isolation, ...mounts.flatMap((mount) => mount.words)];
  return [...words, "--setenv", "PATH", env["PATH"] ?? "", "--chdir", cwd].map((word) => `${word}\0`).join("");
}

/** Namespaces of its own for everything but files, no capability, no way to get one, and an end with whoever started it. */
const isolation = (
  "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --disable-userns " +
  "--cap-drop ALL --new-session --die-with-parent --hostname confined"
).split(" ");

function environment(port: number): NodeJS.ProcessEnv {
  const proxy = `http://127.0.0.1:${port}`;
  const own = "localhost,127.0.0.1,::1";
  return {
    ...Object.fromEntries(
      ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [
        [name, proxy],
        [name.toUpperCase(), proxy],
      ]),
    ),
    no_proxy: own,
    NO_PROXY: own,
    NODE_USE_ENV_PROXY: "1",
    TMPDIR: "/tmp",
    SAGE_CONFINED: "1",
    // Variables that name sockets and folders which are not there.
    SSH_AUTH_SOCK: undefined,
    DBUS_SESSION_BUS_ADDRESS: undefined,
    XDG_RUNTIME_DIR: undefined,
    DOCKER_HOST: undefined,
  };
}

/**
 * Sockets of this machine that have a name. It is the one that its owner called it by, from wherever the owner was: so those that
 * were found are compared by the last part of it.
 */
function listeningSockets(found: readonly string[]): string[] {
  const lines = readFileSync("/proc/net/unix", "utf8").split("\n").slice(1);
  const named = lines.flatMap((line) => /^(?:\S+\s+){7}(.+)$/.exec(line)?.[1] ?? []);
  const names = new Set(named.map((path) => basename(path)));
  const whole = named.filter((path) => path.startsWith("/")).map((path) => realOf(path) ?? path);
  return [...new Set([...whole, ...found.filter((path) => names.has(basename(path)))])];
}

/** Why these folders cannot be a workspace of a sandbox; undefined when they can. */
export function unfitRoot(roots: readonly string[], home: string): string | undefined {
  const real = realOf(home) ?? home;
  return roots.find((root) => root === "/" || isInside(root, home) || isInside(root, real));
}

/** Folders of a sandbox, below Sage's state. `runs`: arguments and notes of commands. `filter`: the file for seccomp. */
type StateFolder = { home: string; tmp: string; runs: string; filter: string };

function stateFolder({ sageHome, key }: { sageHome: string; key: string }): StateFolder {
  const state = join(sageHome, "confine");
  const own = join(state, createHash("sha256").update(key).digest("hex").slice(0, 16));
  const [home, tmp, runs] = ["home", "tmp", "runs"].map((name) => join(own, name)) as [string, string, string];
  for (const folder of [home, tmp, runs]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const filter = join(state, `${process.arch}.filter`);
  const bytes = seccompFilter();
  if (bytes === undefined) throw new Error(`there is no filter for ${process.arch}`);
  if (!exists(filter) || !readFileSync(filter).equals(bytes)) writeFileSync(filter, bytes, { mode: 0o600 });
  const real = realpathSync(own);
  return { home: join(real, "home"), tmp: join(real, "tmp"), runs: join(real, "runs"), filter: realpathSync(filter) };
}

/**
 * Makes the places in the private folders that mounts go to. Nothing there may lead elsewhere: bwrap would follow, and make what it
 * does not find.
 */
function prepare(mounts: readonly Mount[], home: string, own: StateFolder): void {
  const areas = [["/tmp", own.tmp] as const, [home, own.home] as const];
  for (const to of [home, ...privatePoints(mounts)]) {
    const [from, area] = areas.findLast(([folder]) => folder !== to && isInside(folder, to)) ?? [];
    if (from === undefined || area === undefined) continue;
    const names = relative(from, to).split("/");
    for (const at of names.keys()) {
      const path = join(area, ...names.slice(0, at + 1));
      const isLast = at === names.length - 1;
      if (exists(path) && !isFolder(path) && (!isLast || statOf(path)!.isSymbolicLink())) rmSync(path);
      if (!isLast) mkdirSync(path, { recursive: true, mode: 0o700 });
    }
  }
}
