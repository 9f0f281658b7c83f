import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import * as z from "../base/z.ts";
import { reasonOf } from "../protocol/reasons/error.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import { reason, said, type Reason } from "../protocol/reasons/reason.ts";
import type { HookAnswer, Hook, StartConfined } from "./hook.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;
const GRACE_MS = 200;

/** Runs one hook: the event as JSON on its standard input, its answer as JSON on its standard output; or what went wrong. */
export async function callHook(
  hook: Hook,
  event: Record<string, unknown>,
  place: HookPlace,
): Promise<HookAnswer | { broken: Reason }> {
  const broken = (problem: Reason) => ({ broken: reason("hook-broken", { command: hook.command, problem }) });
  const changed = hook.changed?.();
  if (changed !== undefined) return broken(reason("hook-changed", { path: changed }));
  const ended = await run(hook, JSON.stringify(event), place);
  if ("args" in ended) return broken(ended);
  if (ended.code !== 0)
    return broken(reason("hook-exited", { code: ended.code, output: ended.err.trim().slice(0, 500) }));
  if (ended.out.trim() === "") return {};
  const answer = parse(ended.out);
  return "code" in answer ? broken(reason("hook-misspoke", { problem: answer })) : answer;
}

type HookPlace = { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; start?: StartConfined | undefined };

type Ended = { code: number | string; out: string; err: string };

async function run(hook: Hook, input: string, { cwd, env, signal, start }: HookPlace): Promise<Ended | Reason> {
  // A relative command means a file beside the settings, and never one of that name in the repository.
  const place = { cwd: hook.folder ?? cwd, env: { ...env, SAGE_CWD: cwd } };
  const shell = ["/bin/bash", "--noprofile", "--norc", "-c", hook.command] as const;
  let child: ChildProcessWithoutNullStreams;
  try {
    child =
      hook.confined && start
        ? await start(shell, place)
        : spawn(shell[0], shell.slice(1), { ...place, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (error) {
    return reason("hook-not-started", { problem: reasonOf(error) });
  }
  return new Promise((done) => {
    let out = "";
    let err = "";
    let why: Reason | undefined;
    const stop = (problem: Reason) => {
      why ??= problem;
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL"); // with everything it started
      } catch {
        // gone already
      }
    };
    const timer = setTimeout(() => stop(reason("hook-late", { timeoutMs: hook.timeoutMs })), hook.timeoutMs);
    const aborted = () => stop(reason("hook-interrupted", {}));
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.length > MAX_OUTPUT_BYTES) stop(reason("hook-flooded", {}));
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err = (err + text).slice(-10_000)));
    child.stdin.on("error", () => {}); // a hook need not read its input
    child.stdin.end(input);
    const end = (ended: Ended | Reason) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      done(why ?? ended);
    };
    child.on("error", (error) => end(reason("hook-not-started", { problem: error.message })));
    child.on("close", (code, killed) => end({ code: code ?? killed ?? "unknown", out, err }));
    // A process that it left in the background may hold the pipes open for ever; its answer is in them by now.
    child.on("exit", () =>
      setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()), GRACE_MS).unref(),
    );
  });
}

function parse(text: string): HookAnswer | Reason {
  const schema = z.strictObject({
    decision: z.enum(["allow", "deny", "ask"]).optional(),
    reason: z.string().optional(),
    input: z.record(z.string(), z.unknown()).optional(),
    context: z.string().optional(),
  });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return said(JSON.stringify(text.trim().slice(0, 200)));
  }
  const parsed = schema.safeParse(data);
  return parsed.success ? (parsed.data as HookAnswer) : misfits(parsed.error, data);
}
