import { spawn as spawnPty } from "@lydell/node-pty";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { bundled } from "./bundled.ts";
import type { ScriptedTurn } from "../../src/models/scripted.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { untilText } from "./until.ts";

export const program = bundled("sage", "src/cli/main.ts");

export type Ended = { code: number | null; out: string; err: string };

/** A person's machine: a home, a project, and no key or setting of whoever runs the tests. */
export class Machine {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-cli-")));
  readonly cwd: string;
  readonly env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: this.dir,
    SAGE_HOME: join(this.dir, "sage"),
    TMPDIR: this.dir,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    SAGE_PLAIN: "1", // lines of text; the terminal that is drawn has tests of its own
    ...(process.env["NODE_COMPILE_CACHE"] && { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }),
  };
  #open: (() => void)[] = [];
  #scripts = 0;

  constructor({ folder = "project" }: { folder?: string } = {}) {
    this.cwd = join(this.dir, folder);
    mkdirSync(this.cwd);
  }

  /** Plays these turns: the value for --model. */
  script(...turns: ScriptedTurn[]): string {
    const file = join(this.dir, `script-${this.#scripts++}.json`);
    writeFileSync(file, JSON.stringify(turns));
    return `scripted/${file}`;
  }

  /** Runs Sage to its end, with this on stdin. */
  async sage(
    args: string[],
    { input = "", ...options }: { input?: string; env?: Record<string, string>; under?: string[] } = {},
  ): Promise<Ended> {
    const running = this.start(args, options);
    running.type(input);
    running.end();
    return running.ended;
  }

  /** Sage with pipes, to talk to while it runs; `under` a program that starts it. */
  start(args: string[], { env = {}, under = [] }: { env?: Record<string, string>; under?: string[] } = {}) {
    const [first = process.execPath, ...rest] = [...under, process.execPath, program, ...args];
    const child = spawn(first, rest, { cwd: this.cwd, env: { ...this.env, ...env } });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdin.on("error", () => {}); // it may have left already
    const ended = new Promise<Ended>((done) => child.on("close", (code) => done({ code, out, err })));
    this.#open.push(() => child.kill("SIGKILL"));
    return {
      ended,
      pid: child.pid ?? 0,
      type: (text: string) => void child.stdin.write(text),
      end: () => void child.stdin.end(),
      kill: (signal: NodeJS.Signals) => void child.kill(signal),
      output: () => out,
      errors: () => err,
      until: (pattern: RegExp | string) => untilText(pattern, () => out + err),
    };
  }

  /** Sage in a real terminal, or a line of a shell. */
  terminal(args: string[] | string, { env = {}, cols = 100 }: { env?: Record<string, string>; cols?: number } = {}) {
    const [file, words] = typeof args === "string" ? ["/bin/sh", ["-c", args]] : [process.execPath, [program, ...args]];
    const pty = spawnPty(file, words, {
      cwd: this.cwd,
      cols,
      rows: 40,
      env: { ...this.env, ...env },
    });
    let raw = "";
    pty.onData((text) => (raw += text));
    const screen = () => stripVTControlCharacters(raw).replaceAll("\r\n", "\n");
    const code = new Promise<number>((done) => pty.onExit(({ exitCode }) => done(exitCode)));
    this.#open.push(() => {
      try {
        pty.kill("SIGKILL");
      } catch {
        // gone already
      }
    });
    let from = 0;
    return {
      code,
      raw: () => raw,
      screen,
      type: (keys: string) => pty.write(keys),
      kill: (signal: NodeJS.Signals) => pty.kill(signal),
      /** The next time this appears, after what was found before. */
      async until(pattern: RegExp | string): Promise<void> {
        ({ end: from } = await untilText(pattern, screen, { from }));
      },
      /** Waits for a prompt and answers it. */
      async answer(prompt: RegExp | string, text: string): Promise<void> {
        ({ end: from } = await untilText(prompt, screen, { from }));
        pty.write(`${text}\r`);
      },
    };
  }

  /** A yes to what only a person may allow: in a terminal, by typing the number that stands there. Gives what the terminal showed. */
  async allows(id: string, ...flags: string[]): Promise<{ code: number; screen: string }> {
    const terminal = this.terminal(["answer", id, "--yes", ...flags]);
    await terminal.until(/to allow it: /);
    terminal.type(`${/Type (\d+) to allow/.exec(terminal.screen())?.[1]}\r`);
    return { code: await terminal.code, screen: terminal.screen() };
  }

  /** What the journal has of one kind, in order. */
  async facts(type: string, { readOnly = true } = {}): Promise<{ data: Record<string, unknown> }[]> {
    const { DatabaseSync } = await import("node:sqlite");
    using journal = new DatabaseSync(join(this.env["SAGE_HOME"] ?? "", "journal.db"), { readOnly });
    const rows = journal.prepare("SELECT data FROM fact WHERE type=? ORDER BY seq").all(type) as { data: string }[];
    return rows.map(({ data }) => ({ data: JSON.parse(data) as Record<string, unknown> }));
  }

  async outcomes(): Promise<unknown[]> {
    return (await this.facts("input.resolved")).map(({ data }) => data["outcome"]);
  }

  /** Open requests, the oldest first, as the journal has them. */
  async pending(): Promise<InputRequest[]> {
    if (!existsSync(join(this.env["SAGE_HOME"] ?? "", "journal.db"))) return [];
    const like = { readOnly: false }; // a connection that only reads would leave the files beside the journal behind
    const asked = (await this.facts("input.requested", like)).map(({ data }) => data as InputRequest);
    const ended = new Set((await this.facts("input.resolved", like)).map(({ data }) => data["requestId"]));
    return asked.filter(({ id }) => !ended.has(id)).toSorted((a, b) => a.at - b.at);
  }

  file(name: string): string | undefined {
    const path = join(this.cwd, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  [Symbol.dispose](): void {
    for (const end of this.#open) end();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

export const bash = (command: string) => ({ tool: "Bash", input: { command } });

/** Leaves a mark each time it runs. */
export const mark = bash("echo ran >> ran.txt");

export const asks = (
  ...questions: { question: string; labels: string[]; multiSelect?: boolean; header?: string }[]
) => ({
  tool: "AskUserQuestion",
  input: {
    questions: questions.map(({ question, labels, multiSelect = false, header = "Choice" }) => ({
      question,
      header,
      multiSelect,
      options: labels.map((label) => ({ label, description: `take ${label}` })),
    })),
  },
});
