import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Answer = { id: number; value?: unknown; error?: string; code?: string };

export type Peer = AsyncDisposable & {
  readonly pid: number;
  /** The value, or an error with the peer's own words. */
  call(verb: string, ...values: unknown[]): Promise<unknown>;
  /** As `call`, and a refusal is an answer too. */
  try(verb: string, ...values: unknown[]): Promise<Answer>;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** A real second process on a journal. It answers a call when that is done, whatever became of those before. */
export function peer(path: string, options: { uid?: number; looks?: boolean } = {}): Peer {
  const child = spawn(process.execPath, [join(import.meta.dirname, "peer.ts"), path, options.looks ? "looks" : ""], {
    stdio: ["pipe", "pipe", "inherit"],
    ...(options.uid !== undefined && { uid: options.uid }),
  });
  const ended = once(child, "exit");
  const waiting = new Map<number, { done(answer: Answer): void; fail(error: Error): void }>();
  let calls = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.done(answer);
    waiting.delete(answer.id);
  });
  void ended.then(([code, signal]: unknown[]) => {
    for (const { fail } of waiting.values()) fail(new Error(`the peer ended: ${String(code ?? signal)}`));
  });
  const attempt = (verb: string, ...values: unknown[]) =>
    new Promise<Answer>((done, fail) => {
      const id = calls++;
      waiting.set(id, { done, fail });
      child.stdin.write(`${JSON.stringify([id, verb, ...values])}\n`);
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
