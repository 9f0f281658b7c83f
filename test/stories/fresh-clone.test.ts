import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { thorough } from "../faults/rounds.ts";
import { workspace } from "../support/sage.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** Stands in for npm where packages are to be installed: it takes a moment, and links those that are here. `npm run test:faults` has the real one. */
const linker = `
  const { mkdirSync, readdirSync, symlinkSync } = require("node:fs");
  if (process.argv[2] === "install") process.exit(0); // the first of the two has linked everything
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  const from = ${JSON.stringify(join(root, "node_modules"))};
  mkdirSync("node_modules");
  for (const name of readdirSync(from)) if (name !== ".sage-install") symlinkSync(from + "/" + name, "node_modules/" + name);
`;

test(
  "npm start and npm test at the same time on a fresh clone with an empty home: they install in turns, both work",
  { timeout: 115_000 },
  async () => {
    using here = workspace();
    const clone = here.path("clone");
    await run("git", ["clone", "-q", root, clone]);
    mkdirSync(here.path("home"));
    const { NODE_TEST_CONTEXT: _, SAGE_HOME: __, ...inherited } = process.env;
    const env = { ...inherited, HOME: here.path("home") };
    const options = { cwd: clone, env, maxBuffer: 1 << 26 };
    writeFileSync(here.path("npm.js"), linker);
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const linked = (script: string, ...args: string[]) => {
      const [, ...words] = (scripts[script] ?? "").split(" ");
      return run(process.execPath, [...words, ...args], {
        ...options,
        env: { ...env, npm_execpath: here.path("npm.js") },
      });
    };
    const npm = thorough ? (...args: string[]) => run("npm", args, options) : linked;
    // The checks have been made, or are being made, of the very same files.
    const [start, tests] = await Promise.all([
      npm("start"),
      npm("test", ...(thorough ? ["--"] : []), "--no-check", "test/protocol/key.test.ts"),
    ]);
    assert.match(start.stdout, /demo answers itself/);
    assert.match(tests.stdout, /# fail 0/);
    const installs = `${start.stderr}${tests.stderr}`.match(/installing dependencies/g);
    assert.equal(installs?.length, 1);
    const added = tests.stderr.match(/installing what the page and the tests need/g) ?? [];
    assert.ok(added.length <= 1); // none where the tests came first
    assert.doesNotMatch(start.stderr, /installing what the page/);
    const stamp = readFileSync(join(clone, "node_modules/.sage-install"), "utf8");
    assert.doesNotMatch(stamp, /agent/, "everything is there for the next ones");
  },
);
