/** A place in a value that does not fit its schema, as zod reports it and our own schemas do. */
export type Issue = {
  code: string;
  path: readonly PropertyKey[];
  message: string;
  expected?: unknown;
  values?: readonly unknown[];
  origin?: unknown;
  minimum?: unknown;
  maximum?: unknown;
  inclusive?: boolean;
  keys?: readonly string[];
  format?: unknown;
  pattern?: unknown;
  params?: { why?: unknown };
  issues?: readonly Issue[];
  errors?: readonly (readonly Issue[])[];
};

/** All of an issue but its path, which those above add, and its message, which follows from the rest. */
export type Finding = Omit<Issue, "path" | "message"> & { path?: readonly PropertyKey[]; message?: string };

/** `value` is the one that does not fit. */
export function issueOf(finding: Finding, value: unknown): Issue {
  return { ...finding, path: finding.path ?? [], message: finding.message ?? messageFor(finding, value) };
}

/** The value has the wrong type altogether: further checks would only add noise. */
export function isFatal({ code }: Issue): boolean {
  return !["too_small", "too_big", "invalid_format", "custom", "unrecognized_keys"].includes(code);
}

/** The issues as lines of text, those of the whole value first. */
export function listIssues({ issues }: { issues: readonly Issue[] }): string {
  return issues
    .toSorted((issue, other) => issue.path.length - other.path.length)
    .map(({ path, message }) => (path.length === 0 ? `✖ ${message}` : `✖ ${message}\n  → at ${pathText(path)}`))
    .join("\n");
}

/** Such as `permissions.deny[0]`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, n) => {
      if (typeof key === "number") return `[${key}]`;
      return /^[\w$-]+$/.test(String(key)) ? `${n === 0 ? "" : "."}${String(key)}` : `[${JSON.stringify(String(key))}]`;
    })
    .join("");
}

export function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function messageFor({ code, expected, values = [], origin, keys = [], ...more }: Finding, value: unknown): string {
  switch (code) {
    case "invalid_type":
      return `Invalid input: expected ${String(expected)}, received ${receivedKind(value)}`;
    case "invalid_value":
      return values.length === 1
        ? `Invalid input: expected ${JSON.stringify(values[0])}`
        : `Invalid option: expected one of ${values.map((option) => JSON.stringify(option)).join("|")}`;
    case "too_small":
      return `Too small: expected ${String(origin)} ${bound(">", more.inclusive, more.minimum, origin)}`;
    case "too_big":
      return `Too big: expected ${String(origin)} ${bound("<", more.inclusive, more.maximum, origin)}`;
    case "invalid_format":
      return more.format === "regex"
        ? `Invalid string: must match pattern ${String(more.pattern)}`
        : `Invalid ${more.format === "url" ? "URL" : `${String(more.format)}-encoded string`}`;
    case "unrecognized_keys":
      return `Unrecognized key${keys.length > 1 ? "s" : ""}: ${keys.map((key) => JSON.stringify(key)).join(", ")}`;
    case "invalid_key":
      return "Invalid key in record";
    default:
      return "Invalid input";
  }
}

function receivedKind(value: unknown): string {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : kindOf(value);
}

function bound(sign: "<" | ">", inclusive: boolean | undefined, limit: unknown, origin: unknown): string {
  const unit = { string: "characters", array: "items" }[String(origin)];
  const told = `${sign}${inclusive ? "=" : ""}${String(limit)}`;
  return unit === undefined ? `to be ${told}` : `to have ${told} ${unit}`;
}
