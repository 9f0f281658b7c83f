import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Launch } from "../tools/process/spawn.ts";

/** Starts a program in its sandbox as a child of this process, with pipes for input and both outputs. It ends with this process. */
export function startConfined(launch: Launch, argv: readonly string[]): ChildProcessWithoutNullStreams {
  const [program = "", ...words] = [...launch.words, ...argv];
  const [args, filter] = [openSync(launch.args, "r"), openSync(launch.filter, "r")];
  try {
    const own = ["pipe", "pipe", "pipe", "pipe", "ignore", "ignore", args, "pipe", filter] as const;
    const child: ChildProcess = spawn(program, words, {
      cwd: "/",
      env: launch.env,
      detached: true,
      stdio: [...own, ...inherited(own.length)],
    });
    const status = child.stdio[3] as Readable;
    const gate = (child.stdio as unknown[])[7] as Writable;
    gate.on("error", () => {});
    const lines = createInterface({ input: status });
    lines.on("line", (line) => {
      void launch.heard(line).then((may) => {
        if (may === true) gate.end("\n");
        if (may === false) child.kill("SIGKILL");
      });
    });
    return child as ChildProcessWithoutNullStreams;
  } finally {
    closeSync(args);
    closeSync(filter);
  }
}

const CLOSE_ON_EXEC = 0o2000000;

/** Descriptors that this process was given and would hand on: in their places nothing is. */
function inherited(from: number): "ignore"[] {
  const kept = readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor >= from && isHandedOn(descriptor));
  return Array.from({ length: Math.max(0, ...kept.map((descriptor) => descriptor + 1 - from)) }, () => "ignore");
}

function isHandedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
