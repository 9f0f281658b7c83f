import { statSync } from "node:fs";
import { subagentsSchema, toolsSchema, wants } from "../config/parts-schema.ts";
import { efforts, misfits, reason, sessionModes } from "../protocol/index.ts";
import * as z from "../protocol/z.ts";
import { errorBecause } from "../texts/error.ts";
import type { ChannelOptions, SdkOptions } from "./options.ts";

/** Entries whose options are checked, by the names that embedders know. */
export type Door = "SageAgentSDK" | "run" | "resume" | "executeWithChannel" | "openTurns";

/**
 * Refuses options that would be passed over in silence: an unknown name, a value of another kind. Programs without types mistype a
 * deny list, too. What is undefined is left out.
 */
export function checkOptions<Options extends object>(door: Door, given: Options): Options {
  const schema = (schemas[door] ??= makers[door]());
  const { success, error } = schema.safeParse(given);
  if (success) return taken(given, schema.keysAt([]));
  const problem = misfits(error, given, (at) => schema.keysAt(at));
  throw errorBecause("config-invalid", reason("options-unfit", { door, problem }));
}

/** Every option that was checked, also one that the object has inherited: a copy of its own alone would lose that in silence. */
function taken<Options extends object>(given: Options, names: readonly string[]): Options {
  const found = names.map((name) => [name, given[name as keyof Options]] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Options;
}

/** Before anything costs money: a turn that was paid for must not end in a missing folder. */
export function checkFolder(option: "workingDirectory" | "recordTrajectory", path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw errorBecause("config-invalid", reason("option-folder", { option, path }));
}

/** Made when they are first used: whoever imports the SDK pays for none of them. */
const schemas: Partial<Record<Door, z.Schema>> = {};
const makers: Record<Door, () => z.Schema> = {
  SageAgentSDK: () => z.strictObject(sdkShape()),
  run: () => z.strictObject(runShape()),
  resume() {
    const { session: _session, ...shape } = runShape();
    return z.strictObject(shape);
  },
  executeWithChannel: () =>
    z.strictObject({ ...runShape(), bufferSize: count().optional(), conversation: z.boolean().optional() }),
  openTurns() {
    const { mode: _mode, signal: _signal, ...shape } = runShape();
    return z.strictObject(shape);
  },
};

type Shape<T> = Record<keyof T, z.Schema>;

const text = () => z.string().min(1);
const count = () => z.number().int().min(1);
const milliseconds = () => z.number().positive();
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hasMethods = (value: unknown, ...names: string[]) =>
  isObject(value) && names.every((name) => typeof value[name] === "function");
const isModel = (value: unknown) => hasMethods(value, "reply") && typeof (value as { id?: unknown }).id === "string";

function sdkShape() {
  const price = z.strictObject({
    input: z.number().min(0),
    output: z.number().min(0),
    cacheRead: z.number().min(0).optional(),
    cacheWrite: z.number().min(0).optional(),
  });
  const paths = () => z.array(z.string()).optional();
  return {
    model: wants("model", (value) => typeof value === "string" || isModel(value)).optional(),
    fallbackModel: text().optional(),
    prices: z.record(z.string(), price).optional(),
    tools: toolsSchema.optional(),
    smallModel: wants("model", isModel).optional(),
    subagents: subagentsSchema.optional(),
    skills: z.array(z.looseObject({ name: text(), description: z.string(), body: z.string() })).optional(),
    discover: z.boolean().optional(),
    matchingSkill: z.enum(["offer", "inject"]).optional(),
    rules: z
      .strictObject({
        deny: z.array(text()).optional(),
        ask: z.array(z.union([text(), z.looseObject({ rule: text() })])).optional(),
        allow: z.array(text()).optional(),
      })
      .optional(),
    permissionMode: z.enum(["default", "bypass"]).optional(),
    sandbox: z
      .strictObject({
        mode: z.enum(["off", "contain", "autoAllow"]).optional(),
        writable: paths(),
        readable: paths(),
        git: z.enum(["read", "write"]).optional(),
        outside: paths(),
      })
      .optional(),
    journal: text().optional(),
    store: wants("store", (value) => hasMethods(value, "commit", "claim", "member")).optional(),
    workingDirectory: text().optional(),
    env: z.looseObject({}).optional(),
    sleepAfterMs: milliseconds().optional(),
  } satisfies Shape<SdkOptions>;
}

function runShape() {
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
    session: text().optional(),
    sessionMode: z.enum(sessionModes).optional(),
    signal: wants("signal", (value) => value instanceof AbortSignal || hasMethods(value, "throwIfAborted")).optional(),
    recordTrajectory: text().optional(),
  } satisfies Shape<Omit<ChannelOptions, "bufferSize" | "conversation">>;
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
  const end = z.enum(["fail", "cancel", "deny"]);
  return z.union([
    z.enum(["wait", "fail", "cancel", "deny"]),
    z.strictObject({ escalate: z.array(text()).min(1), end }),
    z.strictObject({ default: z.looseObject({ type: z.enum(["answers", "denied", "text"]) }) }),
  ]);
}
