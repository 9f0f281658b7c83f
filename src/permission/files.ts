import { messageOf } from "../protocol/index.ts";
import type { Reach } from "./rules/access.ts";
import type { RuleBook } from "./rules/book.ts";
import { canonicalPath, troubleWithPath } from "./paths/canonical.ts";
import type { CanonicalPath, Disk } from "./paths/canonical.ts";
import { unusable } from "./finding.ts";
import type { Finding } from "./finding.ts";

type Where = { cwd: string; home: string; reach: Reach; disk: Disk; book: RuleBook };

/** Read, Grep, Glob, Edit and Write: what they do to which path. */
export function judgeFiles(tool: string, input: Record<string, unknown>, where: Where): Finding {
  const { reach, disk, book } = where;
  const writes = tool === "Write" || tool === "Edit";
  const searches = tool === "Grep" || tool === "Glob";
  const given = searches ? (input["path"] ?? ".") : input["file_path"];
  if (typeof given !== "string") return unusable(book, tool, "its path is not a text");
  const trouble = troubleWithPath(given);
  if (trouble !== undefined) return unusable(book, tool, trouble);
  let paths: CanonicalPath[];
  try {
    paths = [given, ...(tool === "Glob" ? leadOf(input["pattern"], given) : [])].map((path) =>
      canonicalPath(path, where, disk),
    );
  } catch (error) {
    return unusable(book, tool, messageOf(error));
  }
  const views = paths.map((path) => (writes ? reach.write(path, tool) : reach.read(path, tool)));
  const [deny, ask, hard] = [
    views.find((view) => view.deny)?.deny,
    views.find((view) => view.ask)?.ask,
    views[0]?.hard,
  ];
  const { real } = paths[0]!;
  const granted = views.map((view) => view.allow);
  const by = granted.filter((one) => typeof one === "object");
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    ...(granted.every((one) => one !== undefined) && by.length > 0 && { allow: [...new Set(by)] }),
    view:
      hard !== undefined
        ? { behavior: "ask", hard: true, reason: hard }
        : granted.every((one) => one === true)
          ? { behavior: "allow", reason: "reads inside the workspace" }
          : { behavior: "passthrough", reason: writes ? `writes ${real}` : `${real} is outside the workspace` },
  };
}

/** The folder that a pattern itself begins with: `../x/*` looks elsewhere than in the folder it is given. */
function leadOf(pattern: unknown, folder: string): string[] {
  if (typeof pattern !== "string" || !(pattern.startsWith("/") || pattern.split("/").includes(".."))) return [];
  const names = pattern.split("/");
  const magic = names.findIndex((name) => /[*?[{]/.test(name));
  const lead = names.slice(0, magic < 0 ? names.length : magic).join("/");
  // Dots after a star may lead anywhere.
  if (magic >= 0 && names.slice(magic).includes("..")) return ["/"];
  return [lead.startsWith("/") || lead === "" ? lead || "/" : `${folder}/${lead}`];
}
