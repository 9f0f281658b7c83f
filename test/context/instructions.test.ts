import assert from "node:assert/strict";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { findInstructions } from "../../src/context/instructions.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "sage-instructions-")));
after(() => rmSync(base, { recursive: true }));

let count = 0;

/** A directory tree; a name that ends in a slash is an empty directory. */
function tree(files: Record<string, string>): string {
  const root = join(base, String(count++));
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(path, content);
  }
  return root;
}

const home = join(base, "home");

function find(root: string, cwd = "") {
  const { instructions, warnings } = findInstructions(join(root, cwd), { home });
  const short = (text: string) => text.replaceAll(`${root}/`, "").replaceAll(root, "ROOT");
  return {
    instructions: instructions.map(({ path, text }) => ({ path: short(path), text })),
    warnings: warnings.map((why) => short(sentence(why, "en"))),
  };
}

test("from the repository's root down to the working directory, the nearest last", () => {
  const root = tree({
    "AGENTS.md": "outside",
    "r/.git/HEAD": "",
    "r/AGENTS.md": "root",
    "r/a/CLAUDE.md": "middle",
    "r/a/b/AGENTS.md": "near",
    "r/a/b/c/AGENTS.md": "below",
    "r/x/AGENTS.md": "beside",
  });
  assert.deepEqual(find(root, "r/a/b"), {
    instructions: [
      { path: "r/AGENTS.md", text: "root" },
      { path: "r/a/CLAUDE.md", text: "middle" },
      { path: "r/a/b/AGENTS.md", text: "near" },
    ],
    warnings: [],
  });
});

test("a worktree has a file for .git and is a root too", () => {
  const root = tree({ "AGENTS.md": "outside", "r/.git": "gitdir: /x", "r/AGENTS.md": "root", "r/a/": "" });
  assert.deepEqual(find(root, "r/a").instructions, [{ path: "r/AGENTS.md", text: "root" }]);
});

test("without a repository only the working directory counts", () => {
  const root = tree({ "AGENTS.md": "above", "a/AGENTS.md": "here" });
  assert.deepEqual(find(root, "a").instructions, [{ path: "a/AGENTS.md", text: "here" }]);
});

test("a home directory under version control is not the repository of what lies below", () => {
  mkdirSync(join(home, ".git"), { recursive: true });
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "AGENTS.md"), "home");
  writeFileSync(join(home, "project/AGENTS.md"), "project");
  assert.deepEqual(find(home, "project").instructions, [{ path: "project/AGENTS.md", text: "project" }]);
  assert.deepEqual(find(home).instructions, [{ path: "AGENTS.md", text: "home" }]);
});

test("both names in one directory: both are told, the same content only once", () => {
  const both = tree({ "AGENTS.md": "one", "CLAUDE.md": "two" });
  assert.deepEqual(
    find(both).instructions.map(({ text }) => text),
    ["one", "two"],
  );
  const same = tree({ "AGENTS.md": "one" });
  symlinkSync("AGENTS.md", join(same, "CLAUDE.md"));
  assert.deepEqual(find(same), { instructions: [{ path: "AGENTS.md", text: "one" }], warnings: [] });
  const twin = tree({ "AGENTS.md": "one" });
  linkSync(join(twin, "AGENTS.md"), join(twin, "CLAUDE.md"));
  assert.equal(find(twin).instructions.length, 1);
});

test("a link may point elsewhere in the repository, never out of it", () => {
  const root = tree({ "secret.md": "secret", "r/.git/HEAD": "", "r/docs/agents.md": "docs", "r/a/": "" });
  symlinkSync("docs/agents.md", join(root, "r/AGENTS.md"));
  symlinkSync("../../secret.md", join(root, "r/a/AGENTS.md"));
  symlinkSync("nowhere.md", join(root, "r/a/CLAUDE.md"));
  assert.deepEqual(find(root, "r/a"), {
    instructions: [{ path: "r/AGENTS.md", text: "docs" }],
    warnings: ["r/a/AGENTS.md is left out: it is a link that leaves r"],
  });
});

test("a repository that is itself reached through a link is read", () => {
  const root = tree({ "r/.git/HEAD": "", "r/AGENTS.md": "root" });
  symlinkSync("r", join(root, "linked"));
  assert.deepEqual(find(root, "linked").instructions, [{ path: "linked/AGENTS.md", text: "root" }]);
});

test("a long file is cut between characters, and says so", () => {
  const root = tree({ "AGENTS.md": `a${"修".repeat(30_000)}`, "CLAUDE.md": "b".repeat(64 * 1024) });
  const [cut, whole] = find(root).instructions;
  assert.equal(cut?.text, `a${"修".repeat(21_845)}\n\n[Cut here: only the first 64 KB of 88 KB are shown.]`);
  assert.equal(whole?.text, "b".repeat(64 * 1024));
});

test("what is empty is not told; what cannot be read is named", () => {
  const root = tree({ "AGENTS.md": " \n", "CLAUDE.md/": "" });
  assert.deepEqual(find(root), {
    instructions: [],
    warnings: ["CLAUDE.md is left out: it is not a regular file"],
  });
});

test(
  "a file without permission to read is named",
  { skip: process.getuid?.() === 0 && "root reads everything" },
  () => {
    const root = tree({ "AGENTS.md": "x" });
    chmodSync(join(root, "AGENTS.md"), 0);
    assert.match(find(root).warnings[0] ?? "", /^AGENTS\.md is left out: EACCES/);
  },
);

test("a directory that does not exist has no instructions", () => {
  assert.deepEqual(find(base, "gone"), { instructions: [], warnings: [] });
});

test("H3 a link to another kind of file, or to one that a rule is against, is left out", () => {
  const root = tree({ "r/.git/HEAD": "", "r/.env": "KEY=1", "r/docs/agents.md": "read me", "r/secret/a.md": "s" });
  symlinkSync(".env", join(root, "r/AGENTS.md"));
  symlinkSync("docs/agents.md", join(root, "r/CLAUDE.md"));
  assert.deepEqual(find(root, "r").instructions, [{ path: "r/CLAUDE.md", text: "read me" }]);
  assert.match(find(root, "r").warnings.join(), /AGENTS\.md is left out: it is a link to \.env/);
  rmSync(join(root, "r/CLAUDE.md"));
  symlinkSync("secret/a.md", join(root, "r/CLAUDE.md"));
  const mayRead = (path: string) => !path.includes("/secret/");
  assert.deepEqual(findInstructions(join(root, "r"), { home, mayRead }).instructions, []);
});
