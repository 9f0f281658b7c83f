// npm run release -- 0.3.0                                    prepares a release in release/sage-agent
// npm run release -- 0.3.0 --repository git+https://…         with the address of the repository in the published package.json
// npm run release -- --stage                                  only writes the package as it would be published now
// It changes the version, the changelog and the journal fixtures, and builds the package. It commits, tags and publishes nothing.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { releaseChangelog } from "./release/changelog.ts";
import { stage } from "./release/stage.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "release/sage-agent");
const { values, positionals } = parseArgs({
  options: { repository: { type: "string" }, stage: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [version] = positionals;

try {
  if (!values.stage) prepare(version);
  await stage(folder, values.repository === undefined ? {} : { repository: values.repository });
  const file = pack();
  console.log(`${file} is the package. Install it: npm i -g ./${file}`);
  if (!values.stage) {
    console.log("Then, in this order:");
    console.log("  npm test");
    console.log(`  git add -A && git commit -m "release: ${version}" && git tag v${version}`);
    console.log(`  npm publish ./${file}    # or push the tag: .github/workflows/publish.yml does it with provenance`);
  }
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

function prepare(next: string | undefined): void {
  const { version: current } = JSON.parse(read("package.json")) as { version: string };
  if (next === undefined || !isAfter(next, current))
    throw new Error(`say a version after ${current}: npm run release -- 0.3.0`);
  if (git("status", "--porcelain") !== "") throw new Error("commit first: there are changes that are in no commit");
  const changelog = releaseChangelog(read("CHANGELOG.md"), next, new Date().toISOString().slice(0, 10));
  write("CHANGELOG.md", changelog);
  write("package.json", read("package.json").replace(`"version": "${current}"`, `"version": "${next}"`));
  // Once for the file, once for the package in it.
  write(
    "package-lock.json",
    replaceTwice(read("package-lock.json"), `"version": "${current}"`, `"version": "${next}"`),
  );
  write("src/config/version.ts", read("src/config/version.ts").replace(`"${current}"`, `"${next}"`));
  // In a process of its own: this one may have loaded the version from before.
  run("scripts/fixture.ts");
}

/** Packs the folder beside it, under the name that npm gives. */
function pack(): string {
  const beside = dirname(folder);
  for (const old of globSync("*.tgz", { cwd: beside })) rmSync(join(beside, old));
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { stdout, status } = spawnSync(npm, ["pack", "--silent", "--pack-destination", beside, folder], {
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("npm pack failed; see npm's message above");
  return `release/${stdout.trim()}`;
}

function isAfter(next: string, current: string): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(next)?.slice(1).map(Number);
  if (!parts) return false;
  const before = current.split(".").map(Number);
  const first = parts.findIndex((part, n) => part !== before[n]);
  return first >= 0 && (parts[first] ?? 0) > (before[first] ?? 0);
}

function replaceTwice(text: string, from: string, to: string): string {
  return text.replace(from, to).replace(from, to);
}

function run(script: string): void {
  const { status } = spawnSync(process.execPath, [join(root, script)], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error(`${script} failed`);
}

function git(...args: string[]): string {
  return spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function write(file: string, text: string): void {
  writeFileSync(join(root, file), text);
}
