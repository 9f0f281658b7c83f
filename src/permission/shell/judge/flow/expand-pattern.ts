import { readdirSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Disk } from "../../../paths/canonical.ts";
import { namePattern } from "../../../paths/pattern.ts";

const mostFiles = 1_000;

/** The files that a pattern stands for, spelled as the shell would; undefined when there are too many. */
export function expandPattern(pattern: string, base: string, disk: Disk): string[] | undefined {
  let found = [pattern.startsWith("/") ? "/" : ""];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    const next: string[] = [];
    // Brackets stand for anything here: their exact meaning is not worth knowing.
    const fits = part.includes("[") ? () => true : namePattern(part);
    for (const folder of found) {
      if (fits === undefined) next.push(`${folder}${part.replace(/\\(.)/g, "$1")}/`);
      else
        for (const name of list(disk.follow(isAbsolute(folder) ? folder : `${base}/${folder}`)))
          if ((!name.startsWith(".") || /^[.[]/.test(part)) && fits(name)) next.push(`${folder}${name}/`);
      if (next.length > mostFiles) return undefined;
    }
    found = next;
  }
  // With nothing to stand for, a pattern is itself the name.
  if (found.length === 0) return [pattern.replace(/\\(.)/g, "$1")];
  return found.map((path) => (path === "/" ? path : path.slice(0, -1)));
}

function list(folder: string): string[] {
  try {
    // To the shell a folder holds itself and its parent.
    return [".", "..", ...readdirSync(folder)];
  } catch {
    return []; // no folder, or not ours to look into
  }
}
