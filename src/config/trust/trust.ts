import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";
import { reason } from "../../protocol/reasons/reason.ts";
import { moduleTexts } from "../modules/module-files.ts";
import { changeFile } from "../files/locked-file.ts";
import { MAX_STATE_BYTES, readSmallFile } from "../files/small-file.ts";
import { readProject, serverTexts, type Project, type ProjectFile } from "./project.ts";
import { SageError } from "../../protocol/reasons/error.ts";

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
