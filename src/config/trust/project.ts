import { hash } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname, relative } from "node:path";
import { findContent, type ContentFile, type Found } from "../../context/content.ts";
import { contentFolders } from "../../context/discover.ts";
import { isInside } from "../../permission/paths/canonical.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { scriptsIn } from "../files/hook-files.ts";
import { moduleTexts, readModules, type NamedModule } from "../modules/module-files.ts";
import { readServersFile, type ServersFile } from "../settings/servers.ts";
import {
  commandsOf,
  parseSettings,
  projectFiles,
  projectSchema,
  shared,
  type ProjectSettings,
} from "../settings/settings.ts";
import { readSmallFile } from "../files/small-file.ts";

export type ProjectFile = { path: string; destination: "project" | "local"; text: string; settings: ProjectSettings };

/** Settings, content, scripts, modules and servers that a folder brings. */
export type Project = {
  files: ProjectFile[];
  /** Skills, subagents and commands of the folder. */
  content: Found;
  /** Files that its hooks name. */
  scripts: ContentFile[];
  /** Modules that the settings name, with the files they are made of. */
  modules: NamedModule[];
  /** MCP servers of the folder. */
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
export function serverTexts(servers: ServersFile | undefined): ContentFile[] {
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
  try {
    return !isInside(realpathSync(folder), realpathSync(path));
  } catch {
    return false; // nothing is there, or the reader says why it cannot be read
  }
}
