import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cannotConfine, confinedPlace, ordinary, runInside } from "../support/confine.ts";

const skip = await cannotConfine();
const place = confinedPlace({ mine: true });
after(() => place[Symbol.dispose]());

/** Work of every day, each with the program that it takes: without it the line is left out. */
const works: Record<string, [program: string, line: string]> = {
  "git looks": ["git", "git status --short && git log --oneline && git diff"],
  "its own processes": ["ps", "ps aux | grep -q bash"],
  "make and a compiler": [
    "cc",
    "printf 'int main(){return 0;}' > a.c && printf 'a: a.c\\n\\tcc -o a a.c\\n' > build.mk && make -f build.mk && ./a",
  ],
  "node with a server and its client": [
    "node",
    `node -e 'const s=require("http").createServer((q,a)=>a.end("hi")).listen(0,async()=>{const r=await fetch("http://127.0.0.1:"+s.address().port);process.exit((await r.text())==="hi"?0:1)})'`,
  ],
  "python with processes and shared memory": [
    "python3",
    `python3 -c 'import multiprocessing as m
if __name__=="__main__":
  with m.Pool(2) as p: assert p.map(abs,[-1,-2])==[1,2]
  from multiprocessing import shared_memory as s; x=s.SharedMemory(create=True,size=10); x.unlink()'`,
  ],
  "sockets in /tmp": [
    "python3",
    `python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("/tmp/x.sock"); s.listen()'`,
  ],
  "temporary files and caches": [
    "mktemp",
    "t=$(mktemp) && echo x > $t && mkdir -p ~/.cache/tool && echo y > ~/.cache/tool/f && cat $t ~/.cache/tool/f",
  ],
  "a terminal of its own": ["script", "script -qec true /dev/null"],
  "figures of the machine": ["nproc", "nproc && df . >/dev/null && uname -r"],
  "npm reads its package": ["npm", "npm pkg get name"],
};

let seen: Record<string, string> = {};

before(async () => {
  if (skip !== false) return;
  const { root, home, state, dir } = place;
  writeFileSync(join(root, "package.json"), '{ "name": "everyday" }\n');
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=b", ...args], { cwd: root });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "one");
  if (ordinary) execFileSync("chown", ["-R", `${ordinary.uid}:${ordinary.gid}`, dir]);
  const lines = Object.entries(works).map(
    ([name, [program, line]]) =>
      `echo "@@ ${name}"; if command -v ${program} >/dev/null; then ( ${line}\n) 2>&1 && echo WORKS; else echo MISSING; fi`,
  );
  const [first, second] = await runInside({
    ...{ root, home, state },
    commands: [{ line: `${lines.join("\n")}\ntrue` }, { line: "echo x > b; git add b" }],
  });
  seen = Object.fromEntries(
    first!.said
      .split(/^@@ /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part]),
  );
  seen["add"] = second!.said;
});

for (const name of Object.keys(works))
  test(`works confined: ${name}`, { skip }, () => assert.match(seen[name] ?? "", /^(WORKS|MISSING)$/m, seen[name]));

test("a command that is not known to be git finds the repository read-only, and says so", { skip }, () => {
  assert.match(seen["add"] ?? "", /Read-only file system/);
});
