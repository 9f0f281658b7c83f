import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { messageOf } from "../protocol/index.ts";

/** A text that somebody wrote for agents: a skill, or the definition of a subagent. */
export type ContentFile = { path: string; text: string };

export type Found = { skills: ContentFile[]; agents: ContentFile[]; problems: string[] };

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

function add(files: ContentFile[], paths: readonly string[], folder: string, problems: string[]): void {
  for (const path of paths) {
    try {
      const text = read(path, folder);
      if (text !== undefined) files.push({ path, text });
    } catch (error) {
      problems.push(`${path} is left out: ${messageOf(error)}`);
    }
  }
}

function read(path: string, folder: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile()) throw new Error("it is not a regular file");
  if (!realpathSync(path).startsWith(realpathSync(folder) + sep)) throw new Error(`it is a link that leaves ${folder}`);
  if (stats.size > longest) throw new Error(`it is larger than ${longest / 1024} KB`);
  return readFileSync(path, "utf8");
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // most folders have none
  }
}
