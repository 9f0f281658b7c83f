// npm run test:remote                                          the stories of the terminal once more, over a WebSocket
// npm run test:remote -- test/surfaces/terminal/vim.test.ts    some of them
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const named = process.argv.slice(2);
const stories = ["session", "modes", "screen", "together", "picker", "rewind", "vim", "looks"];
const all = globSync(`test/surfaces/terminal/{${stories.join(",")}}.test.ts`, { cwd: root }).toSorted();
const child = spawn(
  process.execPath,
  [join(root, "scripts/test.ts"), "--no-check", "test/remote", ...(named.length > 0 ? named : all)],
  { cwd: root, stdio: "inherit", env: { ...process.env, TEST_OVER: "remote" } },
);
child.on("exit", (code) => (process.exitCode = code ?? 1));
