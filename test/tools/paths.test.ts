import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalPath, isInside } from "../../src/permission/paths/canonical.ts";
import { protectedKind } from "../../src/permission/paths/protected.ts";
import { edit } from "../../src/tools/files/edit.ts";
import { read } from "../../src/tools/files/read.ts";
import { write } from "../../src/tools/files/write.ts";
import { refusedBy, Workspace } from "./workspace.ts";

test("a path is followed through links, also dangling ones, to where a write would land", () => {
  using work = new Workspace({ "real/a.txt": "a" });
  symlinkSync("real", work.path("link"));
  symlinkSync(join(work.base, "outside/new.txt"), work.path("dangling"));
  symlinkSync("../outside", work.path("relative"));
  const real = (path: string) => canonicalPath(path, work.place).real;
  assert.equal(real("link/a.txt"), work.path("real/a.txt"));
  assert.equal(real("link/new/deep.txt"), work.path("real/new/deep.txt"));
  assert.equal(real("dangling"), join(work.base, "outside/new.txt"));
  assert.equal(real("relative/x"), join(work.base, "outside/x"));
  assert.equal(real("real/a.txt/below-a-file"), work.path("real/a.txt/below-a-file"));
  assert.deepEqual(canonicalPath("link/../b", work.place), { lexical: work.path("b"), real: work.path("b") });
  assert.equal(real("~/x"), join(canonicalPath(homedir(), work.place).real, "x"));
});

test("a loop of links is an error, not a hang", async () => {
  using work = new Workspace();
  symlinkSync("b", work.path("a"));
  symlinkSync("a", work.path("b"));
  assert.throws(() => canonicalPath("a", work.place), /too many links/);
  assert.equal(work.judge(read, { file_path: "a" }).hard, true);
  assert.deepEqual(work.judge(write, { file_path: "a", content: "" }).hard, true);
  assert.match((await work.run(read, { file_path: "a" })).text, /too many links/);
  assert.equal(write.operand?.({ file_path: "a", content: "" }, work.place), undefined);
});

test("containment goes by segments", () => {
  assert.equal(isInside("/w", "/w"), true);
  assert.equal(isInside("/w", "/w/..x"), true);
  assert.equal(isInside("/w", "/workspace"), false);
  assert.equal(isInside("/w", "/"), false);
  assert.equal(isInside("/w/e\u0301", "/w/é/x"), true);
  for (const out of ["/w/..", "/w/../x", "/w/.a/../../x", "/w/./../x", "/w//../x"])
    assert.equal(isInside("/w", out), false, out);
  for (const below of ["/w/.a", "/w/.a/..", "/w/...", "/w/./x", "/w//x", "/w/"])
    assert.equal(isInside("/w", below), true, below);
});

test("control characters and other people's homes are refused before anyone is asked", () => {
  for (const file_path of ["", "a\0b", "a\nb", "a\u001b[2Jb", "~root/x"])
    assert.ok(refusedBy(read, { file_path }), file_path);
  assert.ok(refusedBy(read, { file_path: "a", answers: {} }));
});

test("reading is allowed inside the workspace and left to the rules outside of it", () => {
  using work = new Workspace({ "a.txt": "a" });
  symlinkSync("/etc", work.path("etc"));
  symlinkSync(work.root, join(work.base, "twin"));
  mkdirSync(`${work.root}-twin`);
  const behavior = (file_path: string) => work.judge(read, { file_path }).behavior;
  assert.equal(behavior("a.txt"), "allow");
  assert.equal(behavior("not-there/yet.txt"), "allow");
  assert.equal(behavior("../a.txt"), "ask");
  assert.equal(behavior("etc/passwd"), "ask");
  assert.equal(behavior(`${work.root}-twin/a.txt`), "ask");
  work.cwd = join(work.base, "twin");
  assert.equal(behavior("a.txt"), "allow");
});

test("protected places are protected in any case, spelling and depth, whether or not they exist", () => {
  const places = [
    ...[
      "/w/.sage/settings.json",
      "/w/.mcp.json",
      "/h/.ssh/authorized_keys",
      "/h/.aws/credentials",
      "/h/.config/gh/hosts.yml",
    ],
    ...[
      "/w/.git/hooks/pre-commit",
      "/w/sub/.git",
      "/w/.gitmodules",
      "/h/.gitconfig",
      "/h/.config/git/config",
      "/w/.husky/x",
    ],
    ...[
      "/w/.pre-commit-config.yaml",
      "/h/.bashrc",
      "/h/.zshenv",
      "/w/.envrc",
      "/h/.config/fish/config.fish",
      "/h/.netrc",
    ],
    ...[
      "/w/.vscode/tasks.json",
      "/w/.idea/x",
      "/w/.devcontainer/devcontainer.json",
      "/w/.cargo/config.toml",
      "/w/.yarnrc.yml",
    ],
    ...[
      "/h/.config/systemd/user/x.service",
      "/etc/cron.d/x",
      "/var/spool/cron/root",
      "/h/Library/LaunchAgents/x.plist",
    ],
    ...[
      "/w/.npmrc",
      "/w/.ripgreprc",
      "/w/.GIT/config",
      "/w/.ſage/x",
      "/w/.g\u200cit/config",
      "/w/.git./config",
      "/w/.git /config",
    ],
  ];
  for (const place of places) assert.notEqual(protectedKind(place), undefined, place);
  for (const place of [
    "/w/.github/workflows/ci.yml",
    "/w/git/config",
    "/w/.gitignore",
    "/w/sage/x",
    "/w/.bashrc.d",
    "/w/src/.env",
  ]) {
    assert.equal(protectedKind(place), undefined, place);
  }
  assert.equal(protectedKind("/data/state/journal.db", "/data/state/"), "sage-state");
  assert.equal(protectedKind("/data/states", "/data/state"), undefined);
});

test("writing to a protected place is a hard ask, also through a link and by either name", () => {
  using work = new Workspace();
  mkdirSync(work.path(".git"));
  symlinkSync(".git", work.path("lib"));
  symlinkSync(work.base, work.path(".vscode"));
  for (const file_path of [".git/config", "lib/config", ".vscode/x", ".sage/settings.json"]) {
    const verdict = work.judge(write, { file_path, content: "x" });
    assert.deepEqual([verdict.behavior, verdict.hard], ["ask", true], file_path);
    assert.deepEqual(work.judge(edit, { file_path, old_string: "a", new_string: "b" }), verdict);
  }
  assert.equal(work.judge(write, { file_path: "src/a.ts", content: "x" }).behavior, "ask");
});
