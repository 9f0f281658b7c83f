import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { DemoTexts } from "../../texts/commands/demo.ts";

export type DemoWorld = {
  dir: string;
  /** The project. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Takes away everything that the demo has made. */
  remove(): void;
};

/** A folder for the demo to work in, which is gone when the process is. */
export function demoWorld(t: DemoTexts, env: NodeJS.ProcessEnv): DemoWorld {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-demo-")));
  const cwd = join(dir, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "README.md"), t.readme);
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.on("exit", remove); // however it ends
  // The program it writes is run by the Node that runs Sage.
  const PATH = `${dirname(process.execPath)}${delimiter}${env["PATH"] ?? ""}`;
  return { dir, cwd, env: { ...env, PATH }, remove };
}
