import { statSync } from "node:fs";
import {
  check,
  count,
  executionShape,
  isModel,
  channel,
  hooks,
  milliseconds,
  prices,
  madeShape,
  rulesIn,
  subagentRegistry,
  toolRegistry,
  text,
} from "../agent/turn/check.ts";
import { subagentsSchema, toolsSchema } from "../config/modules/parts-schema.ts";
import { guestName, guests, webSearch } from "../config/settings/model-settings.ts";
import { serversSchema } from "../config/settings/servers.ts";
import type { WatchOptions } from "../protocol/host/host.ts";
import { sessionModes } from "../protocol/mode.ts";
import { hasMethods, wants } from "../protocol/reasons/misfit.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import type { Skill } from "../context/skills.ts";
import type { HostParts } from "./host.ts";
import type { RunOptions, SdkOptions } from "./options.ts";
import type { ExecutorConfig } from "./executor.ts";
import type { InterruptOptions, SayOptions } from "./run.ts";
import type { TurnOptions } from "./turns.ts";

/** Entries whose options are checked, by the names that embedders know. */
export type Door = keyof typeof makers;

/** Refuses unknown names and kinds, which untyped programs mistype in a deny list, too. Drops what is undefined. */
export function checkOptions<Options extends object>(door: Door, given: Options): Options {
  const schema = (schemas[door] ??= makers[door]());
  check(door.replace(/\..*/, ""), schema, given);
  return taken(given, schema.keysAt([]));
}

/** Every option that was checked, also one that the object has inherited: a copy of its own alone would lose that in silence. */
function taken<Options extends object>(given: Options, names: readonly string[]): Options {
  const found = names.map((name) => [name, given[name as keyof Options]] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Options;
}

/** Before anything costs money: a turn that was paid for must not end in a missing folder. */
export function checkFolder(option: "workingDirectory" | "recordTrajectory", path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new SageError("config-invalid", reason("option-folder", { option, path }));
}

/** Made when they are first used: whoever imports the SDK pays for none of them. */
const schemas: Partial<Record<Door, z.Schema>> = {};
const makers = {
  SageAgentSDK: () => z.strictObject(sdkShape()),
  UnifiedExecutor: () => z.strictObject(executorShape()),
  "UnifiedExecutor.options": () => z.strictObject(executionShape()),
  "UnifiedExecutor.channel": () => z.strictObject({ channel: channel().optional() }),
  run: () => z.strictObject(runShape()),
  resume() {
    const { session: _session, ...shape } = runShape();
    return z.strictObject(shape);
  },
  executeWithChannel() {
    const { channel: _channel, ...shape } = runShape();
    return z.strictObject({ ...shape, bufferSize: count().optional(), conversation: z.boolean().optional() });
  },
  openTurns() {
    const { mode: _mode, signal: _signal, channel: _channel, ...shape } = runShape();
    return z.strictObject(shape);
  },
  runTurn: () =>
    z.strictObject({
      confirm: code().optional(),
      onEvent: code().optional(),
      signal: signal().optional(),
    } satisfies Shape<TurnOptions>),
  interrupt: () =>
    z.strictObject({ cancel: z.boolean().optional(), by: text().optional() } satisfies Shape<InterruptOptions>),
  say: () =>
    z.strictObject({
      when: z.enum(["now", "next"]).optional(),
      by: text().optional(),
    } satisfies Shape<SayOptions>),
  answerQuestion: () => z.strictObject({ by: text().optional() }),
  answerAll: () => z.strictObject({ by: text().optional() }),
  inquire: () => z.strictObject({ by: text().optional(), requestId: text().optional(), signal: signal().optional() }),
  steps: () => z.strictObject({ subagents: z.boolean().optional() }),
  chooseMode: () => z.strictObject({ mode: z.enum(sessionModes) }),
  watch: () =>
    z.strictObject({
      after: z.number().min(0).optional(),
      last: count().optional(),
      signal: signal(),
    } satisfies Shape<WatchOptions>),
  inbox: () => z.strictObject({ signal: signal() }),
  assemble: () => z.strictObject(partsShape()),
} satisfies Record<string, () => z.Schema>;

type Shape<T> = Record<keyof T, z.Schema>;

const code = () => wants("function", (value) => typeof value === "function");
const signal = () => wants("signal", (value) => value instanceof AbortSignal || hasMethods(value, "throwIfAborted"));
const store = () => wants("store", (value) => hasMethods(value, "commit", "claim", "member"));
const skills = () =>
  z.array(
    z.strictObject({
      name: text(),
      description: z.string(),
      body: z.string(),
      whenToUse: z.string().optional(),
      allowedTools: z.union([z.literal("all"), z.array(z.string())]).optional(),
      userInvocable: z.boolean().optional(),
      priority: z.number().min(0).max(100).optional(),
      folder: z.string().optional(),
    } satisfies Shape<Skill>),
  );
const matchingSkill = () => z.enum(["offer", "inject"]);
const permissionMode = () => z.enum(["default", "bypass"]);

function sdkShape() {
  return {
    model: wants("model", (value) => typeof value === "string" || isModel(value)).optional(),
    fallbackModel: text().optional(),
    prices: prices().optional(),
    tools: toolsSchema.optional(),
    smallModel: wants("modelObject", isModel).optional(),
    subagents: subagentsSchema.optional(),
    skills: skills().optional(),
    discover: z.boolean().optional(),
    matchingSkill: matchingSkill().optional(),
    rules: z
      .strictObject({
        deny: z.array(text()).optional(),
        ask: z.array(z.union([text(), z.looseObject({ rule: text() })])).optional(),
        allow: z.array(text()).optional(),
      })
      .optional(),
    permissionMode: permissionMode().optional(),
    sandbox: sandbox().optional(),
    hooks: hooks().optional(),
    mcpServers: serversSchema.optional(),
    webSearch: wants("search", (value) => hasMethods(value, "search") || webSearch.safeParse(value).success).optional(),
    systemPrompt: wants("prompt", (value) => typeof value === "string" || typeof value === "function").optional(),
    agent: guestName.optional(),
    agents: guests.optional(),
    settings: z.union([z.boolean(), z.literal("rules")]).optional(),
    journal: text().optional(),
    store: store().optional(),
    workingDirectory: text().optional(),
    env: z.looseObject({}).optional(),
    sleepAfterMs: milliseconds().optional(),
  } satisfies Shape<SdkOptions>;
}

function executorShape() {
  const {
    agent: _agent,
    sleepAfterMs: _sleep,
    workingDirectory: _folder,
    tools,
    rules,
    subagents,
    ...shape
  } = sdkShape();
  return {
    ...shape,
    ...madeShape(),
    tools: z.union([toolRegistry(), tools]).optional(),
    rules: z.union([rulesIn(), rules]).optional(),
    subagents: z.union([subagentRegistry(), subagents]).optional(),
  } satisfies Shape<ExecutorConfig>;
}

function runShape() {
  return {
    ...executionShape(),
    session: text().optional(),
    sessionMode: z.enum(sessionModes).optional(),
    agent: guestName.optional(),
    channel: channel().optional(),
    signal: signal().optional(),
    recordTrajectory: text().optional(),
  } satisfies Shape<RunOptions>;
}

function sandbox() {
  const paths = () => z.array(z.string()).optional();
  return z.strictObject({
    mode: z.enum(["off", "contain", "autoAllow"]).optional(),
    writable: paths(),
    readable: paths(),
    git: z.enum(["read", "write"]).optional(),
    outside: paths(),
  });
}

function partsShape() {
  const any = () => z.unknown().optional();
  return {
    store: store().optional(),
    model: code(),
    smallModel: code().optional(),
    prices: prices().optional(),
    rules: rulesIn().optional(),
    permissionMode: permissionMode().optional(),
    env: z.looseObject({}).optional(),
    output: text().optional(),
    options: z.strictObject(executionShape()).optional(),
    channel: channel().optional(),
    tools: toolsSchema.optional(),
    subagents: subagentsSchema.optional(),
    skills: skills().optional(),
    matchingSkill: matchingSkill().optional(),
    hooks: hooks().optional(),
    sandbox: sandbox().optional(),
    systemPrompt: any(),
    saveRule: code().optional(),
    dropRule: code().optional(),
    turnEnded: code().optional(),
    commands: any(),
    warnings: any(),
    ruleFiles: any(),
    outside: any(),
    search: any(),
    guest: any(),
    runner: any(),
    apart: any(),
    limits: any(),
    trusted: any(),
    instead: any(),
  } satisfies Shape<HostParts>;
}
