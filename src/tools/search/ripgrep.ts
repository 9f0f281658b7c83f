import { spawn } from "node:child_process";
import { once } from "node:events";

/** Searching is quick or hopeless: a network disk or a whole file system should not hold a turn. */
const timeoutMs = 60_000;

/** Yields ripgrep's records; leaving the loop ends it. Throws when it failed, also after records: an unreadable directory, say. */
export async function* ripgrep(args: string[], end: "\n" | "\0", signal: AbortSignal): AsyncGenerator<string> {
  if (signal.aborted) throw new Error("interrupted by the person");
  // Costs start-up time, and throws where there is no package for the platform.
  const { rgPath } = await import("@vscode/ripgrep");
  const late = AbortSignal.timeout(timeoutMs);
  const child = spawn(rgPath, ["--no-config", "--hidden", "--glob=!.git", "--color=never", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([signal, late]),
    env: {},
  });
  child.on("error", () => undefined);
  const closed = once(child, "close").catch(() => [null]);
  child.stdout.setEncoding("utf8");
  child.stderr.setEncoding("utf8");
  let complaint = "";
  child.stderr.on("data", (text: string) => (complaint = (complaint + text).slice(0, 2_000)));
  try {
    let rest = "";
    for await (const text of child.stdout as AsyncIterable<string>) {
      const records = (rest + text).split(end);
      rest = records.pop() ?? "";
      yield* records;
    }
    const [code] = (await closed) as [number | null];
    if (signal.aborted) throw new Error("interrupted by the person");
    if (late.aborted) throw new Error(`stopped after ${timeoutMs / 1_000} s; search in a smaller folder`);
    if (code !== 0 && code !== 1) throw new Error(complaint.trim() || "ripgrep could not be run");
  } finally {
    child.kill("SIGKILL");
  }
}
