import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signalGroup } from "../../../processes/group.ts";
import type { TerminalOptions } from "../../../surfaces/terminal/index.ts";

type Env = NodeJS.ProcessEnv;

const MAX_OUTPUT_BYTES = 64 * 1024;

/** `!command`: the person's own shell, with everything they have. Their screen shows what it prints; what goes further is redacted. */
export function personShell(
  cwd: string,
  env: Env,
  redact: (text: string) => string,
): NonNullable<TerminalOptions["shell"]> {
  return async (command, { output, signal }) => {
    const child = spawn(env["SHELL"] || "sh", ["-c", command], {
      cwd,
      env,
      // A group of its own: Ctrl-C ends what it started too. No terminal: the screen is Sage's.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed = (printed + text).slice(-MAX_OUTPUT_BYTES);
        output(text);
      });
    const kill = () => void signalGroup(child.pid, "SIGKILL");
    signal.addEventListener("abort", kill, { once: true });
    try {
      const [code] = (await once(child, "close")) as [number | null];
      return { code: code ?? 130, told: redact(printed) }; // whole: a secret may come in two pieces
    } finally {
      signal.removeEventListener("abort", kill);
    }
  };
}

/** Ctrl-G: $VISUAL or $EDITOR, on a file that is gone afterwards. Undefined where neither is set. */
export function personEditor(env: Env): TerminalOptions["edit"] {
  const editor = env["VISUAL"] || env["EDITOR"];
  if (!editor) return undefined;
  return async (text) => {
    const dir = mkdtempSync(join(tmpdir(), "sage-message-"));
    const file = join(dir, "message.md");
    try {
      writeFileSync(file, text, { mode: 0o600 });
      // Editors are set with arguments, such as `code --wait`.
      const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Error(`${editor}: ${code ?? "killed"}`);
      return readFileSync(file, "utf8").trimEnd();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };
}

/** Ctrl-Z: until the shell brings Sage back. */
export async function suspend(): Promise<void> {
  const back = once(process, "SIGCONT");
  process.kill(0, "SIGTSTP"); // the whole group, as the terminal itself would
  await back;
}

/** The person's own command, which reads the text from SAGE_NOTICE. */
export function personNotifier(command: string, env: Env): NonNullable<TerminalOptions["notify"]> {
  return async (text) => {
    const child = spawn("sh", ["-c", command], { stdio: "ignore", env: { ...env, SAGE_NOTICE: text }, detached: true });
    child.unref();
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`it ended with ${code ?? "a signal"}`);
  };
}
