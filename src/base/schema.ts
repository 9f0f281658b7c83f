import { isFatal, issueOf, listIssues, type Finding, type Issue } from "./issue.ts";

/** A schema as somebody uses it who only has values checked: one of ours, or one of zod's. */
export type Check<T = unknown> = {
  safeParse(value: unknown): Checked<T>;
  /** The same, where a value that does not fit is thrown. */
  parse(value: unknown): T;
};

/** The value as its schema reads it, or everything that does not fit. */
export type Checked<T, I = unknown> =
  | { success: true; data: T; error?: undefined }
  | { success: false; data?: undefined; error: { issues: readonly I[] } };

export type JsonSchema = Record<string, unknown>;

/** The type of the values that a schema gives. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

/** Objects may lack the key with this schema: `optional` leaves it out then, `defaulted` puts a value there. */
type Presence = "given" | "optional" | "defaulted";

export type Kind = {
  read(value: unknown, issues: Issue[]): unknown;
  json: JsonSchema | (() => JsonSchema);
  /** The wrapped schema, which answers everything that the wrapper does not. */
  inner?: Schema;
  /** Keys that an object knows. */
  keys?: readonly string[];
  below?(key: PropertyKey): Schema | undefined;
};

export type Step = {
  /** Also looks at lists with wrong entries. */
  ofSize?: true;
  run(value: unknown, add: (finding: Finding) => void): unknown;
  json?: JsonSchema;
};

type Refinement = { addIssue(issue: string | { code: "custom"; params: { why: unknown } }): void };

/** Classes, because a schema is written as a chain of calls, and hundreds are made at the start: methods on a prototype cost nothing. */
export class Schema<T = unknown, P extends Presence = Presence> {
  /** Only for the compiler. */
  declare readonly type: T;
  readonly presence: P;
  protected readonly kind: Kind;
  protected readonly steps: readonly Step[] = [];
  readonly #description: string | undefined;

  constructor(kind: Kind, presence: P, more: { steps?: readonly Step[]; description?: string | undefined } = {}) {
    this.kind = kind;
    this.presence = presence;
    this.steps = more.steps ?? [];
    this.#description = more.description;
  }

  safeParse(value: unknown): Checked<T, Issue> {
    const issues: Issue[] = [];
    const data = this.read(value, issues) as T;
    return issues.length === 0 ? { success: true, data } : { success: false, error: { issues } };
  }
  /** Throws with all issues in its message. */
  parse(value: unknown): T {
    const { success, data, error } = this.safeParse(value);
    if (success) return data;
    throw new Error(listIssues(error));
  }
  read(value: unknown, issues: Issue[]): unknown {
    const before = issues.length;
    let read = this.kind.read(value, issues);
    const add = (finding: Finding) => void issues.push(issueOf(finding, read));
    for (const step of this.steps) {
      const fatal = issues.length === before ? [] : issues.slice(before).filter(isFatal);
      if (fatal.some(({ path }) => path.length === 0)) break;
      if (fatal.length === 0 || step.ofSize) read = step.run(read, add);
    }
    return read;
  }

  json(): JsonSchema {
    const { json, inner } = this.kind;
    const own = { ...(typeof json === "function" ? json() : json) };
    for (const step of this.steps) Object.assign(own, step.json);
    if (this.#description !== undefined) own["description"] = this.#description;
    const whole = inner ? { ...own, ...inner.json(), ...own } : own;
    return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  }
  /** The keys that it knows at a path; none where the path leads to no object, or to one of several forms. */
  keysAt([key, ...rest]: readonly PropertyKey[]): readonly string[] {
    const { inner, keys, below } = this.kind;
    if (inner) return inner.keysAt(key === undefined ? [] : [key, ...rest]);
    return key === undefined ? (keys ?? []) : (below?.(key)?.keysAt(rest) ?? []);
  }
  below(key: PropertyKey): Schema | undefined {
    return this.kind.below?.(key);
  }

  describe(description: string): this {
    return this.#made({ description });
  }
  refine(isFit: (value: T) => boolean, message: string): this {
    return this.superRefine((value, { addIssue }) => {
      if (!isFit(value)) addIssue(message);
    });
  }
  superRefine(look: (value: T, refinement: Refinement) => void): this {
    return this.with({
      run(value, add) {
        const addIssue: Refinement["addIssue"] = (issue) =>
          add(typeof issue === "string" ? { code: "custom", message: issue } : issue);
        look(value as T, { addIssue });
        return value;
      },
    });
  }
  transform<Next>(change: (value: T) => Next): Schema<Next, P> {
    const read = (value: unknown, issues: Issue[]) => {
      const before = issues.length;
      const found = this.read(value, issues);
      return issues.length > before ? found : change(found as T);
    };
    return new Schema({ read, json: {}, inner: this }, this.presence);
  }
  optional(): Schema<T | undefined, "optional"> {
    const read = (value: unknown, issues: Issue[]) => (value === undefined ? undefined : this.read(value, issues));
    return new Schema({ read, json: {}, inner: this }, "optional");
  }
  nullable(): Schema<T | null, P> {
    const read = (value: unknown, issues: Issue[]) => (value === null ? null : this.read(value, issues));
    return new Schema({ read, json: () => anyOf([this.json(), { type: "null" }]) }, this.presence);
  }
  /** The value in the place of one that is missing. */
  default(value: Exclude<T, undefined>): Schema<Exclude<T, undefined>, "defaulted"> {
    const read = (given: unknown, issues: Issue[]) => (given === undefined ? copied(value) : this.read(given, issues));
    return new Schema({ read, json: { default: value }, inner: this }, "defaulted");
  }
  /** The input in the place of one that is missing: it is read as if it had come. */
  prefault(input: unknown): Schema<Exclude<T, undefined>, "defaulted"> {
    const read = (given: unknown, issues: Issue[]) => this.read(given === undefined ? input : given, issues);
    return new Schema({ read, json: { default: input }, inner: this }, "defaulted");
  }

  protected with(step: Step): this {
    return this.#made({ steps: [...this.steps, step] });
  }
  #made(change: { steps?: readonly Step[]; description?: string }): this {
    const more = { steps: this.steps, description: this.#description, ...change };
    return new (this.constructor as new (...args: ConstructorParameters<typeof Schema>) => this)(
      this.kind,
      this.presence,
      more,
    );
  }
}

/** JSON Schema of values that fit one of these. */
export function anyOf(forms: readonly JsonSchema[]): JsonSchema {
  const areBare = forms.every((json) => Object.keys(json).join() === "type");
  return areBare ? { type: [...new Set(forms.flatMap(({ type }) => type))] } : { anyOf: forms };
}

/** Copies a default: it must not be changed through a value that was read earlier. */
function copied<T>(value: T): T {
  if (Array.isArray(value)) return [...value] as T;
  return value !== null && typeof value === "object" ? { ...value } : value;
}
