import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { Access, Reach } from "./rules/access.ts";
import type { RuleBook } from "./rules/book.ts";
import { canonicalPath, pathTrouble, troubleWithPath, type CanonicalPath, type Disk } from "./paths/canonical.ts";
import { unusable, type Finding } from "./finding.ts";

type Where = { cwd: string; home: string; reach: Reach; disk: Disk; book: RuleBook };

/** Judges Read, Grep, Glob, Edit and Write by the paths that they touch. */
export function judgeFiles(tool: string, input: Record<string, unknown>, where: Where): Finding {
  const { reach, disk, book } = where;
  const writes = tool === "Write" || tool === "Edit";
  const searches = tool === "Grep" || tool === "Glob";
  const given = searches ? (input["path"] ?? ".") : input["file_path"];
  if (typeof given !== "string") return unusable(book, tool, reason("path-not-text", {}));
  const trouble = troubleWithPath(given);
  if (trouble) return unusable(book, tool, trouble.reason);
  let paths: CanonicalPath[];
  try {
    paths = [given, ...(tool === "Glob" ? leadOf(input["pattern"], given) : [])].map((path) =>
      canonicalPath(path, where, disk),
    );
  } catch (error) {
    return unusable(book, tool, pathTrouble(error));
  }
  const views = paths.map((path) => (writes ? reach.write(path, { tool }) : reach.read(path, tool)));
  const [deny, ask] = [views.find((view) => view.deny)?.deny, views.find((view) => view.ask)?.ask];
  const mustAsk = views[0]?.mustAsk;
  const { real } = paths[0]!;
  const granted = views.map((view) => view.allow);
  const by = granted.filter((grant) => typeof grant === "object");
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    ...(writes && paths.every((path) => reach.inside(path)) && !views.some(({ later }) => later) && { edits: true }),
    ...(granted.every((grant) => grant !== undefined) && by.length > 0 && { allow: [...new Set(by)] }),
    view: mustAsk
      ? { behavior: "ask", hard: true, reason: mustAsk }
      : granted.every((grant) => grant === true)
        ? { behavior: "allow", reason: reason("only-reads", {}) }
        : { behavior: "passthrough", reason: openReason(views, writes, real) },
  };
}

function openReason(views: readonly Access[], writes: boolean, path: string): Reason {
  if (!writes) return reason("reads-outside", { path });
  return reason(views.some(({ later }) => later) ? "runs-later" : "no-rule-write", { path });
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
