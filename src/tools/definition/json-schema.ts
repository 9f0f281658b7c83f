import { createRequire } from "node:module";
import { Schema, type Check, type JsonSchema } from "../../base/schema.ts";

/** A schema of zod's, in as much of its shape as is read here. Before 4.2 it could not tell its JSON Schema itself. */
type Foreign = { toJSONSchema?(options: { io: "input" }): JsonSchema };

/** The input of a tool as a model is told of it. Throws for a schema that cannot be told. */
export function jsonSchemaOf(schema: Check): JsonSchema {
  if (schema instanceof Schema) return schema.json();
  const told =
    (schema as Foreign).toJSONSchema?.({ io: "input" }) ?? zod().toJSONSchema(schema as never, { io: "input" });
  const { $schema: _, ...json } = told;
  return json;
}

/** At once, since nobody can wait here; in the bundle the file has another name. */
function zod(): typeof import("./zod.ts").z {
  const file = import.meta.url.endsWith(".ts") ? "./zod.ts" : "./zod.cjs";
  return (createRequire(import.meta.url)(file) as typeof import("./zod.ts")).z;
}
