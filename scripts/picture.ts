// Draws docs/pictures/web/ (page-pictures.ts), docs/demo.svg and docs/zh/demo.svg: the demo in a real pseudo-terminal, read off a terminal emulator.
// npm run picture            all of them
// npm run picture -- demo    the demo alone
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { moving, show, type Frame } from "./terminal-picture.ts";

const root = join(import.meta.dirname, "..");
const scenes = [
  {
    file: "docs/demo.svg",
    lang: "en",
    question: /Which language/,
    allow: "Allow once",
    here: /other process\?/,
    end: /From the journal/,
    label: "Sage asks in a terminal; the process is killed, another one answers, and the same turn goes on",
  },
  {
    file: "docs/zh/demo.svg",
    lang: "zh",
    question: /问候语/,
    allow: "允许一次",
    here: /这个进程里/,
    end: /日志记录/,
    label: "Sage 在终端里提问；进程被杀掉，另一个进程回答，同一轮继续做完",
  },
];
for (const scene of scenes) await paint(scene);
if (!process.argv.includes("demo")) await import("./page-pictures.ts");
process.exit(0);

async function paint({ file, lang, question, allow, here, end, label }: (typeof scenes)[number]): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sage-picture-"));
  const columns = 84;
  const screen = show([join(root, "src/cli/main.ts"), "demo"], {
    columns,
    rows: 30,
    cwd: home,
    env: { ...process.env, HOME: home, SAGE_HOME: join(home, ".sage"), SAGE_LANG: lang, USER: "you" },
  });
  const frames: Frame[] = [];
  /** Waits for this, takes a frame, then presses keys. */
  const scene = async (shown: RegExp, ...keys: string[]) => {
    await screen.press(shown);
    frames.push(screen.frame());
    await screen.press(shown, ...keys);
  };
  await scene(question, "1", "\r");
  await scene(new RegExp(`console\\.log[^]*${allow}`), "1", "\r");
  await scene(new RegExp(`node hello\\.mjs[^]*${allow}`), "1", "\r");
  await scene(new RegExp(`rm hello\\.mjs[^]*${allow}`));
  await scene(here, "y", "\r");
  await scene(end);
  writeFileSync(join(root, file), moving(frames, { columns, label }));
  screen.end();
  rmSync(home, { recursive: true, force: true });
}
