import { exitCodes } from "../../process/stdout.ts";

/** Called by the person's own agent for each of its prompts: it starts fast, and on any failure the agent's own dialog stays open. */
export async function hook(args: string[]): Promise<number> {
  const [word, ...rest] = args;
  if ((word !== "claude" && word !== "codex") || rest.length > 0)
    return (await import("./install.ts")).changeHook(args);
  const { serveHook } = await import("./serve.ts");
  const parent = process.ppid;
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  await serveHook(word, {
    env: process.env,
    input: process.stdin,
    stopped: stop.signal,
    isOrphan: () => process.ppid !== parent,
    write: (text) => void process.stdout.write(text),
  }).catch((error: unknown) => console.error(`sage hook: ${String(error)}`));
  return exitCodes.success;
}
