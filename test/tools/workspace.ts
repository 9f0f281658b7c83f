import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { outcomeOf } from "../../src/agent/call/perform/perform.ts";
import { decide } from "../../src/permission/decide.ts";
import type { ToolResult } from "../../src/protocol/facts/message.ts";
import type { PermissionResult } from "../../src/protocol/facts/permission.ts";
import type { Spawn } from "../../src/tools/process/spawn.ts";
import { createSpawner } from "../../src/tools/process/spawner.ts";
import type { PermissionContext, Tool, ToolPlace, ToolScope } from "../../src/tools/definition/tool.ts";

const spawner = createSpawner();

/** A real folder in which tools run one after the other, as in a session. */
export class Workspace {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "sage-tools-")));
  readonly root = join(this.base, "work");
  readonly keepDir = join(this.base, "kept");
  readonly seen = new Map<string, string>();
  readonly pids: number[] = [];
  env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], HOME: homedir(), LANG: "C.UTF-8" };
  cwd = this.root;
  spawn: Spawn = spawner;
  attaches = false;
  watched = "";
  mayRead: ((path: string, from: string) => boolean) | undefined;
  asked: string[] = [];
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
      home: homedir(),
      ...(this.mayRead && { mayRead: this.mayRead }),
      seen: (path) => this.seen.get(path),
      keepDir: this.keepDir,
      output: (text) => {
        this.watched += text;
        this.onOutput(text);
      },
      spawned: (pid) => void this.pids.push(pid),
      waiting: (question) => this.asked.push(question),
      env: this.env,
      spawn: this.spawn,
      attaches: this.attaches,
      delegate: () => Promise.reject(new Error("no subagents here")),
      requestInput: () => Promise.reject(new Error("no tool uses this")),
    };
    const { end: _, ...result } = await outcomeOf(tool, tool.inputSchema.parse(input), scope);
    for (const [path, hash] of Object.entries(result.seen ?? {})) this.seen.set(path, hash);
    return result;
  }

  /** Decision about a call without any rule. */
  judge(tool: Tool, input: object): PermissionResult {
    const parsed = tool.inputSchema.parse(input) as object;
    const context: PermissionContext = {
      ...this.place,
      roots: [this.root],
      mode: "default",
      signal: new AbortController().signal,
    };
    const view = tool.checkPermissions && (() => tool.checkPermissions!(parsed, context));
    const { requiresUserInteraction } = tool;
    return decide({ rules: [], ...context, tool: tool.name, input: parsed, view, requiresUserInteraction });
  }

  get place(): ToolPlace {
    return { cwd: this.cwd, home: homedir() };
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

export function refusedBy(
  { inputSchema }: { inputSchema: { safeParse(input: unknown): { success: boolean } } },
  input: object,
): boolean {
  return !inputSchema.safeParse(input).success;
}
