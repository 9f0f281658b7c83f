import { randomBytes, createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync, mkdirSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Blocked, Confined } from "../protocol/confine.ts";
import type { Launch, LaunchEnd } from "../tools/process/spawn.ts";
import { createNetwork } from "./network/net.ts";
import type { Mount } from "./plan.ts";
import { isInside, planMounts, realOf, trustedPath, exists, isFolder, privatePoints, statOf } from "./plan.ts";
import { createProxy, type HostVerdict } from "./network/proxy.ts";
import { startOf } from "../processes/identity.ts";
import { createStatus } from "./status.ts";
import { fixedPaths, fileStamp, type Hiding, type Noted, type Survey } from "./survey.ts";
import { createSurveys, writeNote } from "./surveys.ts";
import { seccompFilter } from "./seccomp.ts";

/** The sandbox of one session. */
export type Confinement = {
  /** Prepares the start of one command. Rejects when it cannot be confined: then it must not run. */
  launch(command: ConfinedCommand): Promise<Launch>;
  /** Sage writes a file with a person's permission; call the result when it has. */
  writes(path: string): () => void;
  /** Ends what runs, and looks over what it left. */
  end(): Promise<void>;
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
  /** A filter of files that rules hide from commands. */
  hiding: Hiding;
  /** Told when it has run nothing for a while. */
  rested?(): void;
};

const MAX_BLOCKED = 20;
/** Networks of sessions that run nothing are given back. */
const IDLE_MS = 10 * 60_000;
/** Descriptors that `Launch` names. */
const bwrap = "bwrap --args 6 --json-status-fd 3 --block-fd 7 --seccomp 8 --".split(" ");

/** A look while something runs: as often, and less often where looking takes long. */
const LOOKING_MS = 3_000;
const LOOKING_SHARE = 20;
/** Time to end after being asked to, before it is made. */
const GRACE_MS = 1_000;

/** A command that runs. `keep` writes its note anew. */
type Running = {
  blocked: Blocked[];
  command: ConfinedCommand;
  noted(): Noted;
  keep(): void;
  inner(): number | undefined;
  over(): Promise<LaunchEnd>;
};

export function createConfinement(given: ConfinementParts): Confinement {
  // Resolves links first, as everywhere else: a home folder may be a link.
  const [home, sageHome] = [realOf(given.home) ?? given.home, realOf(given.sageHome) ?? given.sageHome];
  const parts = { ...given, home, sageHome };
  const { roots, hiding } = parts;
  const folder = stateFolder(parts);
  const surveys = createSurveys(folder.runs, roots, hiding);
  const running = new Set<Running>();
  const accept = createProxy({ judge: judgeFor(running), refused: refuseFor(running) });
  const network = createNetwork(accept, { path: () => helperPath(parts), sageHome });
  const others = createOthers(roots, running);
  let idle: NodeJS.Timeout | undefined;
  const lookLater = createLooks(running, surveys);

  return {
    close: network.close,
    writes: others.writes,
    async end() {
      await Promise.allSettled([...running].map(endCommand));
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
      const status = createStatus(mounts);
      const noted = (): Noted => {
        return { since, before, roots, repository: command.as.repository, others: others.states() };
      };
      let over: Promise<LaunchEnd> | undefined;
      const mine: Running = {
        blocked: [],
        command,
        noted,
        keep: () => writeNote(note, noted(), status.inner()),
        inner: status.inner,
        over: () => (over ??= finish()),
      };
      const finish = async (): Promise<LaunchEnd> => {
        await status.dead();
        running.delete(mine);
        restLater();
        rmSync(args, { force: true });
        const aside = await surveys.after(noted(), note);
        others.forget();
        return { blocked: [...mine.blocked, ...aside], ...status.failure() };
      };
      mine.keep();
      running.add(mine);
      lookLater();
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
        async heard(line) {
          const may = await status.heard(line);
          if (may === true) mine.keep(); // whoever comes after a kill waits for its end
          return may;
        },
        inner: status.inner,
        over: mine.over,
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

/** Files that Sage writes while commands run, with their state then; "" while it writes. */
function createOthers(roots: readonly string[], running: ReadonlySet<Running>) {
  const states = new Map<string, string>();
  const note = (path: string, state: string | undefined) => {
    if (running.size === 0 || !roots.some((root) => isInside(root, path))) return;
    if (state === undefined) states.delete(path);
    else states.set(path, state);
    for (const { keep } of running) keep(); // after a kill it is known too
  };
  return {
    states: () => Object.fromEntries(states),
    forget: () => void (running.size === 0 && states.clear()),
    writes(path: string) {
      const [before, earlier] = [fileStamp(path), states.get(path)];
      note(path, "");
      return () => note(path, fileStamp(path) === before ? earlier : fileStamp(path));
    },
  };
}

/** Looks every few seconds while something runs. */
function createLooks(running: ReadonlySet<Running>, surveys: ReturnType<typeof createSurveys>): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    const from = performance.now();
    const commands = [...running];
    // A look that fails is made again, at the latest when the command has ended.
    const aside = await surveys.during(commands.map(({ noted }) => noted())).catch(() => []);
    for (const [at, { blocked }] of commands.entries()) blocked.push(...(aside[at] ?? []));
    timer = undefined;
    if (running.size > 0) later(Math.max(LOOKING_MS, (performance.now() - from) * LOOKING_SHARE));
  };
  const later = (delay = LOOKING_MS) => {
    timer ??= setTimeout(() => void look(), delay).unref();
  };
  return () => later();
}

/** Asks a command to end, makes it, and waits for the look at what it left. */
async function endCommand({ inner, over }: Running): Promise<void> {
  const pid = inner();
  const tell = (signal: NodeJS.Signals) => {
    try {
      if (pid !== undefined) process.kill(signal === "SIGKILL" ? pid : -pid, signal);
    } catch {
      // It has ended.
    }
  };
  tell("SIGTERM");
  const until = performance.now() + GRACE_MS;
  while (isRunning(inner()) && performance.now() < until) await sleep(20);
  tell("SIGKILL");
  await over();
}

function isRunning(pid: number | undefined): boolean {
  return pid !== undefined && startOf(pid) !== "";
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

/** Where the programs that make a network are looked for. */
function helperPath({ roots, writable }: ConfinementParts): string {
  return trustedPath(process.env["PATH"] ?? "", [...roots, ...writable]);
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

/** Named sockets of this machine. The owner's name may be relative to anywhere, so only its last part is compared. */
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

/** Makes the places that mounts go to. None may lead elsewhere: bwrap would follow, and make what it does not find. */
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
