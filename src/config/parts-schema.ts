import * as z from "../protocol/z.ts";
import { namePattern } from "../protocol/name.ts";
import type { Check } from "../protocol/schema.ts";
import { wants } from "../protocol/wants.ts";
import { jsonSchemaOf } from "../tools/json-schema.ts";

const code = wants("function", (value) => typeof value === "function");
const inputSchema = wants("schema", (value) => {
  try {
    return jsonSchemaOf(value as Check)["type"] === "object";
  } catch {
    return false;
  }
});
const text = z.string().min(1);

/** Tools as embedders and modules write them. */
export const toolsSchema = z.array(
  z.object({
    name: z.string().regex(/^(?!mcp__)[A-Za-z][\w-]{0,63}$/, "tool-name"),
    description: text,
    inputSchema,
    effect: z.enum(["reads", "writes", "waits"]),
    execute: code,
    checkPermissions: code.optional(),
  }),
);

/** Subagents as embedders and modules write them. */
export const subagentsSchema = z.array(
  z.object({
    name: z.string().regex(namePattern, "file-name"),
    type: z.enum(["explore", "plan", "execute", "generalPurpose", "codeReview", "custom"]),
    description: text,
    prompt: text,
    toolAccess: z.union([z.enum(["inherited", "all"]), z.strictObject({ restricted: z.array(z.string()) })]),
    workingDirectory: z.union([z.enum(["inherited", "processCwd"]), z.strictObject({ explicit: text })]),
    ask: z.literal("root").optional(),
    maxSteps: z.number().int().positive().optional(),
  }),
);
