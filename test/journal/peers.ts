import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Answer = { value?: unknown; error?: string; code?: string };

export type Peer = AsyncDisposable & {
  readonly pid: number;
  /** The value, or an error with the peer's own words. */
  call(verb: string, ...values: unknown[]): Promise<unknown>;
  /** As `call`, and a refusal is an answer too. */
  try(verb: string, ...values: unknown[]): Promise<Answer>;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** A real second process on a journal. It answers its calls in order, except for those that wait. */
export function peer(path: string, options: { uid?: number; looks?: boolean } = {}): Peer {
  const child = spawn(process.execPath, [join(import.meta.dirname, "peer.ts"), path, options.looks ? "looks" : ""], {
    stdio: ["pipe", "pipe", "inherit"],
    ...(options.uid !== undefined && { uid: options.uid }),
  });
  const ended = once(child, "exit");
  const waiting: { done(answer: Answer): void; fail(error: Error): void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.done(JSON.parse(line) as Answer));
  void ended.then(([code, signal]: unknown[]) => {
    for (const one of waiting.splice(0)) one.fail(new Error(`the peer ended: ${String(code ?? signal)}`));
  });
  const attempt = (verb: string, ...values: unknown[]) =>
    new Promise<Answer>((done, fail) => {
      waiting.push({ done, fail });
      child.stdin.write(`${JSON.stringify([verb, ...values])}\n`);
    });
  return {
    pid: child.pid as number,
    try: attempt,
    async call(verb, ...values) {
      const { value, error } = await attempt(verb, ...values);
      if (error !== undefined) throw new Error(error);
      return value;
    },
    async kill(signal = "SIGKILL") {
      child.kill(signal);
      await ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
