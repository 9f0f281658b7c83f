import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const under = (folder: string) =>
  globSync(`${folder}/**`, { cwd: root })
    .map((path) => path.replaceAll(sep, "/"))
    .toSorted();

test("the map in AGENTS.md names every folder of src", () => {
  const real = under("src").filter((path) => path !== "src" && statSync(join(root, path)).isDirectory());
  const told = readMap(readFileSync(join(root, "AGENTS.md"), "utf8")).map(({ folder }) => folder);
  assert.deepEqual(told.filter((folder) => folder.startsWith("src/")).toSorted(), real);
});

test("nothing is left lying at the top of the repository", () => {
  const { status, stdout } = spawnSync("git", ["ls-files", "--", ":(glob)*"], { cwd: root, encoding: "utf8" });
  if (status !== 0) return; // a copy without its history
  const known = /^(?:\..+|.+\.md|Dockerfile|LICENSE|(?:package|package-lock|tsconfig)\.json)$/;
  assert.deepEqual(
    stdout.split("\n").filter((name) => name !== "" && !known.test(name)),
    [],
  );
});

test("the map in AGENTS.md names no file that is not there", () => {
  const gone = readMap(readFileSync(join(root, "AGENTS.md"), "utf8")).flatMap(({ folder, files }) =>
    files.filter((file) => !under(folder).includes(`${folder}/${file}`)).map((file) => `${folder}/${file}`),
  );
  assert.deepEqual(gone, []);
});

test("a map is read by its indentation, several folders on a line", () => {
  assert.deepEqual(readMap("```\nsrc/\n  a/   one.ts and two.ts; more\n    b/ c/   three.ts\n  d/\n```\n  e/"), [
    { folder: "src", files: [] },
    { folder: "src/a", files: ["one.ts", "two.ts"] },
    { folder: "src/a/b", files: [] },
    { folder: "src/a/c", files: ["three.ts"] },
    { folder: "src/d", files: [] },
  ]);
});

/** Folders of the block that begins with `src/`, with the files that their line names. */
function readMap(page: string): { folder: string; files: string[] }[] {
  const [, block = ""] = /^```\n(src\/\n[^]*?)^```/m.exec(page) ?? assert.fail("AGENTS.md has no map of src/");
  const parents: string[] = [];
  return block.split("\n").flatMap((line) => {
    const [, indent = "", names = "", told = ""] = /^( *)((?:[\w-]+\/ ?)+)(.*)$/.exec(line) ?? [];
    if (names === "") return [];
    const level = indent.length / 2;
    const folders = names
      .trim()
      .split(" ")
      .map((name) => posix.join(parents[level - 1] ?? "", name.slice(0, -1)));
    parents[level] = folders.at(-1) ?? "";
    const files = [...told.matchAll(/[\w-]+\.(?:ts|md)\b/g)].map(([file]) => file);
    return folders.map((folder, n) => ({ folder, files: n === folders.length - 1 ? files : [] }));
  });
}
