import { readFileSync } from "node:fs";

// Tests may fake the clock of the code they run. A wait of the test itself goes by the real one.
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

/** Generous: two cores run three test files at once, and a loaded machine is no failure. */
const PATIENCE_MS = 40_000;

type Falsy = false | "" | 0 | null | undefined;

/** Looks until the condition gives something, and hands that over. The message says what did not happen. */
export async function until<T>(
  condition: () => T | Promise<T>,
  message: string | (() => string) = () => `this did not become true: ${String(condition)}`,
  { everyMs = 5, patienceMs = PATIENCE_MS }: { everyMs?: number; patienceMs?: number } = {},
): Promise<Exclude<T, Falsy>> {
  for (const started = now(); ; await new Promise((resolve) => setTimeout(resolve, everyMs))) {
    const found = await condition();
    if (found) return found as Exclude<T, Falsy>;
    if (now() - started > patienceMs)
      throw new Error(`after ${patienceMs / 1_000} s ${typeof message === "string" ? message : message()}`);
  }
}

/** Looks until the text holds the pattern after `from`. `end` is where the match ends. */
export async function untilText(
  pattern: RegExp | string,
  read: () => string | Promise<string>,
  { from = 0, everyMs = 10 }: { from?: number; everyMs?: number } = {},
): Promise<{ text: string; end: number }> {
  let text = "";
  const look = async () => {
    text = await read();
    const rest = text.slice(from);
    const at = typeof pattern === "string" ? rest.indexOf(pattern) : rest.search(pattern);
    const found = typeof pattern === "string" ? pattern : (pattern.exec(rest)?.[0] ?? "");
    return at >= 0 && { text, end: from + at + found.length };
  };
  return until(look, () => `${String(pattern)} did not come; there is:\n${text.slice(from)}`, { everyMs });
}

/** Looks until the process runs no more. A killed one may be a zombie until whoever adopted it looks after it. */
export async function untilGone(pid: number): Promise<void> {
  if (pid <= 0) throw new Error(`${pid} is no process`);
  await until(() => !runs(pid), `process ${pid} still runs`, { everyMs: 20 });
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true; // no /proc here
  }
}
