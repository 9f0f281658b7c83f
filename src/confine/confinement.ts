import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Blocked, Confined } from "../protocol/index.ts";
import type { Launch, LaunchEnd } from "../tools/spawn.ts";
import { checkMounts } from "./mounts.ts";
import { openNet, type Net } from "./net.ts";
import {
  exists,
  isFolder,
  isInside,
  planMounts,
  privatePoints,
  realOf,
  statOf,
  trustedPath,
  type Mount,
} from "./plan.ts";
import { createProxy, type HostVerdict } from "./proxy.ts";
import { seccompFilter } from "./seccomp.ts";
import { clearAway, fixedPaths, gitSettingsOf, surveyOf, type FilePolicy, type Survey } from "./survey.ts";

/** The sandbox of one session. */
export type Confinement = {
  /** Prepares the start of one command. Rejects when it cannot be confined: then it must not run. */
  launch(command: ConfinedCommand): Promise<Launch>;
  /** A file that was written by somebody else while commands run. */
  wrote(path: string): void;
  close(): void;
};

export type ConfinedCommand = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  as: Confined;
  /** May it reach this host? Asked for each connection. */
  reach(host: string, port: number): HostVerdict;
};

export type ConfinementParts = {
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

/** A survey is renewed after each command; older than this it is made anew before one, so that it knows what others wrote meanwhile. */
const FRESH_MS = 2_000;
const MOST_BLOCKED = 20;
/** Networks of sessions that run nothing are given back. */
const IDLE_MS = 10 * 60_000;

export function createConfinement(given: ConfinementParts): Confinement {
  // Resolves links first, as everywhere else: a home folder may be a link.
  const [home, sageHome] = [realOf(given.home) ?? given.home, realOf(given.sageHome) ?? given.sageHome];
  const parts = { ...given, home, sageHome };
  const folder = stateFolder(parts);
  const running = new Set<{ blocked: Blocked[]; command: ConfinedCommand; keep(): void }>();
  const { roots, policy } = parts;
  /** Files that others wrote while a command ran. */
  const others = new Set<string>();
  /** Notes of commands after which nobody could look. */
  const unseen = new Set<string>();
  let survey: Promise<{ found: Survey; at: number }> | undefined;
  let net: Promise<Net> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const accept = createProxy({
    judge(host, port) {
      const verdicts = [...running].map(({ command }) =>
        command.as.hosts.includes(host) ? ({ allowed: true, named: true } as const) : command.reach(host, port),
      );
      const allowed = verdicts.filter((one) => one.allowed);
      return allowed.find(({ named }) => named) ?? allowed[0] ?? { allowed: false };
    },
    refused(host, port, final) {
      for (const { blocked } of running)
        if (
          blocked.length < MOST_BLOCKED &&
          !blocked.some((one) => one.kind === "host" && one.host === host && one.port === port)
        )
          blocked.push({ kind: "host", host, port, ...(final && { final }) });
    },
  });
  const enter = async (): Promise<Net> => {
    clearTimeout(idle);
    net ??= openNet(accept, trustedPath(process.env["PATH"] ?? "", [...roots, ...parts.writable]));
    return net.catch((error: unknown) => {
      net = undefined;
      throw error;
    });
  };
  const close = () => {
    void net?.then((one) => one.close()).catch(() => {});
    net = undefined;
  };
  const rest = () => {
    if (running.size > 0) return;
    close();
    parts.rested?.();
  };
  const look = async (): Promise<Survey> => {
    if (survey && performance.now() - (await survey).at < FRESH_MS) return (await survey).found;
    const looking = lookAfter(folder, unseen, roots, policy).then(async () => {
      const found = await surveyOf(roots, policy);
      return { found: { ...found, guarded: [...found.guarded, ...gitSettingsOf(roots)] }, at: performance.now() };
    });
    survey = looking;
    looking.catch(() => (survey = survey === looking ? undefined : survey)); // the next command tries again
    return (await looking).found;
  };

  return {
    close,
    wrote(path) {
      if (running.size === 0 || others.has(path) || !roots.some((root) => isInside(root, path))) return;
      others.add(path);
      for (const { keep } of running) keep(); // after a kill it is known too
    },
    async launch(command) {
      const [before, { enter: entering, port }] = await Promise.all([look(), enter()]);
      const since = Date.now();
      const id = `${process.pid}-${randomBytes(6).toString("hex")}`;
      const mounts = planMounts({
        ...parts,
        privateHome: folder.home,
        privateTmp: folder.tmp,
        path: command.env["PATH"] ?? "",
        writable: [...parts.writable, ...command.as.writable],
        guarded: fixedPaths(before, roots),
        hidden: before.hidden,
        sockets: listeningSockets(before.sockets),
        repository: command.as.repository,
      });
      prepare(mounts, parts.home, folder);
      const args = join(folder.runs, `${id}.args`);
      const note = join(folder.runs, `${id}.json`);
      writeFileSync(
        args,
        `${[...isolation, ...mounts.flatMap(({ words }) => words), "--setenv", "PATH", command.env["PATH"] ?? "", "--chdir", command.cwd].join("\0")}\0`,
        { mode: 0o600 },
      );
      const known = (): Survey => ({ ...before, guarded: [...before.guarded, ...others] });
      const keep = () => writeFileSync(note, JSON.stringify({ since, before: known() }), { mode: 0o600 });
      keep();
      const mine = { blocked: [] as Blocked[], command, keep };
      running.add(mine);
      const status = createStatus(mounts);
      return {
        words: [
          ...entering,
          "bwrap",
          "--args",
          "6",
          "--json-status-fd",
          "3",
          "--block-fd",
          "7",
          "--seccomp",
          "8",
          "--",
        ],
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
          clearTimeout(idle);
          if (running.size === 0) idle = setTimeout(rest, IDLE_MS).unref();
          rmSync(args, { force: true });
          const cleared = await clearAway(known(), since, roots, policy).catch((error: unknown) => {
            survey = undefined;
            unseen.add(basename(note));
            throw error;
          });
          if (running.size === 0) others.clear();
          // Things that were moved have other names now.
          survey =
            cleared.aside.length > 0 ? undefined : Promise.resolve({ found: cleared.survey, at: performance.now() });
          rmSync(note, { force: true });
          return { blocked: [...mine.blocked, ...cleared.aside], ...status.failure() };
        },
      };
    },
  };
}

/** Namespaces of its own for everything but files, no capability, no way to get one, and an end with whoever started it. */
const isolation = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--disable-userns"],
  ...["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "confined"],
];

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
    ...{
      SSH_AUTH_SOCK: undefined,
      DBUS_SESSION_BUS_ADDRESS: undefined,
      XDG_RUNTIME_DIR: undefined,
      DOCKER_HOST: undefined,
    },
  };
}

/** Follows the status that bwrap writes: lines of JSON with the process inside, and at the end with its exit code. */
function createStatus(mounts: readonly Mount[]) {
  let inner: number | undefined;
  let hasEnded = false;
  let problem: Omit<LaunchEnd, "blocked"> | undefined;
  return {
    inner: () => inner,
    failure: () => (hasEnded ? {} : (problem ?? neverBegun(mounts))),
    async heard(line: string): Promise<boolean | undefined> {
      const { "child-pid": pid, "exit-code": code } = parsed(line);
      if (code !== undefined) hasEnded = problem !== undefined && problem.failed === undefined;
      if (pid === undefined) return undefined;
      inner = pid;
      const wrong = await checkMounts(pid, mounts, () => !isAlive(pid));
      problem = wrong === undefined ? {} : { failed: `${wrong} is not what it was`, outdated: true };
      return wrong === undefined;
    },
    /** Its first process ends when all others in there are gone. */
    async dead(): Promise<void> {
      if (inner !== undefined) await ended(inner);
    },
  };
}

/** Bwrap may end before its mounts are looked at: it cannot mount what is gone. */
function neverBegun(mounts: readonly Mount[]): Omit<LaunchEnd, "blocked"> {
  const gone = mounts.find(({ bind }) => bind && !exists(bind.from))?.bind?.from;
  if (gone === undefined) return { failed: "bwrap ended before the command began" };
  return { failed: `${gone} is not what it was`, outdated: true };
}

function parsed(line: string): { "child-pid"?: number; "exit-code"?: number } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}

async function ended(pid: number): Promise<void> {
  for (;;) {
    if (!isAlive(pid)) return;
    await sleep(2);
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

type StateFolder = { home: string; tmp: string; runs: string; filter: string };

/** Folders of a sandbox, below Sage's state. */
function stateFolder({ sageHome, key }: Pick<ConfinementParts, "sageHome" | "key">): StateFolder {
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

/** Commands ended with the process that was killed, or could not be looked after: nobody has seen what they left. */
async function lookAfter(
  { runs }: StateFolder,
  unseen: Set<string>,
  roots: readonly string[],
  policy: FilePolicy,
): Promise<void> {
  for (const name of readdirSync(runs)) {
    const owner = Number(name.split("-")[0]);
    if (isAlive(owner) && !unseen.has(name)) continue;
    const path = join(runs, name);
    if (name.endsWith(".json")) {
      const noted = noteIn(path);
      if (noted) await clearAway(noted.before, noted.since, roots, policy);
    }
    rmSync(path, { force: true });
    unseen.delete(name);
  }
}

/** Undefined when it was killed while it wrote: then nothing had begun. */
function noteIn(path: string): { since: number; before: Survey } | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { since: number; before: Survey };
  } catch {
    return undefined;
  }
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

/** Where mounts go in the private folders nothing must lead elsewhere: bwrap would follow, and make what it does not find there. */
function prepare(mounts: readonly Mount[], home: string, own: StateFolder): void {
  const areas = [["/tmp", own.tmp] as const, [home, own.home] as const];
  for (const to of [home, ...privatePoints(mounts)]) {
    const [from, area] = areas.findLast(([one]) => one !== to && isInside(one, to)) ?? [];
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

/** Why these folders cannot be a workspace of a sandbox; undefined when they can. */
export function unfitRoot(roots: readonly string[], home: string): string | undefined {
  const real = realOf(home) ?? home;
  return roots.find((root) => root === "/" || isInside(root, home) || isInside(root, real));
}
