// Loaded into the Sage that `npm run trace` watches: notes which files of src run between the first key and the last word,
// and the call stack (awaiting callers included) at each milestone on the way.
import childProcess from "node:child_process";
import { writeFileSync } from "node:fs";
import module from "node:module";
import { Socket } from "node:net";
import { StatementSync } from "node:sqlite";
import { fileURLToPath, pathToFileURL } from "node:url";
import { instrument } from "./instrument.ts";
import { command, done, milestones, result, type Milestone, type Recording } from "./turn.ts";

const source = pathToFileURL(`${process.env["TRACE_ROOT"]}/src/`).href;
const output = process.env["TRACE_OUTPUT"] ?? "";
const ready = process.env["TRACE_READY"] ?? "";

const files: string[] = [];
const touched = new Set<string>();
const stacks = new Map<Milestone, string[]>();
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

// Every function of src begins with a call of this.
Object.assign(globalThis, {
  __entered(id: number, name: string, given: readonly unknown[]) {
    if (!recording) return;
    const file = files[id] ?? "";
    touched.add(file);
    if (file === "models/scripted.ts" && name === "reply") reached("model asked");
    if (file === "permission/decide.ts") reached("call judged");
    // These two hand the fact of the result on; the folders are others in other versions.
    if (file.endsWith("/watch.ts") && given.some(isResult)) reached("result told");
    if (file.endsWith("/transcript.ts") && given.some(isResult)) reached("result seen");
  },
});

const run = StatementSync.prototype.run as (...values: unknown[]) => unknown;
Object.assign(StatementSync.prototype, {
  run(this: StatementSync, ...values: unknown[]) {
    if (recording && this.sourceSQL.startsWith("INSERT INTO fact"))
      for (const type of ["user.said", "turn.begun", "call.finished"] as const)
        if (values.includes(type)) reached(`${type} written`);
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
    if (recording && typeof chunk === "string" && chunk.startsWith("run\0") && chunk.includes(command))
      reached("command started");
    return send.call(this, chunk, ...rest);
  },
});

const write = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean;
Object.assign(process.stdout, {
  write(chunk: string | Uint8Array, ...rest: unknown[]) {
    const text = recording && typeof chunk === "string" ? chunk : "";
    if (text.includes(result) && stacks.has("call.finished written")) reached("result drawn");
    if (text.includes(done)) finish();
    return write(chunk, ...rest);
  },
});

process.on("SIGUSR2", () => {
  recording = true;
  writeFileSync(ready, "");
});

function reached(milestone: Milestone): void {
  if (stacks.has(milestone)) return;
  const frames = (new Error().stack ?? "").matchAll(/(file:\/\/[^\s)]+?):\d+:\d+/g);
  const urls = [...frames].map(([, url = ""]) => url).filter((url) => url.startsWith(source));
  // The command line began the session and waits for its end: that is no part of a turn.
  const paths = urls.map((url) => url.slice(source.length)).filter((path) => !path.startsWith("cli/"));
  stacks.set(milestone, [...new Set(paths)].toReversed());
}

/** The fact of the result, by itself, in an event, or in a list. */
function isResult(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length > 0 && value.length < 20 && value.some(isResult);
  const { type, fact } = value as { type?: unknown; fact?: unknown };
  return type === "call.finished" || (type === "fact" && isResult(fact));
}

function finish(): void {
  recording = false;
  const told: Recording = {
    touched: [...touched].toSorted(),
    stacks: milestones.map((milestone) => ({ milestone, files: stacks.get(milestone) ?? [] })),
  };
  writeFileSync(output, JSON.stringify(told));
}
