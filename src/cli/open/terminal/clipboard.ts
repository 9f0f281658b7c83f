import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageKindOf } from "../../../protocol/image.ts";
import type { TerminalOptions } from "../../../surfaces/terminal/index.ts";

type Env = NodeJS.ProcessEnv;

const MAX_IMAGE_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 5_000;
const KEEP_MS = 24 * 3_600_000;

/** Ctrl-V: the picture in the clipboard as a file. A message that names the file keeps its own copy, so old ones are removed. */
export function systemClipboard(
  folder: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): NonNullable<TerminalOptions["clipboard"]> {
  return async () => {
    const bytes = await read(programsOf(env, platform), env);
    if (typeof bytes === "string") return { problem: bytes };
    removeOld(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `clipboard-${Date.now()}.png`);
    writeFileSync(path, bytes, { mode: 0o600 });
    return { path };
  };
}

/** Writes a PNG to its output; AppleScript writes it in hexadecimal. */
type Program = [file: string, ...args: string[]];

function programsOf(env: Env, platform: NodeJS.Platform): Program[] {
  if (platform === "darwin")
    return [
      ["pngpaste", "-"],
      ["osascript", "-e", "get the clipboard as «class PNGf»"],
    ];
  return [
    ...(env["WAYLAND_DISPLAY"] ? [["wl-paste", "--type", "image/png"] satisfies Program] : []),
    ...(env["DISPLAY"] ? [["xclip", "-selection", "clipboard", "-t", "image/png", "-o"] satisfies Program] : []),
  ];
}

async function read(programs: readonly Program[], env: Env): Promise<Buffer | "no-image" | "no-program"> {
  let problem: "no-image" | "no-program" = "no-program";
  for (const program of programs) {
    const [file] = program;
    const printed = await run(program, env);
    if (printed === undefined) continue;
    problem = "no-image";
    const bytes = file === "osascript" ? fromHex(printed.toString()) : printed;
    if (imageKindOf(bytes) !== undefined) return bytes;
  }
  return problem;
}

function fromHex(printed: string): Buffer {
  return Buffer.from(/«data PNGf([0-9A-F]+)»/i.exec(printed)?.[1] ?? "", "hex");
}

/** Undefined if there is no such program; empty if the clipboard has no such content. */
function run([file, ...args]: Program, env: Env): Promise<Buffer | undefined> {
  const options = { env, encoding: "buffer", maxBuffer: MAX_IMAGE_BYTES, timeout: TIMEOUT_MS } as const;
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout) => {
      if (error && (error as NodeJS.ErrnoException).code === "ENOENT") resolve(undefined);
      else resolve(error ? Buffer.alloc(0) : stdout);
    });
  });
}

function removeOld(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { force: true });
    }
  } catch {
    // No picture was pasted before.
  }
}
