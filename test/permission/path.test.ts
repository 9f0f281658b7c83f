import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { answer, rulesOf } from "./asking.ts";

function table(cases: [rule: string, tool: string, path: string, behavior: string][]): void {
  for (const [rule, tool, path, behavior] of cases)
    assert.equal(answer(rulesOf(rule), tool, path).behavior, behavior, `${rule}: ${tool} ${path}`);
}

test("anchors and stars of an allow rule", () => {
  table([
    ["+ Read(./src/**)", "Read", "/w/src/a/b.ts", "allow"],
    ["+ Read(src/**)", "Read", "/w/src/b.ts", "allow"],
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
    ["+ Read(~)", "Read", "/home/me/x", "ask"],
    ["+ Read(/etc/hosts)", "Read", "/etc/hosts", "allow"],
    ["+ Read(//etc/hosts)", "Read", "/etc/hosts", "allow"],
    ["+ Read(../x/**)", "Read", "/x/y", "allow"],
    ["+ Read(*)", "Read", "/anything", "allow"],
    ["+ Read(**)", "Read", "/elsewhere", "ask"],
    ["+ Read(C:/x/**)", "Read", "C:\\x\\y", "allow"],
    ["+ Read(./caf\u00e9)", "Read", "/w/cafe\u0301", "allow"],
  ]);
});

test("an allow rule names exactly what it names", () => {
  table([
    ["+ Edit(./lib)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./lib/)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./Lib/**)", "Edit", "/w/lib/a", "ask"],
    ["+ Edit(./lib/**)", "Write", "/w/lib/../vendor/a.js", "ask"],
    ["+ Edit(./lib/**)", "Write", "/w/lib/./a.js", "ask"],
    ["+ Edit(./lib/**)", "Write", "/w/lib//a.js", "ask"],
    ["+ Edit(./lib/**)", "Write", "lib/a.js", "ask"],
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
    ["- Read(C:/Secret)", "Read", "c:\\secret\\a", "deny"],
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
      (tool) => answer(rulesOf(rule), tool, "/w/a").rule,
    );
    assert.deepEqual(matched, governed, rule);
  }
});

test("links: an allow needs the path as written and where it leads, a deny needs either", (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-path-")));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ["w/lib", "w/vault", "outside"]) mkdirSync(join(root, name), { recursive: true });
  symlinkSync(join(root, "outside"), join(root, "w/lib/out"));
  symlinkSync(join(root, "w/vault"), join(root, "w/lib/v"));
  symlinkSync(join(root, "w"), join(root, "linked"));
  const real = (path: string) =>
    existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  const ask = (rule: string, path: string, cwd = join(root, "w")) =>
    answer(rulesOf(rule), "Edit", join(root, path), { cwd, real }).behavior;

  assert.equal(ask("+ Edit(./lib/**)", "w/lib/a"), "allow");
  assert.equal(ask("+ Edit(./lib/**)", "w/lib/out/a"), "ask");
  assert.equal(ask("- Edit(./vault)", "w/lib/v/a"), "deny");
  assert.equal(ask("- Edit(./lib)", "w/lib/out/a"), "deny");
  assert.equal(ask("+ Edit(./lib/**)", "linked/lib/a", join(root, "linked")), "allow");
  assert.equal(ask("+ Edit(./lib/**)", "w/gone/a"), "ask");
});
