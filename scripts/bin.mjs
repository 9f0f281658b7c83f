#!/usr/bin/env node
// What `sage` starts; the build puts it beside the bundle. Plain enough for an old Node to read.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (Number.parseInt(process.versions.node, 10) >= 24) {
  // In the person's own folder: the install may be read-only, and in a shared one somebody else could plant code.
  // Without a writable one Sage only starts slower.
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sage"));
  await import("./sage.mjs");
} else {
  const node = packagedNode();
  if (!node) {
    console.error(`sage needs Node 24 or newer; this is ${process.version}. See https://nodejs.org/en/download`);
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  process.on("SIGINT", () => {}); // a terminal signals the whole group; the child decides what it means
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/** The Node that comes with Sage where npm has a package of it for this machine. */
function packagedNode() {
  const windows = process.platform === "win32";
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const program = join("node_modules", name, windows ? "bin/node.exe" : "bin/node");
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    if (existsSync(join(dir, program))) return join(dir, program);
    if (dir === dirname(dir)) return undefined;
  }
}
