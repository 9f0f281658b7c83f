import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../src/guest/command.ts";

const cases: [given: unknown, line: string | undefined][] = [
  ["ls -la", "ls -la"],
  ["/bin/bash -lc 'echo ran >> made.txt'", "echo ran >> made.txt"],
  ["bash -c ls", "ls"],
  ["/usr/bin/zsh -l -c 'a | b'", "a | b"],
  [`/bin/bash -lc 'echo '"'"'quoted'"'"''`, "echo 'quoted'"],
  [`/bin/bash -lc "echo \\"twice\\" \\$HOME"`, 'echo "twice" $HOME'],
  ["/bin/bash -lc 'echo 中文\nls'", "echo 中文\nls"],
  [["bash", "-lc", "rm -r dist"], "rm -r dist"],
  [["git", "commit", "-m", "it's done"], `git commit -m 'it'\\''s done'`],
  // A line that a shell would change, or that has more than one command, is judged as it stands.
  [`/bin/bash -lc "echo $HOME"`, `/bin/bash -lc "echo $HOME"`],
  ["/bin/bash -lc 'ls' extra", "/bin/bash -lc 'ls' extra"],
  ["/bin/bash -lc 'ls'; rm x", "/bin/bash -lc 'ls'; rm x"],
  ["/bin/bash -lc 'ls' && rm x", "/bin/bash -lc 'ls' && rm x"],
  ["/tmp/bash -lc 'ls'", "/tmp/bash -lc 'ls'"],
  ["/bin/bash -xc 'ls'", "/bin/bash -xc 'ls'"],
  ["/bin/bash -lc 'ls", "/bin/bash -lc 'ls"],
  ["", undefined],
  [undefined, undefined],
  [[1, 2], undefined],
];

for (const [given, line] of cases)
  test(`the line of ${JSON.stringify(given)} is ${JSON.stringify(line)}`, () => {
    assert.equal(commandLine(given, { cwd: "/project", sessionCwd: "/project" }), line);
  });

test("a command that runs in another folder says so, all of it", () => {
  const sessionCwd = "/project";
  assert.equal(commandLine("npm test", { cwd: "web", sessionCwd }), "cd /project/web && npm test");
  assert.equal(commandLine("a; b", { cwd: "/else where", sessionCwd }), "cd '/else where' && { a; b\n}");
  assert.equal(commandLine("ls", { cwd: "/project/", sessionCwd }), "ls");
  assert.equal(commandLine("ls", { cwd: undefined, sessionCwd }), "ls");
});
