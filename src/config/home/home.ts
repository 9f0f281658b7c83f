import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { canonicalPath, isInside } from "../../permission/paths/canonical.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { projectRoot } from "../trust/trust.ts";
import { withKeys } from "./keys.ts";
import { readPolicy, underPolicy } from "../settings/policy.ts";
import { readSettings, type Settings } from "../settings/settings.ts";

export type Home = {
  dir: string;
  journal: string;
  settings: string;
  trust: string;
  keys: string;
  anchors: string;
  surfaces: string;
  output: string;
  test?: true;
};

/** The same state with a journal of its own for tests, and anchors of its own. */
export function testHome(home: Home): Home {
  return {
    ...home,
    journal: join(home.dir, "test-journal.db"),
    anchors: join(home.dir, "test-anchors.jsonl"),
    test: true,
  };
}

export function sageHome(env: NodeJS.ProcessEnv, cwd?: string): Home {
  const person = personHome(); // also with a SAGE_HOME: rules and trust know what is the person's by it
  const dir = env["SAGE_HOME"] ?? join(person, ".sage");
  if (!isAbsolute(dir)) throw new SageError("config-invalid", reason("home-relative", { given: dir }));
  // Undefined where it was removed: a daemon continues.
  const workspace = env["SAGE_HOME"] === undefined ? undefined : (cwd ?? attempt(() => process.cwd()));
  if (workspace !== undefined && isInWorkspace(dir, workspace))
    throw new SageError("config-invalid", reason("home-inside", { path: dir }));
  try {
    makeFolder(dir);
  } catch (error) {
    throw new SageError("config-invalid", reason("home-impossible", { path: dir }), {
      cause: error,
    });
  }
  return {
    dir,
    journal: join(dir, "journal.db"),
    settings: join(dir, "settings.json"),
    trust: join(dir, "trust.json"),
    keys: join(dir, "keys.json"),
    anchors: join(dir, "anchors.jsonl"),
    surfaces: join(dir, "surfaces.db"),
    output: join(dir, "output"),
  };
}

/** Nobody has one in a container whose user is only a number, or with a HOME that is empty. */
function personHome(): string {
  let found = "";
  try {
    found = homedir();
  } catch {
    // Neither HOME nor the system names one.
  }
  if (!isAbsolute(found)) throw new SageError("config-invalid", reason("home-unknown", { given: found }));
  return found;
}

/** Makes a folder and those above it. Node's own way tries without end where a file system lets nobody make one (/proc, automounts). */
function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && isFolder(dir)) return;
    if (code !== "ENOENT" || isFolder(dirname(dir))) throw error;
    makeFolder(dirname(dir));
    makeFolder(dir);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Clones made by workers: next to Sage's own folder, since everything inside it is protected. */
export function workspacesOf({ dir }: Pick<Home, "dir">): string {
  return join(dirname(dir), "sage-workspaces");
}

/** State inside of the workspace might come with a repository. A folder that holds the person's home holds their state as well. */
function isInWorkspace(dir: string, cwd: string): boolean {
  const root = projectRoot(cwd);
  return isInside(root, canonicalPath(dir, { cwd, home: homedir() }).real) && !isInside(root, homedir());
}

/** The person's own part of every run: where state lives, their settings, and the environment with the keys they kept. */
export type Installation = { home: Home; settings: Settings; env: NodeJS.ProcessEnv };

/** Read once per run: later changes take effect in the next one. */
export function readInstallation(env: NodeJS.ProcessEnv): Installation {
  const home = sageHome(env);
  return { home, settings: underPolicy(readSettings(home.settings), readPolicy()), env: withKeys(env, home) };
}
