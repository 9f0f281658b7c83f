// npm run build: dist/, the bundle that `sage` and `import "sage-agent"` start.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, globSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "./bundle.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
await bundle(dist, { sage: "src/cli/main.ts", sdk: "src/sdk/index.ts" }, { minify: true });
copyFileSync(join(root, "scripts/bin.mjs"), join(dist, "bin.mjs"));
chmodSync(join(dist, "bin.mjs"), 0o755);
addTypes();
for (const file of globSync("dist/*.mjs", { cwd: root }).sort())
  console.log(`${file.padEnd(40)} ${Math.ceil(statSync(join(root, file)).size / 1024)} kB`);

function addTypes(): void {
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "scripts/tsconfig.sdk.json"];
  const { status } = spawnSync(process.execPath, tsc, { cwd: root, stdio: "inherit" });
  if (status === 0) return;
  console.error("build: the SDK's declarations could not be written");
  process.exitCode = 1;
}
