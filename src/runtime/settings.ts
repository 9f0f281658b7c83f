import { readFileSync } from "node:fs";
import { z } from "zod";
import { SageError, messageOf } from "../protocol/index.ts";

const rules = z.array(z.string()).default([]);

const schema = z.strictObject({
  $schema: z.string().optional(),
  /** provider/name, as for --model. */
  model: z.string().optional(),
  providers: z
    .record(z.string(), z.strictObject({ baseURL: z.url().optional(), apiKeyEnv: z.string().optional() }))
    .default({}),
  permissions: z.strictObject({ deny: rules, ask: rules, allow: rules }).prefault({}),
});

export type Settings = z.infer<typeof schema>;

/** The person's own settings. A file that cannot be understood stops the start: a deny rule in it must not be lost silently. */
export function readSettings(path: string): Settings {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return schema.parse({});
    throw new SageError("config-invalid", `${path} cannot be read: ${messageOf(error)}`);
  }
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new SageError("config-invalid", `${path} should be JSON: ${messageOf(error)}`);
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new SageError("config-invalid", `${path} does not fit:\n${z.prettifyError(parsed.error)}`);
}
