import { spawn, type ChildProcess } from "node:child_process";
import { bundled } from "./bundled.ts";

export type Ended = { code: number | null; signal: string | null; out: string; err: string };

/** A real process that runs one session (runner.ts), to be watched and killed. */
export function startRunner(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): { child: ChildProcess; ended: Promise<Ended>; until(pattern: RegExp): Promise<void> } {
  const child = spawn(process.execPath, [bundled("runner", "test/support/runner.ts"), ...args], {
    env: { ...process.env, ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const waiting: { pattern: RegExp; found: () => void }[] = [];
  const look = () => {
    for (const one of waiting) if (one.pattern.test(out + err)) one.found();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => ((out += text), look()));
  child.stderr.setEncoding("utf8").on("data", (text: string) => ((err += text), look()));
  const ended = new Promise<Ended>((done) => child.on("close", (code, signal) => done({ code, signal, out, err })));
  return {
    child,
    ended,
    until: (pattern) =>
      new Promise((found, fail) => {
        waiting.push({ pattern, found });
        look();
        void ended.then(({ code, signal }) =>
          fail(new Error(`ended (${code ?? signal}) before ${pattern} appeared:\n${out}\n${err}`)),
        );
      }),
  };
}
