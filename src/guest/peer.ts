import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { attempt } from "../base/attempt.ts";
import { signalGroup } from "../processes/group.ts";
import { createQueue } from "./rpc.ts";

/** A message as it comes off the wire: an object, of which nothing is known yet. */
export type Json = Record<string, unknown>;

/** A child that speaks JSON on its standard input and output, one message a line. */
export type Peer = {
  /** Ends when the child's output has. Read once. */
  messages: AsyncIterable<Json>;
  send(message: unknown): void;
  /** How it ended, with the last that it wrote to its standard error. */
  ended: Promise<PeerEnd>;
  /** Closes its input and waits; one that does not listen is killed, with everything it started. Safe to call twice. */
  close(patienceMs: number): Promise<void>;
  /** Kills it at once, with everything it started. */
  kill(): void;
};

export type PeerEnd = { code: number | null; signal: string | null; words: string };

/** Its own last words, or how it ended without any. */
export function lastWords({ code, signal, words }: PeerEnd): string {
  return words || (signal === null ? `it ended with code ${code ?? "unknown"}` : `it ended with ${signal}`);
}

type PeerOptions = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Told of its process group, before anything is sent. */
  spawned(pid: number): void;
};

/** A guest that says more than this in one line has lost its way. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 1_000;
const WORDS = 4_000;
/** A grandchild may hold the output open after the child has gone. */
const LINGER_MS = 1_000;

export function startPeer(command: string, args: readonly string[], { cwd, env, spawned }: PeerOptions): Peer {
  // A group of its own: it is ended with its shells, and a Ctrl-C at our terminal is ours.
  const detached = process.platform !== "win32";
  const child = spawn(command, args, { cwd, env, detached, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  const { stdin, stdout, stderr, pid } = child;
  if (pid !== undefined) spawned(pid);
  let words = "";
  const note = (text: string) => void (words = (words + text).slice(-WORDS));
  const queue = createQueue<Json>(() => {
    if (stdout.isPaused() && queue.length < MAX_WAITING / 2) stdout.resume();
  });
  readLines(stdout, {
    line(text) {
      const message = parsed(text);
      if (message) queue.push(message);
      if (queue.length > MAX_WAITING) stdout.pause();
    },
    tooLong() {
      note(`it wrote a line of more than ${MAX_LINE_BYTES} characters`);
      kill();
    },
  });
  stderr.setEncoding("utf8").on("data", note);
  stdin.on("error", () => {}); // it went away: its end tells
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, "SIGKILL");
  };
  const { promise: ended, resolve } = Promise.withResolvers<PeerEnd>();
  const over = (code: number | null, signal: string | null) => {
    stdout.resume();
    queue.end();
    resolve({ code, signal, words: words.trim() });
  };
  child.on("error", (error) => {
    note(error.message);
    if (pid === undefined) over(127, null);
  });
  child.on("close", over);
  child.on("exit", (code, signal) => setTimeout(() => over(code, signal), LINGER_MS).unref());
  return {
    messages: queue,
    send: (message) => void (stdin.writable && stdin.write(`${JSON.stringify(message)}\n`)),
    ended,
    kill,
    async close(patienceMs) {
      stdin.end();
      const late = setTimeout(kill, patienceMs);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Complete lines of a stream; a line that never ends is dropped and reported. */
export function readLines(from: NodeJS.ReadableStream, to: { line(text: string): void; tooLong(): void }): void {
  const decoder = new StringDecoder("utf8");
  let rest: string[] = [];
  let length = 0;
  from.on("data", (chunk: Buffer) => {
    const [first = "", ...lines] = decoder.write(chunk).split("\n");
    rest.push(first);
    length += first.length;
    if (length > MAX_LINE_BYTES) {
      [rest, length] = [[], 0];
      return to.tooLong();
    }
    for (const next of lines) {
      to.line(rest.join(""));
      [rest, length] = [[next], next.length];
    }
  });
  from.on("end", () => {
    if (length > 0) to.line(rest.join(""));
  });
  from.on("error", () => {});
}

/** Undefined for whatever else a program prints: a warning, a line of a library. */
function parsed(line: string): Json | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  return attempt(() => JSON.parse(line) as Json);
}
