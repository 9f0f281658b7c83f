import { z } from "zod";
import { SageError, type InputResponse } from "../protocol/index.ts";

const frame = { requestId: z.string() };
const rule = z.strictObject({
  rule: z.string(),
  behavior: z.enum(["allow", "deny", "ask"]),
  destination: z.enum(["session", "local", "project", "user"]),
});
const answers = z.record(z.string(), z.strictObject({ selected: z.array(z.string()), other: z.string().optional() }));

const schema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("answers"),
    ...frame,
    answers,
    remark: z.string().optional(),
    partial: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("granted"),
    ...frame,
    input: z.record(z.string(), z.unknown()).optional(),
    comment: z.string().optional(),
    rules: z.array(rule).optional(),
  }),
  z.strictObject({ type: z.literal("denied"), ...frame, reason: z.string().optional() }),
  z.strictObject({ type: z.literal("text"), ...frame, text: z.string() }),
  z.strictObject({ type: z.literal("cancelled"), ...frame, reason: z.string().optional() }),
]);

export function parseResponse(body: unknown): InputResponse {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data as InputResponse;
  throw new SageError("request-invalid", `not a response: ${z.prettifyError(parsed.error)}`);
}
