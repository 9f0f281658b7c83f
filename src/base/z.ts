// Our own schemas, in the words of zod and with its errors: the few of its words that we need. Zod itself takes a sixth of the time to the
// first request, so it is loaded only for those who bring schemas of their own.
import { isFatal, issueOf, kindOf, type Issue } from "./issue.ts";
import { anyOf, Schema, type Infer, type JsonSchema, type Kind, type Step } from "./schema.ts";

export type { Infer as infer, Schema };

export class Text extends Schema<string, "given"> {
  min(minimum: number, message?: string): this {
    return this.with(atLeast("string", minimum, "minLength", message));
  }
  max(maximum: number): this {
    return this.with(atMost("string", maximum, "maxLength"));
  }
  /** `expected` describes the pattern in error messages. */
  regex(pattern: Pick<RegExp, "source" | "flags" | "test">, expected?: string): this {
    const { source, flags } = pattern;
    return this.#format("regex", (text) => pattern.test(text), { pattern: source }, `/${source}/${flags}`, expected);
  }
  url(): this {
    return this.#format("url", (text) => URL.canParse(text), { format: "uri" });
  }
  base64(): this {
    return this.#format("base64", isBase64, { contentEncoding: "base64" });
  }
  trim(): this {
    return this.with({ run: (value) => (value as string).trim() });
  }
  #format(format: string, fits: (text: string) => boolean, json: JsonSchema, pattern?: string, message?: string): this {
    const finding = {
      code: "invalid_format",
      format,
      ...(pattern !== undefined && { pattern }),
      ...(message !== undefined && { message }),
    };
    return this.with({ run: (value, add) => (fits(value as string) || add(finding), value), json });
  }
}

export class Numeric extends Schema<number, "given"> {
  int(): this {
    const { MIN_SAFE_INTEGER: minimum, MAX_SAFE_INTEGER: maximum } = Number;
    return this.with({
      run(value, add) {
        if (!Number.isInteger(value)) add({ code: "invalid_type", expected: "int" });
        else if ((value as number) > maximum) add({ code: "too_big", origin: "int", maximum, inclusive: true });
        else if ((value as number) < minimum) add({ code: "too_small", origin: "int", minimum, inclusive: true });
        return value;
      },
      json: { type: "integer", minimum, maximum },
    });
  }
  min(minimum: number): this {
    const finding = { code: "too_small", origin: "number", minimum, inclusive: true };
    return this.with({
      run: (value, add) => ((value as number) >= minimum || add(finding), value),
      json: { minimum, exclusiveMinimum: undefined },
    });
  }
  gt(minimum: number): this {
    const finding = { code: "too_small", origin: "number", minimum, inclusive: false };
    return this.with({
      run: (value, add) => ((value as number) > minimum || add(finding), value),
      json: { exclusiveMinimum: minimum, minimum: undefined },
    });
  }
  max(maximum: number): this {
    const finding = { code: "too_big", origin: "number", maximum, inclusive: true };
    return this.with({
      run: (value, add) => ((value as number) <= maximum || add(finding), value),
      json: { maximum },
    });
  }
  positive(): this {
    return this.gt(0);
  }
  nonnegative(): this {
    return this.min(0);
  }
}

export class List<T> extends Schema<T[], "given"> {
  min(minimum: number): this {
    return this.with(atLeast("array", minimum, "minItems"));
  }
  max(maximum: number): this {
    return this.with(atMost("array", maximum, "maxItems"));
  }
}

type Shape = Record<string, Schema>;
type Fields<S extends Shape> = {
  [K in keyof S as S[K]["presence"] extends "optional" ? never : K]: Infer<S[K]>;
} & { [K in keyof S as S[K]["presence"] extends "optional" ? K : never]?: Infer<S[K]> };
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectSchema<S extends Shape> = Schema<Flat<Fields<S>>, "given">;

export function object<S extends Shape>(shape: S): ObjectSchema<S> {
  return withKeys(shape, "dropped");
}
export function strictObject<S extends Shape>(shape: S): ObjectSchema<S> {
  return withKeys(shape, "refused");
}
/** An object that may have further keys. */
export function looseObject<S extends Shape>(shape: S): ObjectSchema<S> {
  return withKeys(shape, "kept");
}

function withKeys<S extends Shape>(shape: S, others: "dropped" | "refused" | "kept"): ObjectSchema<S> {
  const keys = Object.keys(shape);
  const read = (value: unknown, issues: Issue[]) => {
    if (kindOf(value) !== "object") return misses("object", value, issues);
    const given = value as Record<string, unknown>;
    const found: Record<string, unknown> = {};
    for (const key of keys) {
      const schema = shape[key] as Schema;
      const before = issues.length;
      if (key in given || schema.presence === "defaulted") found[key] = readAt(schema, key, given[key], issues);
      else if (schema.presence === "given") {
        readAt(schema, key, undefined, issues);
        if (issues.length === before)
          issues.push(issueOf({ code: "invalid_type", expected: "nonoptional", path: [key] }, undefined));
      }
    }
    const more = others === "dropped" ? [] : Object.keys(given).filter((key) => !Object.hasOwn(shape, key));
    if (others === "refused" && more.length > 0) issues.push(issueOf({ code: "unrecognized_keys", keys: more }, value));
    if (others === "kept") for (const key of more) if (key !== "__proto__") found[key] = given[key];
    return found;
  };
  const json = () => {
    const required = keys.filter((key) => shape[key]?.presence === "given");
    return {
      type: "object",
      properties: Object.fromEntries(keys.map((key) => [key, shape[key]?.json()])),
      ...(required.length > 0 && { required }),
      ...(others !== "dropped" && { additionalProperties: others === "kept" ? {} : false }),
    };
  };
  return new Schema(
    { read, json, keys, below: (key) => (Object.hasOwn(shape, key) ? shape[key as string] : undefined) },
    "given",
  );
}

export function string(): Text {
  return new Text(ofType("string"), "given");
}
export function url(): Text {
  return string().url();
}
export function base64(): Text {
  return string().base64();
}
export function number(): Numeric {
  return new Numeric(ofType("number", Number.isFinite), "given");
}
export function int(): Numeric {
  return number().int();
}
export function boolean(): Schema<boolean, "given"> {
  return new Schema(ofType("boolean"), "given");
}
export function unknown(): Schema<unknown, "given"> {
  return new Schema({ read: (value) => value, json: {} }, "given");
}
function absent(): Schema<undefined, "given"> {
  return new Schema({ ...ofType("undefined"), json: {} }, "given");
}
/** A value that a function takes; `why` is the issue of any other. */
export function custom(isFit: (value: unknown) => boolean, { params }: { params: { why: unknown } }) {
  return unknown().superRefine((value, { addIssue }) => {
    if (!isFit(value)) addIssue({ code: "custom", params });
  });
}
export function literal<const T extends string | number | boolean>(value: T): Schema<T, "given"> {
  return new Schema({ ...oneOf([value]), json: { type: typeof value, const: value } }, "given");
}
function enumerated<const T extends string>(values: readonly T[]): Schema<T, "given"> {
  return new Schema({ ...oneOf(values), json: { type: "string", enum: values } }, "given");
}
export { absent as undefined, enumerated as enum };

export function array<T>(entry: Schema<T>): List<T> {
  return new List<T>(
    {
      read(value, issues) {
        if (!Array.isArray(value)) return misses("array", value, issues);
        return value.map((item, n) => readAt(entry, n, item, issues));
      },
      json: () => ({ type: "array", items: entry.json() }),
      below: () => entry,
    },
    "given",
  );
}
export function record<K extends string, T>(key: Schema<K, "given">, entry: Schema<T>): Schema<Record<K, T>, "given"> {
  return new Schema(
    {
      read(value, issues) {
        if (kindOf(value) !== "object" || !isPlain(value as object)) return misses("record", value, issues);
        const read: Record<string, unknown> = {};
        const unknownKeys: string[] = [];
        for (const [name, field] of Object.entries(value as object)) {
          if (name === "__proto__") continue; // would become the prototype of what was read
          const wrong: Issue[] = [];
          key.read(name, wrong);
          if (wrong.some(({ code }) => code === "invalid_value")) unknownKeys.push(name);
          else if (wrong.length > 0)
            issues.push(issueOf({ code: "invalid_key", origin: "record", issues: wrong, path: [name] }, name));
          else read[name] = readAt(entry, name, field, issues);
        }
        if (unknownKeys.length > 0) issues.push(issueOf({ code: "unrecognized_keys", keys: unknownKeys }, value));
        return read;
      },
      json: () => ({ type: "object", propertyNames: key.json(), additionalProperties: entry.json() }),
      get keys() {
        return (key.json()["enum"] as string[] | undefined) ?? [];
      },
      below: () => entry,
    },
    "given",
  );
}
/** The same, where not every possible key has to be there. */
export function partialRecord<K extends string, T>(
  key: Schema<K, "given">,
  entry: Schema<T>,
): Schema<Partial<Record<K, T>>, "given"> {
  return record(key, entry);
}

/** A value that fits one of these; the first that it fits reads it. */
export function union<S extends readonly Schema[]>(forms: S): Schema<Infer<S[number]>, "given"> {
  return new Schema(
    {
      read(value, issues) {
        const tried = forms.map((form) => {
          const wrong: Issue[] = [];
          return { read: form.read(value, wrong), wrong };
        });
        const fits = tried.find(({ wrong }) => wrong.length === 0);
        if (fits) return fits.read;
        const near = tried.filter(({ wrong }) => !wrong.some(isFatal));
        if (near.length === 1) issues.push(...near.flatMap(({ wrong }) => wrong));
        else issues.push(issueOf({ code: "invalid_union", errors: tried.map(({ wrong }) => wrong) }, value));
        return value;
      },
      json: () => anyOf(forms.map((form) => form.json())),
    },
    "given",
  );
}
/** Objects of several forms, told apart by the value of one key. */
export function discriminatedUnion<S extends readonly Schema[]>(
  key: string,
  forms: S,
): Schema<Infer<S[number]>, "given"> {
  return new Schema(
    {
      read(value, issues) {
        if (kindOf(value) !== "object") return misses("object", value, issues);
        const given = (value as Record<string, unknown>)[key];
        const form = forms.find((candidate) => candidate.below(key)?.safeParse(given).success);
        if (form) return form.read(value, issues);
        const names = forms.map((form) => `'${String(form.below(key)?.json()["const"])}'`);
        const message = `Invalid discriminator value. Expected ${names.join(" | ")}`;
        issues.push(issueOf({ code: "invalid_union", errors: [], path: [key], message }, value));
        return value;
      },
      json: () => ({ oneOf: forms.map((form) => form.json()) }),
    },
    "given",
  );
}

function ofType(expected: string, isFit: (value: unknown) => boolean = () => true): Kind {
  return {
    read: (value, issues) => (typeof value === expected && isFit(value) ? value : misses(expected, value, issues)),
    json: { type: expected },
  };
}

function oneOf(values: readonly unknown[]): Pick<Kind, "read"> {
  return {
    read(value, issues) {
      if (!values.includes(value)) issues.push(issueOf({ code: "invalid_value", values }, value));
      return value;
    },
  };
}

function misses(expected: string, value: unknown, issues: Issue[]): unknown {
  issues.push(issueOf({ code: "invalid_type", expected }, value));
  return value;
}

/** Reads a part of a value; its issues are those of the whole then. */
function readAt(schema: Schema, key: PropertyKey, value: unknown, issues: Issue[]): unknown {
  const before = issues.length;
  const read = schema.read(value, issues);
  for (let n = before; n < issues.length; n++) {
    const issue = issues[n] as Issue;
    issues[n] = { ...issue, path: [key, ...issue.path] };
  }
  return read;
}

function atLeast(origin: "string" | "array", minimum: number, name: string, message?: string): Step {
  const finding = { code: "too_small", origin, minimum, inclusive: true, ...(message !== undefined && { message }) };
  const run: Step["run"] = (value, add) => {
    if ((value as { length: number }).length < minimum) add(finding);
    return value;
  };
  return { ofSize: true, run, json: { [name]: minimum } };
}

function atMost(origin: "string" | "array", maximum: number, name: string): Step {
  const finding = { code: "too_big", origin, maximum, inclusive: true };
  const run: Step["run"] = (value, add) => {
    if ((value as { length: number }).length > maximum) add(finding);
    return value;
  };
  return { ofSize: true, run, json: { [name]: maximum } };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.hasOwn(prototype as object, "isPrototypeOf"); // Object.prototype, also of another realm
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[0-9a-zA-Z+/]*={0,2}$/.test(text);
}
