import { readdirSync, readFileSync, realpathSync, statSync, type Dirent } from "node:fs";
import { join, sep } from "node:path";
import { attempt } from "../base/attempt.ts";
import { reason, type Reason, reasonOf, SageError } from "../protocol/reasons/reason.ts";

/** A text that somebody wrote for agents: a skill, or the definition of a subagent. */
export type ContentFile = { path: string; text: string };

/** `name`: from its folders and its own name, `group:name`. */
type CommandFile = ContentFile & { name: string };

export type Found = { skills: ContentFile[]; agents: ContentFile[]; commands: CommandFile[]; problems: Reason[] };

const longest = 64 * 1024;

/** Reads `<folder>/skills/<name>/SKILL.md`, `<folder>/agents/<name>.md` and `<folder>/commands/[<group>/]<name>.md`. A file that cannot be read is only reported. */
export function findContent(folders: readonly string[]): Found {
  const found: Found = { skills: [], agents: [], commands: [], problems: [] };
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
    const commands = join(folder, "commands");
    for (const { path, name } of commandsIn(commands)) {
      const files: ContentFile[] = [];
      add(files, [path], folder, found.problems);
      found.commands.push(...files.map((file) => ({ ...file, name })));
    }
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

const DEEPEST = 4;
const MAX_COMMANDS = 500;

/** Files of a folder and of the folders in it, not through links. */
function commandsIn(folder: string, groups: readonly string[] = []): { path: string; name: string }[] {
  if (groups.length > DEEPEST) return [];
  return entries(folder)
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return commandsIn(path, [...groups, entry.name]);
      if (!entry.name.endsWith(".md")) return [];
      return [{ path, name: [...groups, entry.name.slice(0, -".md".length)].join(":") }];
    })
    .slice(0, MAX_COMMANDS);
}

function entries(folder: string): Dirent[] {
  return (
    attempt(() => readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) ?? []
  ); // most folders have none
}

function names(folder: string): string[] {
  return attempt(() => readdirSync(folder).toSorted()) ?? []; // most folders have none
}
