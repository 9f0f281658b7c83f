import { isObject } from "../base/issue.ts";
export type Fields = Readonly<Record<string, unknown>>;

// Messages of another program are read field by field: a field of another form is as good as absent, and no message can end the turn.

/** The object's fields; none when it is something else. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The fields that say something: programs send `null` for what they leave out. */
export function told(value: unknown): Fields {
  return Object.fromEntries(Object.entries(fields(value)).filter(([, inner]) => inner !== null && inner !== undefined));
}
