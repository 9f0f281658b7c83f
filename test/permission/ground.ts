import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bash as bashTool } from "../../src/tools/shell/bash.ts";
import type { ToolScope } from "../../src/tools/definition/tool.ts";
import { bashIn } from "./asking.ts";

/** A real folder with a real repository; `marker` is what an attack leaves behind. */
export class Ground {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "sage-threat-")));
  readonly cwd = join(this.root, "w");
  readonly home = join(this.root, "home");
  readonly marker = join(this.root, "marker");
  readonly roots = [this.cwd];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.home);
    this.put("a.txt", "a\n");
    this.put("evil", `#!/bin/sh\n: > '${this.marker}'\nexec cat\n`, 0o755);
  }

  put(name: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.cwd, name)), { recursive: true });
    writeFileSync(join(this.cwd, name), content, { mode });
  }

  git(...args: string[]): void {
    const env = { PATH: process.env["PATH"], HOME: this.home, GIT_CONFIG_NOSYSTEM: "1" };
    const who = ["-c", "user.name=me", "-c", "user.email=me@x"];
    execFileSync("git", [...who, ...args], { cwd: this.cwd, env, stdio: "pipe" });
  }

  ask(command: string, ...rules: string[]): string {
    return bashIn({ cwd: this.cwd, home: this.home, roots: this.roots }, command, ...rules).behavior;
  }

  /** As the Bash tool runs it. */
  async run(command: string): Promise<string> {
    rmSync(this.marker, { force: true });
    const scope = {
      signal: new AbortController().signal,
      cwd: this.cwd,
      home: this.home,
      keepDir: this.root,
      env: { PATH: process.env["PATH"] },
      output() {},
      spawned() {},
    } as unknown as ToolScope;
    return (await bashTool.execute(bashTool.inputSchema.parse({ command }), scope)).text;
  }

  marked(): boolean {
    return existsSync(this.marker);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export function isInstalled(program: string): boolean {
  return spawnSync("bash", ["-c", `command -v ${program}`]).status === 0;
}
