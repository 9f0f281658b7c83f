#!/usr/bin/env node
// `sage`; the build puts this file beside the bundle. An old Node must be able to read it, and to say so.
"use strict";
const crypto = require("node:crypto");
const fs = require("node:fs");
const { homedir } = require("node:os");
const { basename, dirname, isAbsolute, join, relative } = require("node:path");
const vm = require("node:vm");

/** Id of this bundle: the build puts the digest of its files here. */
const build = "unknown";
const DIGEST_BYTES = 32;
/** Processor time after which all that everyday work loads is there, and no function has been called often enough to be optimised with hundreds of others. */
const AT_WORK_US = 600_000;
let isLean = false;

if (Number.parseInt(process.versions.node, 10) >= 24) {
  keepCompiled();
  if (process.versions.v8.startsWith("13.")) becomeLeanAtWork(1_500); // one that does not know its flag would tell the person
  module.exports = require("./sage.cjs");
} else {
  console.error(`sage needs Node 24 or newer; this is ${process.version}. See https://nodejs.org/en/download`);
  process.exitCode = 1;
}

/**
 * Keeps files of the bundle with the functions that have run, compiled. Node's own compile cache would keep a file as it is before
 * it has run: without its functions, which every start would compile anew.
 */
function keepCompiled() {
  const caches = cachesOf();
  if (caches === undefined) return;
  const folder = join(caches, `${build}-${process.version}-${process.arch}`);
  const loaded = new Map();
  const missing = new Set();
  const plain = require.extensions[".js"];
  require.extensions[".cjs"] = (module, file) => {
    const name = basename(file);
    if (dirname(file) !== __dirname || name === "import.cjs") return plain(module, file);
    const kept = readWhole(join(folder, name));
    const script = asAtStart(() => new vm.Script(wrapped(file), { filename: file, cachedData: kept }));
    if (kept) free(kept);
    loaded.set(name, script);
    // Flags of V8 that all of a run has are told by its first file; later, the grammar may be at work (permission/shell/read).
    if (kept === undefined || (script.cachedDataRejected && loaded.size === 1)) keepLater(name);
    script.runInThisContext()(module.exports, (id) => module.require(id), module, file, __dirname);
  };

  function keepLater(name) {
    if (missing.size === 0) {
      process.once("exit", keep);
      setTimeout(keep, 60_000).unref(); // a process that is killed has no exit, and one that runs for long none soon
    }
    missing.add(name);
  }

  /** Writes what is missing, after a minute or, with an exit code, at the end of the process. */
  function keep(exitCode) {
    process.removeListener("exit", keep);
    if (exitCode !== undefined) setFlags("--wasm-tier-up", "--wasm-dynamic-tiering"); // the grammar may be loading, under flags of its own
    // A file that was missing tells that this run does something new, so all files may have new functions. After a while V8 forgets
    // functions that no longer run: what is kept then would lack those of a start.
    const names = process.uptime() < 90 ? loaded.keys() : missing;
    try {
      if (!isOwn(fs.statSync(dirname(caches)))) return;
      if (fs.mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) removeOld(caches);
      asAtStart(() => {
        for (const name of names) keepWhole(join(folder, name), loaded.get(name).createCachedData());
      });
    } catch {
      // Without a writable folder Sage only starts slower.
    }
    missing.clear();
  }
}

/**
 * Folder of compiled code, in that of Sage's state: no command may write there, confined or not, whatever the person has allowed.
 * Undefined where Sage's folder is unknown, or may have come with a repository.
 */
function cachesOf() {
  try {
    const home = process.env.SAGE_HOME ?? join(homedir(), ".sage");
    const isBelow = process.env.SAGE_HOME !== undefined && !/^\.\.(?:[/\\]|$)/.test(relative(process.cwd(), home));
    return isAbsolute(home) && !isBelow ? join(home, "compiled") : undefined;
  } catch {
    return undefined; // nobody's home, or a working directory that is gone
  }
}

/**
 * Functions that every step calls once are optimised in the same step, some hundreds of them at once. V8 keeps what each compilation
 * has taken until the last one is done, 30 MB in all. Lean, each gives it back when its code is there. Not sooner than at work:
 * built-in modules that come after it are compiled from their source.
 */
function becomeLeanAtWork(lookMs) {
  setTimeout(() => {
    const { user, system } = process.cpuUsage();
    if (user + system < AT_WORK_US) return becomeLeanAtWork(Math.min(2 * lookMs, 60_000));
    isLean = true;
    setFlags("--no-maglev-destroy-on-background");
  }, lookMs).unref();
}

/** V8 takes compiled code only under the flags under which it was made: those of a start. */
function asAtStart(work) {
  if (isLean) setFlags("--maglev-destroy-on-background");
  try {
    return work();
  } finally {
    if (isLean) setFlags("--no-maglev-destroy-on-background");
  }
}

function setFlags(...flags) {
  const { setFlagsFromString } = require("node:v8");
  for (const flag of flags) setFlagsFromString(flag);
}

/** Source of a file, wrapped as Node does it. Files of the bundle are ASCII. */
function wrapped(file) {
  const bytes = fs.readFileSync(file);
  const source = bytes.latin1Slice();
  free(bytes);
  return `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
}

/** Frees a buffer at once: the next collection may be far. Small buffers share their memory with others, and stay. */
function free({ buffer, length }) {
  if (length > Buffer.poolSize) buffer.transfer(0);
}

/** Code that was kept. Undefined where there is none, or not all of it (V8 would not notice, and die of it), or somebody else could have written it. */
function readWhole(file) {
  let from;
  try {
    from = fs.openSync(file);
    if (!isOwn(fs.fstatSync(from))) return undefined;
    const bytes = fs.readFileSync(from);
    const code = bytes.subarray(DIGEST_BYTES);
    return digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (from !== undefined) fs.closeSync(from);
  }
}

function keepWhole(file, code) {
  const written = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(written, Buffer.concat([digestOf(code), code]), { mode: 0o600 });
    fs.renameSync(written, file);
  } catch (error) {
    fs.rmSync(written, { force: true }); // half of it, on a full disk
    throw error;
  }
}

/** True when only the person who runs Sage can have written it; `sudo` may leave them the home of somebody else. */
function isOwn({ uid, mode }) {
  return process.geteuid === undefined || (uid === process.geteuid() && (mode & 0o022) === 0);
}

function digestOf(code) {
  return crypto.hash("sha256", code, "buffer");
}

/** Removes code of other builds that was not written for a month. */
function removeOld(caches) {
  const month = 30 * 24 * 60 * 60_000;
  for (const name of fs.readdirSync(caches)) {
    const path = join(caches, name);
    if (Date.now() - fs.statSync(path).mtimeMs > month) fs.rmSync(path, { recursive: true, force: true });
  }
}
