import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { findContent } from "../context/content.ts";
import { readContent, type Discovered } from "../context/discover.ts";
import { reason } from "../protocol/reasons/reason.ts";
import type { Home } from "./home/home.ts";
import type { Settings } from "./settings/settings.ts";
import type { ProjectTrust } from "./trust/trust.ts";

/** Skills, subagents and commands: the person's own first, then those of a trusted folder, in the version that was trusted. */
export function loadContent(
  home: Home,
  project: ProjectTrust,
  { content = [] }: Pick<Settings, "content">,
): Discovered {
  const further = content.map((name) =>
    name.startsWith("~/") ? join(homedir(), name.slice(2)) : resolve(home.dir, name),
  );
  const own = findContent([home.dir, ...further]);
  for (const path of further)
    if (!existsSync(path)) own.problems.push(reason("file-left-out", { path, problem: reason("folder-missing", {}) }));
  return readContent(project.state === "trusted" ? [own, project.content] : [own]);
}
