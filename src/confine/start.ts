import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { endHeld, type Launch } from "../tools/process/spawn.ts";

/** Starts a program in its sandbox as a child of this process, with pipes for input and both outputs. It ends with this process. */
export function startConfined(launch: Launch, argv: readonly string[]): ChildProcessWithoutNullStreams {
  const [program = "", ...words] = [...launch.words, ...argv];
  const [args, filter, nothing] = [launch.args, launch.filter, "/dev/null"].map((path) => openSync(path, "r")) as [
    number,
    number,
    number,
  ];
  try {
    // Not "ignore": a descriptor above 2 would then be handed on as it is.
    const own = ["pipe", "pipe", "pipe", "pipe", nothing, nothing, args, "pipe", filter] as const;
    const child: ChildProcess = spawn(program, words, {
      cwd: "/",
      env: launch.env,
      detached: true,
      stdio: [...own, ...inherited(own.length, nothing)],
    });
    const status = child.stdio[3] as Readable;
    const gate = (child.stdio as unknown[])[7] as Writable;
    gate.on("error", () => {});
    const lines = createInterface({ input: status });
    lines.on("line", (line) => {
      void launch.heard(line).then((may) => {
        if (may === true) gate.end("\n");
        if (may === false && child.pid !== undefined) endHeld(launch.inner(), child.pid);
      });
    });
    return child as ChildProcessWithoutNullStreams;
  } finally {
    for (const descriptor of [args, filter, nothing]) closeSync(descriptor);
  }
}

const CLOSE_ON_EXEC = 0o2000000;

/** Descriptors that this process was given and would hand on: in their places is nothing. */
function inherited(from: number, nothing: number): (number | "ignore")[] {
  const kept = readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor >= from && isHandedOn(descriptor));
  const length = Math.max(0, ...kept.map((descriptor) => descriptor + 1 - from));
  return Array.from({ length }, (_, at) => (kept.includes(at + from) ? nothing : "ignore"));
}

function isHandedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
