// Draws docs/pictures/web/ (page-pictures.ts), docs/demo.svg and docs/zh/demo.svg: the demo in a real pseudo-terminal, read off a terminal emulator. Run with `npm run picture`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { show } from "./terminal-picture.ts";

const root = join(import.meta.dirname, "..");
const scenes = [
  {
    file: "docs/demo.svg",
    lang: "en",
    question: /Which language/,
    permission: /hello\.mjs[\s\S]*Allow once/,
    label: "Sage asks a question and for permission in a terminal",
  },
  {
    file: "docs/zh/demo.svg",
    lang: "zh",
    question: /问候语/,
    permission: /hello\.mjs[\s\S]*允许一次/,
    label: "Sage 在终端里提问并请求许可",
  },
];
for (const scene of scenes) await paint(scene);
await import("./page-pictures.ts");
process.exit(0);

async function paint({ file, lang, question, permission, label }: (typeof scenes)[number]): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sage-picture-"));
  const screen = show([join(root, "src/cli/main.ts"), "demo"], {
    columns: 84,
    rows: 60,
    cwd: home,
    env: { ...process.env, HOME: home, SAGE_HOME: join(home, ".sage"), SAGE_LANG: lang, USER: "you" },
  });
  await screen.press(question, "1", "\r");
  await screen.press(permission, "1");
  writeFileSync(join(root, file), screen.draw(label));
  screen.end();
  rmSync(home, { recursive: true, force: true });
}
