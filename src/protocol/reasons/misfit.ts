import { closest } from "../../base/name.ts";
import { type Issue, kindOf, pathText } from "../../base/issue.ts";
import { type Misfit, type Reason, type ReasonArgs, reason } from "./reason.ts";
import * as z from "../../base/z.ts";

const most = 20;
/** Letters of a key that is compared with others. */
const longest = 60;

/** A schema's issues as a reason, for the `value` that was checked. `keysOf`: keys that the schema knows at a path. */
export function misfits(
  error: { issues: readonly unknown[] },
  value: unknown,
  keysOf: (path: readonly PropertyKey[]) => readonly string[] = () => [],
): Reason<"misfits"> {
  const found = (error.issues as readonly Issue[]).flatMap((issue) => {
    const known = keysOf(issue.path);
    const meant = (issue.keys ?? []).flatMap((key) => (key.length > longest ? [] : (closest(key, known) ?? [])));
    const help = meant.length > 0 ? { meant } : known.length > 0 ? { known } : {};
    return misfitsOf(issue, [], value).map((misfit) => (misfit.kind === "keys" ? { ...misfit, ...help } : misfit));
  });
  return reason("misfits", { misfits: found.slice(0, most) });
}

function misfitsOf(issue: Issue, above: readonly PropertyKey[], value: unknown): Misfit[] {
  const path = [...above, ...issue.path];
  const at = pathText(path);
  const came = follow(value, path);
  switch (issue.code) {
    case "invalid_type": {
      const expected = [String(issue.expected)];
      return [
        came === undefined ? { at, kind: "missing", expected } : { at, kind: "type", expected, came: kindOf(came) },
      ];
    }
    case "invalid_value": {
      const expected = (issue.values ?? []).map((value) => JSON.stringify(value));
      return [
        came === undefined ? { at, kind: "missing", expected } : { at, kind: "value", expected, came: short(came) },
      ];
    }
    case "too_small":
    case "too_big": {
      const isSmall = issue.code === "too_small";
      const bound = issue.inclusive === false ? (isSmall ? "above" : "below") : isSmall ? "least" : "most";
      const of = issue.origin === "string" ? "string" : typeof came === "number" ? "number" : "list";
      return [{ at, kind: "size", of, bound, limit: Number(isSmall ? issue.minimum : issue.maximum) }];
    }
    case "unrecognized_keys":
      return [{ at, kind: "keys", unknown: issue.keys ?? [] }];
    case "invalid_format":
      if (issue.format !== "regex") return [{ at, kind: "format", expected: String(issue.format) }];
      return issue.message.endsWith(String(issue.pattern))
        ? [{ at, kind: "pattern", pattern: String(issue.pattern) }]
        : [{ at, kind: "format", expected: issue.message }];
    case "invalid_key":
    case "invalid_element":
      return (issue.issues ?? []).flatMap((inner) => misfitsOf(inner, path, value));
    case "invalid_union":
      return unionMisfits(issue.errors ?? [], path, value);
    case "custom":
      return [
        issue.params?.why
          ? { at, kind: "because", why: issue.params.why as Reason }
          : { at, kind: "format", expected: issue.message },
      ];
    default:
      return [{ at, kind: "unfit" }];
  }
}

/** A value of the right type is held against the form of that type that it fits best; any other one against the types there are. */
function unionMisfits(forms: Issue["errors"] & {}, path: readonly PropertyKey[], value: unknown): Misfit[] {
  const at = pathText(path);
  const read = forms.map((issues) => issues.flatMap((issue) => misfitsOf(issue, path, value)));
  const [meant] = read
    .filter((list) => list.every((misfit) => misfit.at !== at || !["type", "missing", "value"].includes(misfit.kind)))
    .toSorted((list, other) => list.length - other.length);
  if (meant && meant.length > 0) return meant;
  const all = read
    .flat()
    .flatMap((misfit) => ("expected" in misfit && Array.isArray(misfit.expected) ? misfit.expected : []));
  const expected = [...new Set(all)];
  const came = follow(value, path);
  if (expected.length === 0) return [{ at, kind: "unfit" }];
  return [came === undefined ? { at, kind: "missing", expected } : { at, kind: "value", expected, came: short(came) }];
}

function follow(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      inner !== null && typeof inner === "object" ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}

/** Scalars as they came, cut; objects and lists by their type. */
function short(value: unknown): string {
  if (value !== null && typeof value === "object") return kindOf(value);
  const text = JSON.stringify(value) ?? kindOf(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** A value of code, which no schema of data describes. */
export const wants = (
  expected: ReasonArgs["module-wants"]["expected"],
  isFit: (value: unknown) => boolean,
): ReturnType<typeof z.custom> => z.custom(isFit, { params: { why: reason("module-wants", { expected }) } });

export function hasMethods(value: unknown, ...names: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
