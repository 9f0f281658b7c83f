import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { reason, reasonOf, SageError, type Reason } from "../protocol/index.ts";

/** A text that somebody wrote for agents: a skill, or the definition of a subagent. */
export type ContentFile = { path: string; text: string };

export type Found = { skills: ContentFile[]; agents: ContentFile[]; problems: Reason[] };

const longest = 64 * 1024;

/** Reads `<folder>/skills/<name>/SKILL.md` and `<folder>/agents/<name>.md`. A file that cannot be read is only reported. */
export function findContent(folders: readonly string[]): Found {
  const found: Found = { skills: [], agents: [], problems: [] };
  for (const folder of folders) {
    const skills = names(join(folder, "skills")).map((name) => join(folder, "skills", name, "SKILL.md"));
    const agents = names(join(folder, "agents")).filter((name) => name.endsWith(".md"));
    add(found.skills, skills, folder, found.problems);
    add(
      found.agents,
      agents.map((name) => join(folder, "agents", name)),
      folder,
      found.problems,
    );
  }
  return found;
}

function add(files: ContentFile[], paths: readonly string[], folder: string, problems: Reason[]): void {
  for (const path of paths) {
    try {
      const text = read(path, folder);
      if (text !== undefined) files.push({ path, text });
    } catch (error) {
      problems.push(reason("file-left-out", { path, problem: reasonOf(error) }));
    }
  }
}

function read(path: string, folder: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile()) throw unfit(reason("not-regular", {}));
  if (!realpathSync(path).startsWith(realpathSync(folder) + sep)) throw unfit(reason("link-leaves", { folder }));
  if (stats.size > longest) throw unfit(reason("larger-than", { limitKb: longest / 1024 }));
  return readFileSync(path, "utf8");
}

/** Thrown and caught within this room: the file is left out, and this says why. */
export function unfit(problem: Reason): SageError {
  return new SageError("config-invalid", problem);
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // most folders have none
  }
}
