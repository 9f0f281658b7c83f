import { SessionLog } from "../../journal/session/session.ts";
import { kindOf } from "../../base/issue.ts";
import { efforts, type ExecutionOptions } from "../../protocol/host/options.ts";
import { misfits, hasMethods, wants } from "../../protocol/reasons/misfit.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { LifecycleManager } from "../state/lifecycle.ts";
import type { Execution } from "./execution.ts";
import type { ExecutionStrategy } from "./strategy.ts";
import type { TaskMetadata } from "./task.ts";

type Shape<T> = Record<keyof T, z.Schema>;

/** Refuses what does not fit: an unknown name, a value of another kind. `door` is the name that embedders know. */
export function check(door: string, schema: z.Schema, given: unknown): void {
  const { success, error } = schema.safeParse(given);
  if (success) return;
  const problem = misfits(error, given, (at) => schema.keysAt(at));
  throw new SageError("config-invalid", reason("options-unfit", { door, problem }));
}

/** Makes a schema when it is first needed: whoever checks nothing pays for none. */
function checker(door: string, make: () => z.Schema): (given: unknown) => void {
  let schema: z.Schema | undefined;
  return (given) => check(door, (schema ??= make()), given);
}

const executionOf = checker("execution", () =>
  z.strictObject({
    log: wants("log", (value) => value instanceof SessionLog),
    lifecycle: wants("lifecycle", (value) => value instanceof LifecycleManager).optional(),
    supervised: z.boolean().optional(),
    wakes: z.boolean().optional(),
  }),
);
const strategyOf = checker("executeWithStrategy", () =>
  z.strictObject({ strategy: wants("strategy", (value) => hasMethods(value, "execute")) }),
);
const taskOf = checker("executeTask", () =>
  z.strictObject({
    description: z.unknown(), // an empty one is refused like an empty message
    session: z.string().optional(),
    id: text().optional(),
    limits: z
      .strictObject({
        promptTimeout: milliseconds().optional(),
        timeoutPolicy: silentEnd().optional(),
        executionTimeout: milliseconds().optional(),
      })
      .optional(),
    by: text().optional(),
    surface: text().optional(),
    person: text().optional(),
    device: text().optional(),
    signed: z.undefined().optional(),
    typed: z.undefined().optional(),
  } satisfies Shape<TaskMetadata>),
);

export function checkExecution(execution: Execution): void {
  executionOf(execution);
}

export function checkStrategy(strategy: ExecutionStrategy): void {
  strategyOf({ strategy });
}

/** A task that is no object is a message, and is checked like one. */
export function checkTask(task: string | TaskMetadata): void {
  if (kindOf(task) === "object") taskOf(task);
}

export const text = () => z.string().min(1);
export const count = () => z.number().int().min(1);
export const milliseconds = () => z.number().positive();
export const isModel = (value: unknown) =>
  hasMethods(value, "reply") && typeof (value as { id?: unknown }).id === "string";

export const channel = () => wants("channel", (value) => hasMethods(value, "requestInput", "show"));
export const hooks = () => wants("hooks", (value) => hasMethods(value, "has", "run") || areLists(value));
const moments = ["beforeCall", "afterCall", "permissionRequest", "waiting", "sessionStart", "sessionEnd"];
const isHook = (value: unknown) =>
  hasMethods(value, "run") || typeof (value as { command?: unknown } | undefined)?.command === "string";
const areLists = (value: unknown) =>
  kindOf(value) === "object" &&
  Object.entries(value as object).every(
    ([moment, list]) => moments.includes(moment) && (list === undefined || (Array.isArray(list) && list.every(isHook))),
  );
export const rulesIn = () => z.array(z.looseObject({ behavior: z.enum(["allow", "deny", "ask"]), text: text() }));

/** Dollars for a million tokens, by model. */
export function prices() {
  const price = z.strictObject({
    input: z.number().min(0),
    output: z.number().min(0),
    cacheRead: z.number().min(0).optional(),
    cacheWrite: z.number().min(0).optional(),
  });
  return z.record(z.string(), price);
}

const code = () => wants("function", (value) => typeof value === "function");
export const toolRegistry = () => wants("toolRegistry", (value) => hasMethods(value, "get", "names", "offers"));
export const subagentRegistry = () => wants("subagentRegistry", (value) => hasMethods(value, "get", "list"));

/** Parts of an executor that Sage can make by itself. */
export function madeShape() {
  return {
    system: z.string().optional(),
    subagentSystem: code().optional(),
    home: text().optional(),
    sageHome: z.string().optional(),
    roots: z.array(text()).optional(),
    keepDir: text().optional(),
    saveRule: code().optional(),
    dropRule: code().optional(),
    ruleFiles: z.unknown().optional(),
    redact: code().optional(),
    matchSkills: z.array(z.looseObject({ name: text() })).optional(),
    spawn: code().optional(),
  };
}

/** Options of a run, any of which may be left out. */
export function executionShape() {
  const timeout = z.strictObject({
    timeoutMs: milliseconds().optional(),
    timeoutPolicy: timeoutPolicy().optional(),
    remindEvery: milliseconds().optional(),
  });
  return {
    mode: mode().optional(),
    maxSteps: count().optional(),
    executionTimeout: milliseconds().optional(),
    promptTimeout: milliseconds().optional(),
    timeoutPolicy: timeoutPolicy().optional(),
    remindEvery: milliseconds().optional(),
    silence: z.record(z.string(), timeout).optional(),
    quiet: z.strictObject({ hours: z.looseObject({}), approvers: z.array(z.string()) }).optional(),
    maxContextTokens: count().optional(),
    autoCompactThreshold: z.number().gt(0).max(1).optional(),
    workingDirectory: text().optional(),
    llmOptions: z
      .strictObject({
        maxOutputTokens: count().optional(),
        temperature: z.number().optional(),
        thinkingTokens: z.number().min(0).optional(),
        effort: z.enum(efforts).optional(),
      })
      .optional(),
    signed: z.array(z.enum(["hard", "permission"])).optional(),
  } satisfies Shape<ExecutionOptions>;
}

function mode() {
  const isResponder = (value: unknown) =>
    typeof value === "function" || ["default", "alwaysAllow", "alwaysDeny"].includes(value as string);
  const responder = wants("responder", isResponder);
  return z
    .strictObject({
      type: z.enum(["interactive", "nonInteractive", "batch"]),
      autoResponse: responder.optional(),
      sender: z.looseObject({ by: text(), surface: text() }).optional(),
    })
    .superRefine(({ type, autoResponse }, { addIssue }) => {
      if (type !== "nonInteractive" || autoResponse !== undefined) return;
      addIssue({ code: "custom", params: { why: reason("module-wants", { expected: "responder" }) } });
    });
}

/** A default answer is held against a request when something is asked. */
function timeoutPolicy() {
  return z.union([
    z.enum(["wait", ...silentEnds]),
    escalation(),
    z.strictObject({ default: z.looseObject({ type: z.enum(["answers", "denied", "text"]) }) }),
  ]);
}

const silentEnds = ["fail", "cancel", "deny"] as const;
const escalation = () => z.strictObject({ escalate: z.array(text()).min(1), end: z.enum(silentEnds) });
const silentEnd = () => z.union([z.enum(silentEnds), escalation()]);
