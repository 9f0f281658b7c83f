#!/usr/bin/env node
// What `sage` starts; the build puts it beside the bundle. Plain enough for an old Node to read up to the message.
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`sage needs Node 24 or newer; this is ${process.version}. See https://nodejs.org/en/download`);
  process.exit(1);
}
// In the person's own folder: the install may be read-only, and in a shared one somebody else could plant code.
// Without a writable one Sage only starts slower.
module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sage"));
await import("./sage.mjs");
