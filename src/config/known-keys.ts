import { z } from "zod";

/** The keys that a schema knows at a path; none where the path leads to no object, or to one of several forms. */
export function keysOf(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return keysOf(schema.def.innerType, path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    const shape: Record<PropertyKey, unknown> = schema.shape;
    return key === undefined ? Object.keys(shape) : keysOf(shape[key], rest);
  }
  if (key === undefined) return [];
  if (schema instanceof z.ZodArray) return keysOf(schema.def.element, rest);
  return schema instanceof z.ZodRecord ? keysOf(schema.def.valueType, rest) : [];
}
