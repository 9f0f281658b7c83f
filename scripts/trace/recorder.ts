// Loaded into the Sage that `npm run trace` watches: notes which files of src run on each side of a turn, and the call stack
// (awaiting callers and schedulers included) at each milestone on the way.
import { createHook, executionAsyncId } from "node:async_hooks";
import childProcess from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import module from "node:module";
import { Socket } from "node:net";
import { StatementSync } from "node:sqlite";
import { fileURLToPath, pathToFileURL } from "node:url";
import { instrument } from "./instrument.ts";
import { command, result, turns, type Recording, type Turn } from "./turn.ts";

const source = pathToFileURL(`${process.env["TRACE_ROOT"]}/src/`).href;
const output = process.env["TRACE_OUTPUT"] ?? "";
const sides = turns[process.env["TRACE_TURN"] as Turn];

const files: string[] = [];
const recordings: Recording[] = [];
const touched = new Set<string>();
const stacks = new Map<string, string[]>();
let recording = false;

Error.stackTraceLimit = Infinity;

module.registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(source) || loaded.source === undefined || loaded.source === null) return loaded;
    const id = files.push(url.slice(source.length)) - 1;
    return {
      ...loaded,
      source: instrument(Buffer.from(loaded.source as Uint8Array).toString(), fileURLToPath(url), id),
    };
  },
});

// A timer, an immediate, a microtask or a continuation runs on an empty stack. Its cause is the stack on which it was scheduled.
type Cause = { stack: Error; context: number };
const causes = new Map<number, Cause>();
const hook = createHook({
  init(id) {
    causes.set(id, { stack: new Error(), context: executionAsyncId() });
  },
});

// Every function of src begins with a call of this. The folders are others in other versions.
Object.assign(globalThis, {
  __entered(id: number, name: string, given: readonly unknown[]) {
    if (!recording) return;
    const file = files[id] ?? "";
    touched.add(file);
    for (const type of facts)
      if (!added.has(type) && given.some((value) => value === type || holds(value, type))) added.set(type, callers());
    if (file.endsWith("/scripted.ts") && name === "reply") reached("model asked");
    if (file.endsWith("/decide.ts")) reached("call judged");
    if (file.endsWith("/watch.ts") && given.some((value) => holds(value, "input.requested"))) reached("request told");
    if (file.endsWith("/watch.ts") && given.some((value) => holds(value, "call.finished"))) reached("result told");
    if (file.endsWith("/transcript.ts") && given.some((value) => holds(value, "call.finished"))) reached("result seen");
    if (file.startsWith("surfaces/") && given.some(isRequest)) reached("request seen");
    if (file.startsWith("agent/call/") && given.some(isResolution)) reached("answer taken");
  },
});

// A fact is buffered, and often written by another function than the one that added it: the way of both counts.
const facts = ["user.said", "turn.begun", "input.requested", "input.resolved", "call.finished"];
const added = new Map<string, string[]>();
const run = StatementSync.prototype.run as (...values: unknown[]) => unknown;
Object.assign(StatementSync.prototype, {
  run(this: StatementSync, ...values: unknown[]) {
    if (recording && this.sourceSQL.startsWith("INSERT INTO fact"))
      for (const type of facts) if (values.includes(type)) reached(`${type} written`, added.get(type));
    return run.apply(this, values);
  },
});

// A command is an argument of its own process, or a line written to the spawner.
const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  if (recording && JSON.stringify(args[1]).includes(command)) reached("command started");
  return spawn(...args);
}) as typeof spawn;
module.syncBuiltinESMExports();
const send = Socket.prototype.write as (...given: unknown[]) => boolean;
Object.assign(Socket.prototype, {
  write(this: Socket, chunk: unknown, ...rest: unknown[]) {
    if (recording && typeof chunk === "string" && /^(?:run|late)\0/.test(chunk) && chunk.includes(command))
      reached("command started");
    return send.call(this, chunk, ...rest);
  },
});

const write = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean;
Object.assign(process.stdout, {
  write(chunk: string | Uint8Array, ...rest: unknown[]) {
    // A notification names the command too, and is no drawing.
    const text = recording && typeof chunk === "string" ? chunk.replaceAll(/\x1b\].*?(\x07|\x1b\\)/g, "") : "";
    if (text.includes(command) && stacks.has("request seen")) reached("request drawn");
    if (text.includes(result) && stacks.has("call.finished written")) reached("result drawn");
    return write(chunk, ...rest);
  },
});

// Sent before each side of the turn.
process.on("SIGUSR2", () => {
  touched.clear();
  stacks.clear();
  added.clear();
  causes.clear();
  recording = true;
  hook.enable();
  writeFileSync(`${output}.${recordings.length}`, "");
});

function reached(milestone: string, before: readonly string[] = []): void {
  const milestones: readonly string[] = sides[recordings.length]?.milestones ?? [];
  if (stacks.has(milestone) || !milestones.includes(milestone)) return;
  stacks.set(milestone, [...new Set([...before, ...callers()])]);
  if (milestone !== milestones.at(-1)) return;
  recording = false;
  hook.disable();
  recordings.push({
    side: sides[recordings.length]?.name ?? "",
    touched: [...touched].toSorted(),
    stacks: milestones.map((name) => ({ milestone: name, files: stacks.get(name) ?? [] })),
  });
  writeFileSync(`${output}.new`, JSON.stringify(recordings));
  renameSync(`${output}.new`, output); // read while it is written, it would be half a file
}

/** Files of src that led here since the side began, outermost first. */
function callers(): string[] {
  const led = [filesIn(new Error())];
  for (let cause = causes.get(executionAsyncId()); cause; cause = causes.get(cause.context))
    led.push(filesIn(cause.stack));
  return led.toReversed().flat();
}

function filesIn({ stack = "" }: Error): string[] {
  const urls = [...stack.matchAll(/(file:\/\/[^\s)]+?):\d+:\d+/g)].map(([, url = ""]) => url);
  const paths = urls.filter((url) => url.startsWith(source)).map((url) => url.slice(source.length));
  // The command line began the session and waits for its end: that is no part of a turn.
  return paths.filter((path) => !path.startsWith("cli/")).toReversed();
}

/** A fact of this type, by itself, in an event, or in a list. */
function holds(value: unknown, wanted: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length > 0 && value.length < 20 && value.some((part) => holds(part, wanted));
  const { type, fact } = value as { type?: unknown; fact?: unknown };
  return type === wanted || (type === "fact" && holds(fact, wanted));
}

function isRequest(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "permission" && "id" in value;
}

function isResolution(value: unknown): boolean {
  return typeof value === "object" && value !== null && "outcome" in value && "requestId" in value;
}
