import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { workspace } from "../support/sage.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

test(
  "npm start and npm test at the same time on a fresh clone with an empty home: one installs, both work",
  { timeout: 115_000 },
  async () => {
    using here = workspace();
    const clone = here.path("clone");
    await run("git", ["clone", "-q", root, clone]);
    mkdirSync(here.path("home"));
    const { NODE_TEST_CONTEXT: _, SAGE_HOME: __, ...inherited } = process.env;
    const env = { ...inherited, HOME: here.path("home") };
    const npm = (...args: string[]) => run("npm", args, { cwd: clone, env, maxBuffer: 1 << 26 });
    // The checks have been made, or are being made, of the very same files.
    const [start, tests] = await Promise.all([npm("start"), npm("test", "--", "--no-check", "test/doors.test.ts")]);
    assert.match(start.stdout, /demo answers itself/);
    assert.match(tests.stdout, /# fail 0/);
    const installs = `${start.stderr}${tests.stderr}`.match(/installing dependencies/g);
    assert.equal(installs?.length, 1);
  },
);
