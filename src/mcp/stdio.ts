import { spawn, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isObject } from "../base/issue.ts";
import { oneLine } from "../base/visible.ts";
import { signalGroup } from "../processes/group.ts";
import { noteHelper } from "../processes/registry.ts";
import { reason, type Reason, messageOf } from "../protocol/reasons/reason.ts";
import type { StdioServer } from "./server.ts";

/** A longer message is no answer but an attack or a mistake; the server is stopped. */
export const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** Messages taken from a server per second; it waits with the rest. */
const MAX_MESSAGES = 2_000;
const KEPT_ERRORS = 2_000;
const GRACE_MS = 500;

/** Ends the whole group once descriptor 3 closes, so no server outlives a killed Sage by a second. No shell reads its arguments. */
const watched =
  '(trap "" TERM; cat <&3; sleep 0.5; kill -TERM 0; sleep 0.5; kill -9 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-';

type StdioTransport = Transport & {
  /** Why it ended; undefined while it runs, and after `close`. */
  readonly ended: Reason | undefined;
};

/** `start`: starts it in a sandbox; it then ends with this process, too. */
export type StdioPlace = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Sage's folder, where its processes are noted. */
  home?: string | undefined;
  start?:
    | ((argv: readonly string[], place: { cwd: string; env: NodeJS.ProcessEnv }) => Promise<ChildProcess>)
    | undefined;
};

/** A server as a process: a message per line. It gets the given environment and nothing more. */
export function stdioTransport(
  { command, args }: Pick<StdioServer, "command" | "args">,
  { cwd, env, home, start }: StdioPlace,
): StdioTransport {
  let child: ChildProcess | undefined;
  let ended: Reason | undefined;
  let closing = false;
  let isConfined = false;
  let errors = "";

  const transport: StdioTransport = {
    get ended() {
      return ended;
    },
    async start() {
      const confined = await start?.([command, ...args], { cwd, env });
      isConfined = confined !== undefined;
      return new Promise((started, failed) => {
        const [program, given] =
          process.platform === "win32" ? [command, args] : ["sh", ["-c", watched, "sh", command, ...args]];
        child =
          confined ?? spawn(program, given, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
        const forget = noteHelper(home, "server", child.pid);
        if (confined) started();
        else child.once("spawn", () => started());
        child.once("error", (error) => {
          ended = reason("server-not-started", { problem: error.message });
          failed(error);
        });
        const ending = (code: number | null, signal: string | null) =>
          reason("server-ended", { code: code ?? signal ?? "?", output: lastLines(errors) });
        child.once("exit", (code, signal) => {
          forget();
          if (!closing) ended ??= ending(code, signal);
          release(child);
        });
        // After its pipes: its last output is read and reported.
        child.once("close", (code, signal) => {
          if (ended?.code === "server-ended") ended = ending(code, signal);
          transport.onclose?.();
        });
        child.stdin?.on("error", () => {}); // it has ended; `close` tells
        child.stdio[3]?.on("error", () => {});
        child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-KEPT_ERRORS)));
        readMessages(child, {
          message: (message) => transport.onmessage?.(message),
          wrong: (error) => transport.onerror?.(error),
          flooded() {
            ended ??= reason("server-flooded", { limitMb: MAX_MESSAGE_BYTES / 1024 / 1024 });
            signalGroup(child?.pid, "SIGKILL");
          },
        });
      });
    },
    send: (message) =>
      new Promise((sent, failed) => {
        const input = child?.stdin;
        if (!input || input.destroyed || ended) return failed(new Error("the server has ended"));
        input.write(`${JSON.stringify(message)}\n`, () => sent()); // if it has just exited, that is reported with the reason
      }),
    async close() {
      if (!child || closing) return;
      closing = true;
      const exited = new Promise<void>((done) => {
        if (child?.exitCode !== null || child.signalCode !== null) done();
        else child.once("exit", () => done());
      });
      child.stdin?.end();
      const late = new Promise<void>((done) => setTimeout(done, GRACE_MS).unref());
      await Promise.race([exited, late]);
      // No watcher is with it: its sandbox, and all that runs in there, ends with the first process of the group.
      if (isConfined && child.exitCode === null && child.signalCode === null) signalGroup(child.pid, "SIGKILL");
      release(child);
    },
  };
  return transport;
}

/** Processes of the group that still run end now: the watcher sees the end of its pipe. */
function release(child: ChildProcess | undefined): void {
  (child?.stdio[3] as Writable | null | undefined)?.destroy();
  if (process.platform === "win32") child?.kill();
  // A process that the server left behind may hold the pipes open; nobody listens any more.
  setTimeout(() => [child?.stdout, child?.stderr].forEach((pipe) => pipe?.destroy()), GRACE_MS).unref();
}

/** Splits output into lines without copying what came before: a line may be 100 MB long. */
function readMessages(
  child: ChildProcess,
  on: { message(message: JSONRPCMessage): void; wrong(error: Error): void; flooded(): void },
): void {
  let parts: Buffer[] = [];
  let length = 0;
  let taken = 0;
  let since = performance.now();
  const output = child.stdout;
  const line = (text: string) => {
    if (text.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch (error) {
      // Some servers greet people on the same pipe.
      return on.wrong(new Error(`not a message: ${oneLine(text.slice(0, 200))} (${messageOf(error)})`));
    }
    if (isObject(message)) on.message(message as JSONRPCMessage);
  };
  output?.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const whole = parts.length === 0 ? chunk.subarray(from, at) : Buffer.concat([...parts, chunk.subarray(from, at)]);
      [parts, length] = [[], 0];
      from = at + 1;
      taken++;
      line(whole.toString("utf8"));
    }
    if (from < chunk.length) {
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
    }
    if (length > MAX_MESSAGE_BYTES) {
      [parts, length] = [[], 0];
      output.destroy();
      return on.flooded();
    }
    slowDown();
  });

  /** A server that floods us with messages waits for the rest of the second, and everybody else continues. */
  const slowDown = () => {
    const now = performance.now();
    if (now - since >= 1_000) [since, taken] = [now, 0];
    if (taken < MAX_MESSAGES) return;
    output?.pause();
    setTimeout(() => output?.resume(), since + 1_000 - now).unref();
  };
}

function lastLines(errors: string): string {
  const lines = errors.trim().split("\n").slice(-3);
  return oneLine(lines.join(" · ")).slice(-300);
}
