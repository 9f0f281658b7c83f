#!/usr/bin/env node
// `sage`; the build puts this file beside the bundle. An old Node must be able to read it, and to say so.
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

if (Number.parseInt(process.versions.node, 10) >= 24) {
  // In the person's own folder: the install may be read-only, and in a shared one somebody else could plant code.
  // Without a writable one Sage only starts slower.
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sage"));
  void import("./sage.mjs");
} else {
  console.error(`sage needs Node 24 or newer; this is ${process.version}. See https://nodejs.org/en/download`);
  process.exitCode = 1;
}
