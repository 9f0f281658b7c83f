import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse, relative } from "node:path";
import { hash } from "node:crypto";
import { attempt } from "../../base/attempt.ts";
import { type Reason, reason, SageError } from "../../protocol/reasons/reason.ts";
import { type NamedModule, moduleTexts, readModules } from "../modules/module-files.ts";
import { changeFile } from "../files/locked-file.ts";
import { MAX_STATE_BYTES, readSmallFile } from "../files/small-file.ts";
import { type ContentFile, type Found, findContent } from "../../context/content.ts";
import { contentFolders } from "../../context/discover.ts";
import { isInside } from "../../permission/paths/canonical.ts";
import { scriptsIn } from "../files/hook-files.ts";
import { type ServersFile, readServersFile } from "../settings/servers.ts";
import type { ProjectSettings } from "../settings/settings.ts";
import { commandsOf, parseSettings, projectFiles, projectSchema, shared } from "../settings/settings.ts";

type Trusted = Record<string, { digest: string; at: number; files: Record<string, string> }>;

export type ProjectTrust = Project & {
  /** The repository's root, or the folder itself, by its real path. */
  root: string;
  state: "nothing-to-trust" | "trusted" | "untrusted" | "changed";
  /** The files as they were when they were trusted, for showing the difference. */
  before: Record<string, string>;
};

/** Do a folder's own settings count? Only while they are, to the letter, what the person trusted. */
export function projectTrust(trustFile: string, cwd: string): ProjectTrust {
  const root = projectRoot(cwd);
  // In the home folder the project's files would be the person's own: those need no trust.
  const own = dirname(trustFile) === join(root, ".sage");
  const project = own ? nothing : readProject(root);
  const before = readTrusted(trustFile)[root];
  const { skills, agents, commands } = project.content;
  const state =
    project.files.every(({ settings }) => isEmpty(settings)) &&
    skills.length + agents.length + commands.length + serverTexts(project.servers).length === 0
      ? "nothing-to-trust"
      : before === undefined
        ? "untrusted"
        : before.digest === project.digest
          ? "trusted"
          : "changed";
  return { root, ...project, state, before: before?.files ?? {} };
}

export function trust(
  trustFile: string,
  { root, digest, files, content, scripts, modules, servers }: Omit<ProjectTrust, "state" | "ignored" | "before">,
): void {
  if (!mayBeTrusted(root)) throw new SageError("config-invalid", reason("folder-too-wide", { folder: root }));
  changeTrusted(trustFile, (all) => {
    const told = [
      ...files,
      ...content.skills,
      ...content.agents,
      ...content.commands,
      ...scripts,
      ...moduleTexts(modules),
      ...serverTexts(servers),
    ];
    const texts = Object.fromEntries(told.map(({ path, text }) => [path, text]));
    return { ...all, [root]: { digest, at: Date.now(), files: texts } };
  });
}

/** A folder that holds many projects is none. */
export function mayBeTrusted(root: string): boolean {
  return root !== realpathSync(homedir()) && root !== parse(root).root;
}

export function revoke(trustFile: string, root: string): boolean {
  let wasTrusted = false;
  changeTrusted(trustFile, ({ [root]: old, [`agents:${root}`]: guests, ...rest }) => {
    wasTrusted = old !== undefined || guests !== undefined;
    return rest;
  });
  return wasTrusted;
}

const nothing: Project = {
  files: [],
  content: { skills: [], agents: [], commands: [], problems: [] },
  scripts: [],
  modules: [],
  servers: undefined,
  ignored: [],
  digest: "",
};

function isEmpty({ permissions, hooks, modules = [] }: ProjectFile["settings"]): boolean {
  return [...Object.values(permissions), ...Object.values(hooks), modules].every((list) => list.length === 0);
}

/** The nearest folder with a repository, so that a nested one is a project of its own; without one, the folder itself. */
export function projectRoot(cwd: string): string {
  const here = realpathSync(cwd);
  for (let dir = here; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".git"))) return dir;
    if (dir === dirname(dir)) return here;
  }
}

export function readTrusted(trustFile: string): Trusted {
  return JSON.parse(readSmallFile(trustFile, MAX_STATE_BYTES) ?? "{}") as Trusted;
}

export function changeTrusted(trustFile: string, edit: (all: Trusted) => Trusted): void {
  changeFile(
    trustFile,
    (text) => `${JSON.stringify(edit(text === "" ? {} : (JSON.parse(text) as Trusted)), undefined, 2)}\n`,
  );
}

type ProjectFile = { path: string; destination: "project" | "local"; text: string; settings: ProjectSettings };

type Project = {
  files: ProjectFile[];
  content: Found;
  scripts: ContentFile[];
  modules: NamedModule[];
  servers: ServersFile | undefined;
  ignored: Reason[];
  digest: string;
};

/** A project's own settings, as found: nothing of them counts before the person trusted the folder. */
export function readProject(root: string): Project {
  const files: ProjectFile[] = [];
  const ignored: Reason[] = [];
  for (const [destination, path] of Object.entries(projectFiles(root)) as ["project" | "local", string][]) {
    const text = readText(path, root);
    if (text === undefined) continue;
    const settings = parseSettings(projectSchema, path, text);
    files.push({ path, destination, text, settings });
    for (const key of Object.keys(JSON.parse(text) as object))
      if (!(key in shared)) ignored.push(reason("in-file", { path, problem: reason("own-settings-only", { key }) }));
    for (const listed of settings.permissions.ask)
      if (typeof listed !== "string" && listed.silence)
        ignored.push(
          reason("in-file", { path, problem: reason("own-settings-only", { key: `${listed.rule}: silence` }) }),
        );
    // A folder's own settings may hide more and switch confinement on; everything else would widen it.
    for (const [key, value] of Object.entries(settings.sandbox ?? {}))
      if (key !== "hidden" && value !== "contain" && value !== undefined)
        ignored.push(reason("in-file", { path, problem: reason("own-settings-only", { key: `sandbox.${key}` }) }));
  }
  const content = findContent(contentFolders(root));
  const scripts = scriptsIn(
    files.flatMap(({ settings }) => commandsOf(settings)),
    root,
  );
  const modules = files.flatMap(({ path, settings }) => readModules(settings.modules, dirname(path), root));
  const servers = readServersFile(root, (path) => readText(path, root));
  ignored.push(...(servers?.problems ?? []));
  const run = [...scripts, ...moduleTexts(modules), ...serverTexts(servers)];
  return {
    files,
    content,
    scripts,
    modules,
    servers,
    ignored,
    digest: projectDigest(root, files, { ...content, run }),
  };
}

/** Trust is bound to what the file says to the letter, and to the files that its commands name. */
function serverTexts(servers: ServersFile | undefined): ContentFile[] {
  return servers && Object.keys(servers.servers).length > 0 ? [servers, ...servers.scripts] : [];
}

/** Binds trust to the meaning of the settings, and to skills, subagents and commands to the letter. */
function projectDigest(
  root: string,
  files: readonly ProjectFile[],
  { skills, agents, commands, run }: Found & { /** Scripts, modules and MCP servers. */ run: readonly ContentFile[] },
): string {
  const settled = files.map(({ destination, settings }) => [destination, settings]);
  const told = [...skills, ...agents, ...commands, ...run].map(({ path, text }) => [relative(root, path), text]);
  return hash("sha256", JSON.stringify([...settled, ...told]));
}

/** Reads a file of the folder; one that leads out of it is refused. */
function readText(path: string, folder: string): string | undefined {
  if (leavesFolder(path, folder)) throw new SageError("config-invalid", reason("file-leads-out", { path }));
  return readSmallFile(path);
}

function leavesFolder(path: string, folder: string): boolean {
  // Nothing is there, or the reader says why it cannot be read.
  return attempt(() => !isInside(realpathSync(folder), realpathSync(path))) ?? false;
}
