import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PermissionResult, ToolResult } from "../../src/protocol/index.ts";
import type { PermissionContext, Tool, ToolScope } from "../../src/tools/tool.ts";

/** A real folder in which tools run one after the other, as in a session. */
export class Workspace {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "sage-tools-")));
  readonly root = join(this.base, "work");
  readonly keepDir = join(this.base, "kept");
  readonly seen = new Map<string, string>();
  readonly pids: number[] = [];
  env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], HOME: homedir(), LANG: "C.UTF-8" };
  cwd = this.root;
  watched = "";
  onOutput: (text: string) => void = () => undefined;

  constructor(files: Record<string, string | Buffer> = {}) {
    mkdirSync(this.root);
    for (const [name, content] of Object.entries(files)) this.put(name, content);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  put(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  get(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  async run(tool: Tool, input: object, signal = new AbortController().signal): Promise<ToolResult> {
    const scope: ToolScope = {
      signal,
      cwd: this.cwd,
      seen: (path) => this.seen.get(path),
      keepDir: this.keepDir,
      output: (text) => {
        this.watched += text;
        this.onOutput(text);
      },
      spawned: (pid) => this.pids.push(pid),
      env: this.env,
      delegate: () => Promise.reject(new Error("no subagents here")),
      requestInput: () => Promise.reject(new Error("no tool uses this")),
    };
    const result = await tool.execute(tool.inputSchema.parse(input), scope);
    for (const [path, hash] of Object.entries(result.seen ?? {})) this.seen.set(path, hash);
    return result;
  }

  judge(tool: Tool, input: object): PermissionResult | undefined {
    const context: PermissionContext = { cwd: this.cwd, home: homedir(), roots: [this.root], mode: "default" };
    return tool.checkPermissions?.(tool.inputSchema.parse(input), context);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}
