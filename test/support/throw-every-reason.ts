// Loaded before the command line: throws an error of every code where nothing catches it, and prints what is said of each.
import { SageError } from "../../src/protocol/reasons/reason.ts";
import { everyReason } from "./every-reason.ts";

const leave = process.exit.bind(process);
process.exit = (() => {}) as unknown as typeof process.exit;
const reasons = everyReason();
const said: Record<string, string> = {};
const print = console.error;

async function throwEach(): Promise<void> {
  while (process.listenerCount("uncaughtException") === 0) await new Promise((next) => setTimeout(next, 10));
  for (const why of reasons) {
    const { promise, resolve } = Promise.withResolvers<string>();
    console.error = resolve;
    process.emit("uncaughtException", new SageError("turn-failed", why));
    said[why.code] = await promise;
  }
  console.error = print;
  process.stdout.write(`\n${JSON.stringify(said)}`, () => leave(0));
}

void throwEach();
