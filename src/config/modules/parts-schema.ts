import * as z from "../../base/z.ts";
import { namePattern } from "../../base/name.ts";
import type { Check } from "../../base/schema.ts";
import { reason, type Reason, messageOf } from "../../protocol/reasons/reason.ts";
import { hasMethods, wants } from "../../protocol/reasons/misfit.ts";
import { jsonSchemaOf } from "../../tools/definition/json-schema.ts";

const code = wants("function", (value) => typeof value === "function");
const inputSchema = z.unknown().superRefine((value, { addIssue }) => {
  const why = schemaProblem(value);
  if (why) addIssue({ code: "custom", params: { why } });
});
const text = z.string().min(1);

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

function schemaProblem(schema: unknown): Reason | undefined {
  const noSchema = reason("module-wants", { expected: "schema" });
  try {
    return jsonSchemaOf(schema as Check)["type"] === "object" ? undefined : noSchema;
  } catch (error) {
    // A schema, of a kind that JSON has no word for, such as z.date(): its own message names that kind.
    return hasMethods(schema, "safeParse") ? reason("schema-not-json", { problem: messageOf(error) }) : noSchema;
  }
}
