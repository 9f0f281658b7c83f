// Files of tests in memory, where the machine lets us. On a disk, making and removing them takes a tenth of the processor time.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, realpathSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const ROOM_BYTES = 4e9;
const isInside = "SAGE_TEST_IN_MEMORY";

/**
 * Runs this program once more with a temporary folder in memory, and returns its exit code; undefined where that is not to be had, or
 * this is that run. The folder has its usual path, because screens show paths, and rules know that nothing below `/dev` is a project.
 */
export async function againInMemory(root: string): Promise<number | undefined> {
  if (isInside in process.env) return undefined;
  const under = mounting(root);
  const start = { cwd: root, env: { ...process.env, [isInside]: "1" } };
  if (under === undefined || spawnSync("unshare", [...under, process.execPath, "--version"], start).status !== 0)
    return undefined;
  const child = spawn("unshare", [...under, process.execPath, ...process.argv.slice(1)], {
    ...start,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}

/**
 * Arguments of `unshare` that mount it for one program and what that starts: nobody else sees it, and it is gone with the last of them.
 * Root alone may mount. As root of a user namespace one may, too, but no test would be that of a plain user.
 */
function mounting(root: string): string[] | undefined {
  if (process.platform !== "linux" || process.geteuid?.() !== 0 || process.availableMemory() < 2 * ROOM_BYTES) return;
  const dir = realpathSync(tmpdir());
  const isCovered = !relative(dir, root).startsWith("..");
  if (isCovered && statSync(join(root, ".git"), { throwIfNoEntry: false })?.isFile()) return; // its repository is elsewhere
  const lines = [
    `mount -t tmpfs -o size=${ROOM_BYTES},mode=1777 sage "$0"`,
    // The working directory is still the one that is covered now.
    ...(isCovered ? ['mkdir -p "$1"', 'mount --no-canonicalize --bind . "$1"', 'cd "$1"'] : []),
    'shift && exec "$@"',
  ];
  return ["--mount", "--propagation", "private", "sh", "-c", lines.join(" && "), dir, root];
}

/**
 * A folder in memory where there is one with room, for the servers of PostgreSQL. A database is a thousand files, and each test begins
 * with a new one: on a disk they take as much processor time as all tests that use them.
 */
export function sharedMemory(): string {
  const dir = "/dev/shm";
  const { bavail = 0, bsize = 0 } = existsSync(dir) ? statfsSync(dir) : {};
  return bavail * bsize > ROOM_BYTES ? dir : tmpdir();
}
