import { reasonFrom, type Reason } from "../../protocol/reasons/reason.ts";

/** A path inside the session's folder as a person there writes it; any other as it is. */
export function near(path: string, cwd: string | undefined): string {
  if (cwd === undefined || cwd === "") return path;
  if (path === cwd) return ".";
  const inside = path.startsWith(cwd) && /[/\\]/.test(path[cwd.length] ?? "");
  return inside ? path.slice(cwd.length + 1) : path;
}

/** The same for every path among a reason's arguments. */
export function nearReason(stored: Reason | string, cwd: string | undefined): Reason {
  const shortened = (value: unknown): unknown => {
    if (typeof value === "string") return near(value, cwd);
    if (Array.isArray(value)) return value.map(shortened);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
  };
  const reason = reasonFrom(stored);
  return reason.code === "said" ? reason : (shortened(reason) as Reason);
}
