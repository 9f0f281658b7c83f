import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readFilter } from "../../src/permission/rules/filter.ts";
import { answer, bashIn, pathInput, rulesOf } from "./asking.ts";

const nowhere = { cwd: "/w", roots: [] };

function table(cases: [rule: string, tool: string, path: string, behavior: string][]): void {
  for (const [rule, tool, path, behavior] of cases)
    assert.equal(
      answer(rulesOf(rule), tool, pathInput(tool, path), nowhere).behavior,
      behavior,
      `${rule}: ${tool} ${path}`,
    );
}

test("anchors and stars of an allow rule", () => {
  table([
    ["+ Read(./src/**)", "Read", "/w/src/a/b.ts", "allow"],
    ["+ Read(src/**)", "Read", "/w/src/b.ts", "allow"],
    ["+ Read(src/**)", "Read", "src/b.ts", "allow"],
    ["+ Read(./src/**)", "Read", "/w/srcs/b.ts", "ask"],
    ["+ Read(./src/*)", "Read", "/w/src/a/b.ts", "ask"],
    ["+ Read(./src/*.ts)", "Read", "/w/src/b.ts", "allow"],
    ["+ Read(./src/?.ts)", "Read", "/w/src/b.ts", "allow"],
    ["+ Read(./src/?.ts)", "Read", "/w/src/bb.ts", "ask"],
    ["+ Read(./**/*.ts)", "Read", "/w/b.ts", "allow"],
    ["+ Read(./**/test/**/*.ts)", "Read", "/w/a/test/b/c.ts", "allow"],
    ["+ Read(./[ab].ts)", "Read", "/w/a.ts", "allow"],
    ["+ Read(./[a-c].ts)", "Read", "/w/b.ts", "allow"],
    ["+ Read(./[a-c].ts)", "Read", "/w/-.ts", "ask"],
    ["+ Read(./\\*.ts)", "Read", "/w/*.ts", "allow"],
    ["+ Read(./\\*.ts)", "Read", "/w/a.ts", "ask"],
    ["+ Read(~/x)", "Read", "/home/me/x", "allow"],
    ["+ Read(~/x)", "Read", "~/x", "allow"],
    ["+ Read(~)", "Read", "/home/me/x", "ask"],
    ["+ Read(/etc/hosts)", "Read", "/etc/hosts", "allow"],
    ["+ Read(//etc/hosts)", "Read", "/etc/hosts", "allow"],
    ["+ Read(../x/**)", "Read", "/x/y", "allow"],
    ["+ Read(*)", "Read", "/anything", "allow"],
    ["+ Read(**)", "Read", "/elsewhere", "ask"],
    ["+ Read(./caf\u00e9)", "Read", "/w/cafe\u0301", "allow"],
  ]);
});

test("an allow rule names exactly what it names", () => {
  table([
    ["+ Edit(./lib)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./lib/)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./Lib/**)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./lib/**)", "Write", "/w/lib/../vendor/a.js", "ask"],
    ["+ Edit(./lib/**)", "Write", "/w/vendor/../lib/a.js", "allow"],
    ["+ Edit(./lib/**)", "Write", "/w/lib/./a.js", "allow"],
    ["+ Edit(./lib/**)", "Write", "lib//a.js", "allow"],
    ["+ Edit(./lib/**)", "Write", "lib/\u0000a.js", "ask"],
    ["+ Edit(/**)", "Write", "~bob/a.js", "ask"],
    ["+ Edit(./[id]/**)", "Write", "/w/[id]/a.js", "ask"],
  ]);
});

test("a deny or ask rule covers a directory whole, and does not look at letter case or dots", () => {
  table([
    ["- Read(./secret)", "Read", "/w/secret/a/b", "deny"],
    ["- Read(./secret/)", "Read", "/w/secret/a", "deny"],
    ["- Read(./secret/)", "Read", "/w/secret", "deny"],
    ["? Read(./secret)", "Read", "/w/secret/a", "ask"],
    ["- Read(./secret)", "Read", "/w/SECRET/a", "deny"],
    ["- Read(./secret)", "Read", "/w/\u017fecret/a", "deny"],
    ["- Read(./secret)", "Read", "/w/sec\u200dret/a", "deny"],
    ["- Read(./secret)", "Read", "/w/x/../secret/a", "deny"],
    ["- Read(./secret)", "Read", "/w//secret", "deny"],
    ["- Read(./secret)", "Read", "/w/secrets", "ask"],
    ["- Read(./[id]/**)", "Read", "/w/[id]/a", "deny"],
    ["- Read(./[id]/**)", "Read", "/w/i/a", "deny"],
    ["- Read(**/.env*)", "Read", "/w/a/.env.local", "deny"],
    ["- Read(~)", "Read", "/home/me/x", "deny"],
  ]);
});

test("Read governs every tool that reads, Edit every tool that writes, and a Read deny stops writing too", () => {
  const cases: [rule: string, allowed: string[]][] = [
    ["+ Read(./a)", ["Read", "Grep", "Glob"]],
    ["+ Read", ["Read", "Grep", "Glob"]],
    ["+ Grep(./a)", ["Grep"]],
    ["+ Edit(./a)", ["Edit", "Write"]],
    ["+ Edit", ["Edit", "Write"]],
    ["+ Write(./a)", ["Edit", "Write"]],
    ["+ Write", ["Write"]],
    ["- Read(./a)", ["Read", "Grep", "Glob", "Edit", "Write"]],
    ["- Read", ["Read", "Grep", "Glob"]],
    ["- Edit(./a)", ["Edit", "Write"]],
    ["? Read(./a)", ["Read", "Grep", "Glob"]],
  ];
  for (const [rule, governed] of cases) {
    const matched = ["Read", "Grep", "Glob", "Edit", "Write"].filter(
      (tool) => answer(rulesOf(rule), tool, pathInput(tool, "/w/a"), nowhere).rule,
    );
    assert.deepEqual(matched, governed, rule);
  }
});

test("a search is judged by where it looks: its folder, and what its pattern begins with", () => {
  const glob = (input: object, ...rules: string[]) =>
    answer(rulesOf(...rules), "Glob", input, { cwd: "/w", roots: ["/w"] }).behavior;
  assert.equal(glob({ pattern: "**/*.ts" }), "allow");
  assert.equal(glob({ pattern: "src/**", path: "lib" }), "allow");
  assert.equal(glob({ pattern: "/etc/*" }), "ask");
  assert.equal(glob({ pattern: "../x/*" }), "ask");
  assert.equal(glob({ pattern: "a/*/../../../etc/*" }), "ask");
  assert.equal(glob({ pattern: "/etc/*" }, "- Read(/etc)"), "deny");
  assert.equal(glob({ pattern: "/etc/*" }, "+ Read(/etc/**)"), "allow");
});

/** A real tree: `w` is the workspace, `outside` is not. */
function tree(t: { after(undo: () => void): void }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-path-")));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ["w/lib/deep", "w/vault", "w/src", "outside/deep", "wx", "home"])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of [
    "w/a",
    "w/lib/a",
    "w/vault/key",
    "outside/secret",
    "outside/deep/x",
    "wx/a",
    "w/src/a.ts",
    "w/src/.env",
  ])
    writeFileSync(join(root, name), name);
  const link = (target: string, name: string) => symlinkSync(target, join(root, name));
  link(join(root, "outside"), "w/lib/out");
  link(join(root, "outside/secret"), "w/lib/file");
  link(join(root, "w/vault"), "w/lib/v");
  link(join(root, "w"), "linked");
  link(join(root, "outside/new"), "w/lib/dangling");
  link("../../outside/deep", "w/lib/relative");
  link("loop", "w/loop");
  link(join(root, "w/vault"), "w/named");
  link(join(root, "w/.git"), "w/lib/gen");
  const where = { cwd: join(root, "w"), home: join(root, "home"), roots: [join(root, "w")] };
  return { root, where, at: (name: string) => join(root, name) };
}

test("A3: links: an allow needs the path as written and where it leads, a deny needs either", (t) => {
  const { where, at } = tree(t);
  const edit = (path: string, ...rules: string[]) =>
    answer(rulesOf(...rules), "Edit", { file_path: at(path) }, where).behavior;
  assert.equal(edit("w/lib/a", "+ Edit(./lib/**)"), "allow");
  assert.equal(edit("w/lib/out/a", "+ Edit(./lib/**)"), "ask");
  assert.equal(edit("w/lib/out/a", "+ Edit(./lib/**)", `+ Edit(${at("outside")}/**)`), "allow");
  assert.equal(edit("w/lib/dangling", "+ Edit(./**)"), "ask");
  assert.equal(edit("w/lib/v/key", "- Edit(./vault)"), "deny");
  assert.equal(edit("w/vault/key", "- Edit(./named)"), "deny");
  assert.equal(edit("w/lib/out/a", "- Edit(./lib)"), "deny");
  assert.equal(edit("w/loop", "+ Edit(/**)"), "ask");
  assert.equal(edit("w/gone/a", "+ Edit(./lib/**)"), "ask");
  const linked = { ...where, cwd: at("linked"), roots: [at("linked")] };
  for (const file_path of ["lib/a", at("linked/lib/a"), at("w/lib/a")])
    assert.equal(answer(rulesOf("+ Edit(./lib/**)"), "Edit", { file_path }, linked).behavior, "allow", file_path);
  assert.equal(answer([], "Read", { file_path: "lib/a" }, linked).behavior, "allow");
});

test("A3: no spelling of a path leads out of the workspace unasked: tools, redirections and programs alike", (t) => {
  const { where, at } = tree(t);
  const ways = [
    "../outside/secret",
    "lib/../../outside/secret",
    "lib/out/secret",
    "lib/out/../outside/secret",
    "lib/file",
    "lib/relative/x",
    "lib/relative/../secret",
    "lib/dangling",
    at("outside/secret"),
    at("wx/a"),
    "../wx/a",
    "~/x",
    "loop",
    ".//lib//out//secret",
  ];
  const rules = ["+ Edit(./**)", "+ Bash(cp:*)", "+ Bash(mv:*)", "+ Bash(ln:*)", "+ Bash(tee:*)", "+ Bash(npm:*)"];
  for (const way of ways) {
    for (const tool of ["Read", "Write", "Edit", "Grep", "Glob"])
      // A tool takes dots as they are written, so this one never leaves for it.
      if (way !== "lib/out/../outside/secret" && way !== "lib/relative/../secret")
        assert.equal(answer(rulesOf(...rules), tool, pathInput(tool, way), where).behavior, "ask", `${tool} ${way}`);
    const commands = [`cat ${way}`, `npm a < ${way}`, `npm a > ${way}`, `cp ${way} b`, `cp a ${way}`, `mv ${way} b`];
    for (const command of [
      ...commands,
      `mv a ${way}`,
      `ln ${way} b`,
      `ln -s a ${way}`,
      `tee ${way}`,
      `grep x ${way}`,
      `head -1 a ${way}`,
    ])
      assert.equal(bashIn(where, command, ...rules).behavior, "ask", command);
  }
  for (const command of [
    "cat lib/a",
    "cat lib/../a",
    "cp a lib/b",
    "cat lib/v/key",
    "grep -r x src",
    "cat src/*.ts",
    "tee lib/new",
  ])
    assert.equal(bashIn(where, command, ...rules).behavior, "allow", command);
  for (const command of [
    "cat lib/*",
    "cat lib/f*",
    "cd lib && cat f*",
    "cat */file",
    "cd lib/out && cat secret",
    "cd lib/out/.. && cat a",
  ])
    assert.equal(bashIn(where, command, ...rules).behavior, "ask", command);
});

test("what follows links inside of folders is free only where none leads away", (t) => {
  const { where } = tree(t);
  const rules = ["+ Bash(cp:*)", "+ Edit(./**)"];
  for (const command of [
    "diff -r lib src",
    "grep -R x lib",
    "grep --dereference-recursive x .",
    "cp -r lib new",
    "cp -a lib new",
    "diff -ru src .",
  ])
    assert.equal(bashIn(where, command, ...rules).behavior, "ask", command);
  for (const command of ["diff -r vault src", "grep -R x vault", "cp -r vault new", "grep -r x lib"])
    assert.equal(bashIn(where, command, ...rules).behavior, "allow", command);
  assert.equal(bashIn(where, "diff -r vault src", "- Read(./vault/key)").hard, true);
  for (const command of ["grep -r x .*", "cat .*/secret", "ls .*", "cat lib/.*/a"])
    assert.equal(bashIn(where, command).behavior, command === "cat lib/.*/a" ? "allow" : "ask", command);
});

test("dots after a link mean what the system means: a folder is left on its real way", (t) => {
  const { where } = tree(t);
  // lib/relative is outside/deep, so its parent is outside.
  assert.equal(bashIn(where, "cat lib/relative/../secret").behavior, "ask");
  // Both readings of this one stay inside.
  assert.equal(bashIn(where, "cd lib/v && cat ../a").behavior, "allow");
  assert.equal(bashIn(where, "cd lib/deep && cat ../a").behavior, "allow");
});

test("a rule against a file is a rule against reading the folder it is in, all of it at once", (t) => {
  const { where } = tree(t);
  const deny = "- Read(**/.env)";
  for (const command of ["grep -r x .", "grep -rn x src", "rg x", "rg x src", "cat src/.e*", "diff -r src lib"])
    assert.notEqual(bashIn({ ...where, mode: "bypass" }, command, deny).behavior, "allow", command);
  for (const command of [
    "grep -r x vault",
    "rg x vault",
    "cat src/*",
    "ls -R",
    "find . -name x",
    "grep x src/a.ts",
    "rg x src/a.ts",
  ])
    assert.equal(bashIn(where, command, deny).behavior, "allow", command);
  assert.equal(bashIn(where, "rm -rf vault", "+ Bash(rm:*)", "+ Edit(./**)", "- Edit(./vault/key)").behavior, "deny");
  assert.equal(bashIn(where, "rm -rf lib", "+ Bash(rm:*)", "+ Edit(./**)", "- Edit(./vault/key)").behavior, "allow");
  assert.equal(bashIn(where, "rm -rf lib", "+ Bash(rm:*)", "+ Edit(./lib)").behavior, "ask");
});

test("a search does not show what a rule says no to, and shows what was asked about", (t) => {
  const { where, at } = tree(t);
  const shows = (path: string, from: string, ...rules: string[]) =>
    readFilter(rulesOf(...rules), where)?.(at(path), at(from)) ?? true;
  assert.equal(shows("w/src/a.ts", "w"), true);
  assert.equal(shows("w/src/.env", "w", "- Read(**/.env)"), false);
  assert.equal(shows("w/src/a.ts", "w", "- Read(**/.env)"), true);
  assert.equal(shows("w/vault/key", "w", "? Read(./vault)"), false);
  assert.equal(shows("w/vault/key", "w/vault", "? Read(./vault)"), true);
  assert.equal(shows("w/vault/key", "w/vault", "- Read(./named)"), false);
  assert.equal(shows("w/vault/key", "w", "- Edit(./vault)"), true);
  assert.equal(existsSync(at("w/vault/key")), true);
});
